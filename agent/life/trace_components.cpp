#include "agent/life/trace_components.hpp"

#include <algorithm>

#include "agent/base/fixed_text.hpp"
#include "agent/base/text_line.hpp"
#include "agent/drain/run_file.hpp"
#include "writer/bytes/group_file.hpp"
#include "writer/sink/process_file.hpp"

namespace jitquill {

Status TraceComponents::add(TraceComponent* component, std::uint32_t& number, bool& is_new) noexcept {
  is_new = false;
  for (number = 0; number < kMost; ++number) {
    const TraceComponent* const other = at(number);
    if (other == nullptr) {
      choose(number, *component);
      components_[number].store(component, std::memory_order_release);
      is_new = true;
      return Status::kOk;
    }
    if (other->name() != component->name()) continue;
    const bool is_same = std::ranges::equal(other->dat(), component->dat());
    delete component;
    return is_same ? Status::kOk : Status::kBadArgument;
  }
  delete component;
  return Status::kFull;
}

void TraceComponents::choose(std::uint32_t number, const TraceComponent& component) noexcept {
  levels_[number].store(is_on_ ? selection_.level_of(component.name()) : TraceSelection::kOff,
                        std::memory_order_relaxed);
}

void TraceComponents::choose(const TraceSelection& selection, bool is_on) noexcept {
  selection_ = selection;
  is_on_ = is_on;
  for (std::uint32_t i = 0; i < kMost; ++i) {
    if (const TraceComponent* const component = at(i)) choose(i, *component);
  }
}

// Whole, or there is none.
Status TraceComponents::put_file(const TraceComponent& component, std::string_view command,
                                 Folder& folder) noexcept {
  Message words;
  words.text(".").text(component.name()).text(".dat");
  FixedText<TraceComponent::kMostName + 8> ending;
  (void)ending.set(words.view());
  const drain::FileName name = drain::file_name(command, ending.c_str());
  GroupFile file;
  Status status = make_file(folder, name.c_str(), file, nullptr);
  if (status != Status::kOk) return status;
  status = file.append(component.dat());
  file.close();
  if (!is_done(status)) folder.remove(name.c_str());
  return status;
}

Status TraceComponents::put_files(std::string_view command, Folder& folder) const noexcept {
  Status all = Status::kOk;
  for (std::uint32_t i = 0; i < kMost; ++i) {
    const TraceComponent* const component = at(i);
    const Status status = component == nullptr ? Status::kOk : put_file(*component, command, folder);
    if (status != Status::kOk) all = status;
  }
  return all;
}

void TraceComponents::forget() noexcept {
  for (auto& component : components_) component.store(nullptr, std::memory_order_release);
}

TraceComponents& trace_components() noexcept {
  static constinit TraceComponents all;
  return all;
}

}  // namespace jitquill
