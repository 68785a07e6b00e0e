#include "agent/unwinders/records.hpp"

#include <libunwind.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <new>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill::unwinders {
namespace {

// As libunwind's own struct table_entry.
struct Row {
  std::int32_t ip_offset;   // from the record's start_ip
  std::int32_t fde_offset;  // from the record's segbase
};

constexpr std::size_t kTables = 8;
constexpr std::size_t kRows = Section::kMaxFunctions;
constexpr Row kAboveAll = {std::numeric_limits<std::int32_t>::max(), 0};
static_assert(Section::kMaxWidth < static_cast<std::uint64_t>(kAboveAll.ip_offset));

template <class Word>
void publish_word(Word& word, std::uint64_t value) noexcept {
  std::atomic_ref<Word>(word).store(value, std::memory_order_release);
}

}  // namespace

class Record {
 public:
  static Record* make() noexcept {
    const long mapped =
        raw::map(sizeof(Record), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (raw::is_error(mapped)) return nullptr;
    auto* const record = new (reinterpret_cast<void*>(mapped)) Record;
    for (auto& table : record->tables_) std::fill(std::begin(table), std::end(table), kAboveAll);
    record->info_.format = UNW_INFO_FORMAT_IP_OFFSET;
    record->info_.u.rti.table_len = sizeof(Row) * kRows / sizeof(unw_word_t);
    return record;
  }
  unw_dyn_info_t* info() noexcept { return &info_; }

  // Covers nothing meanwhile.
  void base_on(const Section& section) noexcept {
    info_.start_ip = section.start;
    info_.u.rti.segbase = section.fde_base();
  }
  void show(Section& section) noexcept {
    Row* const rows = tables_[next_table_];
    std::size_t& used = used_rows_[next_table_];
    next_table_ = (next_table_ + 1) % kTables;
    std::size_t count = 0;
    for (const Function& function : section.functions()) {
      const auto fde = reinterpret_cast<std::uint64_t>(section.entry_of(function)) - section.fde_base();
      rows[count++] = {static_cast<std::int32_t>(function.address - section.start),
                       static_cast<std::int32_t>(fde)};
    }
    if (count < used) std::fill(rows + count, rows + used, kAboveAll);
    used = count;
    publish_word(info_.u.rti.table_data, reinterpret_cast<std::uint64_t>(rows));
    publish_word(info_.end_ip, section.published_end);
  }
  void cover_nothing() noexcept { publish_word(info_.end_ip, 0); }

  Record* next_free = nullptr;

 private:
  unw_dyn_info_t info_{};
  std::size_t next_table_ = 0;
  std::size_t used_rows_[kTables] = {};
  Row tables_[kTables][kRows];
};

Record* Records::take() noexcept {
  if (free_count_ > kRested) {
    Record* const record = oldest_free_;
    oldest_free_ = record->next_free;
    --free_count_;
    return record;
  }
  Record* const record = Record::make();
  if (record == nullptr) return nullptr;
  libunwind_.register_record(record->info());
  if (first_ == nullptr) first_ = record;
  return record;
}

bool Records::is_known() const noexcept {
  if (first_ == nullptr) return true;
  for (const unw_dyn_info_t* info = libunwind_.list()->first; info != nullptr; info = info->next) {
    if (info == first_->info()) return true;
  }
  return false;
}

void Records::give_back(Record& record) noexcept {
  record.cover_nothing();
  record.next_free = nullptr;
  (free_count_ == 0 ? oldest_free_ : newest_free_->next_free) = &record;
  newest_free_ = &record;
  ++free_count_;
}

bool Records::publish(Section& section) noexcept {
  if (!is_there()) return true;
  if (section.record == nullptr) return replace(section);
  section.record->show(section);
  flush();
  return true;
}

bool Records::replace(Section& section) noexcept {
  if (!is_there()) return true;
  Record* const old = section.record;
  Record* const record = take();
  if (record == nullptr) return false;
  record->base_on(section);
  record->show(section);
  section.record = record;
  if (old != nullptr) give_back(*old);
  flush();
  return true;
}

void Records::withdraw(Section& section) noexcept {
  if (section.record == nullptr) return;
  give_back(*section.record);
  section.record = nullptr;
  flush();
}

}  // namespace jitquill::unwinders
