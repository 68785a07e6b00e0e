#include "agent/intake/gdb/registered.hpp"

#include "agent/base/clock.hpp"
#include "agent/base/counters.hpp"
#include "agent/base/safe_copy.hpp"
#include "agent/intake/gdb/jit_interface.hpp"
#include "agent/intake/gdb/symfile_code.hpp"
#include "agent/intake/told.hpp"

namespace jitquill::gdb {
namespace {

using intake::Block;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

Block copy_symfile(const JitEntry& entry) noexcept {
  if (entry.symfile_size == 0 || entry.symfile_size > kMostBytes) return {};
  const std::span from(reinterpret_cast<const std::uint8_t*>(entry.symfile),
                       static_cast<std::size_t>(entry.symfile_size));
  Block copy(from.size());
  if (copy && !copy_whole(from, copy.data())) return {};
  return copy;
}

}  // namespace

// The newest first: they are the ones that end.
std::size_t Registered::place_of(const Pair& pair, std::uint64_t entry) const noexcept {
  const auto all = symfiles_.all();
  for (std::size_t i = all.size(); i-- > 0;) {
    if (all[i].entry == entry && all[i].descriptor == pair.descriptor) return i;
  }
  return all.size();
}

bool Registered::is_known(const Pair& pair, std::uint64_t entry) noexcept {
  const std::size_t at = place_of(pair, entry);
  if (at == symfiles_.size()) return false;
  const auto now = read_from_host<JitEntry>(entry);
  Symfile& known = symfiles_[at];
  known.walk = walk_;
  if (now && known.address == now->symfile && known.size == now->symfile_size) return true;
  end(at);  // its memory serves another by now
  return false;
}

void Registered::came(const Pair& pair, std::uint64_t entry) {
  tell_those_that_became_final();
  if (is_known(pair, entry)) return;
  const auto from = read_from_host<JitEntry>(entry);
  if (!from) return count(Counter::symfiles_refused);
  Symfile symfile{pair.descriptor, entry, from->symfile, from->symfile_size, walk_, false, 0, nullptr,
                  nullptr,         0};
  Block copy = copy_symfile(*from);
  if (!copy) {
    count(Counter::symfiles_refused);  // known, so that it is not counted at each walk
  } else if (SymfileCode(copy.view()).is_final()) {
    tell(symfile, copy.view());
  } else {
    count(Counter::symfiles_waited);
    ++waiting_;
    symfile.is_waiting = true;
    symfile.since_ns = monotonic_ns();
    (void)intake::open_outputs();  // for perf, nothing may be dated back to before its dump
    symfile.copy = copy.give_away();
  }
  if (symfiles_.push(symfile)) return;
  count(Counter::news_out_of_memory);
  intake::memory().free(symfile.functions);
  if (symfile.is_waiting) --waiting_;
  intake::memory().free(symfile.copy);
}

void Registered::tell(Symfile& symfile, std::span<const std::uint8_t> copy) {
  intake::Growing<std::uint64_t> addresses;
  const bool is_read = SymfileCode(copy).tell(addresses, symfile.since_ns);
  count(is_read ? Counter::symfiles_read : Counter::symfiles_refused);
  symfile.function_count = addresses.size();
  symfile.functions = addresses.give_away();
}

void Registered::became_final(std::uint64_t address, std::uint64_t size) {
  if (waiting() == 0) return;
  for (Symfile& symfile : symfiles_.all()) {
    if (!symfile.is_waiting) continue;
    const std::span<const std::uint8_t> copy(symfile.copy, static_cast<std::size_t>(symfile.size));
    if (SymfileCode(copy).has_code_in(address, size)) stop_waiting(symfile);
  }
}

void Registered::stop_waiting(Symfile& symfile) {
  symfile.is_waiting = false;
  --waiting_;
  tell(symfile, {symfile.copy, static_cast<std::size_t>(symfile.size)});
  intake::memory().free(std::exchange(symfile.copy, nullptr));
}

// Some are relocated by the next registration; others, which wait for code of another module, are not.
void Registered::tell_those_that_became_final() {
  if (waiting() == 0) return;
  for (Symfile& symfile : symfiles_.all()) {
    if (!symfile.is_waiting) continue;
    const std::span<const std::uint8_t> copy(symfile.copy, static_cast<std::size_t>(symfile.size));
    if (SymfileCode(copy).is_final()) stop_waiting(symfile);
  }
}

void Registered::tell_waiting() {
  for (Symfile& symfile : symfiles_.all()) {
    if (symfile.is_waiting) stop_waiting(symfile);
  }
}

void Registered::went(const Pair& pair, std::uint64_t entry) {
  const std::size_t at = place_of(pair, entry);
  if (at != symfiles_.size()) end(at);
}

void Registered::end(std::size_t at) {
  Symfile& symfile = symfiles_[at];
  if (symfile.is_waiting) stop_waiting(symfile);  // it ran, or it did not: its bytes are there
  for (std::size_t i = 0; i < symfile.function_count; ++i) (void)intake::tell_unload(symfile.functions[i]);
  intake::memory().free(symfile.functions);
  symfiles_.erase(at);
}

void Registered::walk(const Pair& pair) {
  const auto descriptor = read_from_host<JitDescriptor>(pair.descriptor);
  if (!descriptor || descriptor->version != 1) return;
  ++walk_;
  for_each_entry(descriptor->first, [&](std::uint64_t entry) { came(pair, entry); });
  for (std::size_t i = symfiles_.size(); i-- > 0;) {
    if (symfiles_[i].descriptor == pair.descriptor && symfiles_[i].walk != walk_) end(i);
  }
}

}  // namespace jitquill::gdb
