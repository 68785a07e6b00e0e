#include "writer/oprofile/images.hpp"

#include <algorithm>

#include "writer/bytes/decimal.hpp"

namespace jitquill::oprofile {

Status Images::begin(std::uint32_t pid) noexcept {
  if (!taken_.grow_to(paths_.size(), 0)) return Status::kNoMemory;
  for (const Code& code : codes_.all()) taken_[code.path < taken_.size() ? code.path : kUnknown] = 1;
  jit_ = known(paths_.add(known(paths_.add(PathTable::kRoot, "jit")), Decimal(pid).view()));
  native_ = known(paths_.add(PathTable::kRoot, "native"));
  kernel_ = known(paths_.add(PathTable::kRoot, "kernel"));
  return Status::kOk;
}

std::uint32_t Images::known(const PathTable::Index& added) noexcept {
  if (added.status == Status::kOk) return added.index;
  ++lost_;
  return kUnknown;
}

// `number` tells it from others of its name.
std::uint32_t Images::own_path(std::uint32_t parent, std::string_view name, std::uint64_t number) noexcept {
  std::uint32_t index = known(paths_.add(parent, name));
  if (index != kUnknown && taken_[index] != 0) {
    Bytes text;
    text.raw(name).u8('~').raw(Decimal(number).view());
    index = known(paths_.add(parent, {reinterpret_cast<const char*>(text.view().data()), text.size()}));
  }
  if (index != kUnknown) taken_[index] = 1;
  return index;
}

std::uint32_t Images::module(const ModuleNews& news) noexcept {
  if (news.path.empty()) {
    for (Module& module : modules_.all()) {
      if (module.start == news.address) module.end = module.start;
    }
    return kUnknown;
  }
  const std::uint32_t path = known(paths_.add_path(news.path));
  (void)modules_.push({news.address, news.address + news.size, path});
  return path;
}

std::uint32_t Images::module_at(std::uint64_t address) const noexcept {
  for (std::size_t i = modules_.size(); i-- > 0;) {
    const Module& module = modules_[i];
    if (address >= module.start && address < module.end && module.path != kUnknown) return module.path;
  }
  return native_;
}

Images::Code* Images::find(std::uint64_t code_id) noexcept {
  const std::uint32_t number = code_numbers_.find(code_id);
  return number == NumberTable::kNone ? nullptr : &codes_[number];
}

bool Images::know(const Code& code) noexcept {
  const std::uint32_t number = code_numbers_.find(code.id);
  if (number != NumberTable::kNone) {
    codes_[number] = code;
    return true;
  }
  if (!codes_.push(code)) return false;
  if (code_numbers_.put(code.id, static_cast<std::uint32_t>(codes_.size() - 1))) return true;
  codes_.pop();
  return false;
}

Images::Code* Images::load(const CodeNews& news) noexcept {
  const std::uint32_t path = own_path(jit_, news.name, news.code_id);
  if (!know({news.code_id, news.address, news.size, next_offset_, path})) return nullptr;
  next_offset_ += news.size;
  return find(news.code_id);
}

bool Images::define(const FunctionInfo& function) noexcept {
  const Code* const code = function.code_id != 0 ? find(function.code_id) : nullptr;
  if (!functions_.grow_to(function.number + std::size_t{1}, kUnknown)) return false;
  std::uint32_t path = kUnknown;
  if (code != nullptr)
    path = code->path;
  else
    path = own_path(function.code_id != 0 ? jit_ : module_at(function.address), function.name,
                    function.code_id != 0 ? function.code_id : function.address);
  functions_[function.number] = path;
  return true;
}

void Images::put_from(std::size_t first, Bytes& state) noexcept {
  state.uleb128(next_offset_).uleb128(codes_.size() - first);
  for (std::size_t i = first; i < codes_.size(); ++i) {
    const Code& code = codes_[i];
    state.uleb128(code.id).uleb128(code.address).uleb128(code.size).uleb128(code.offset).uleb128(code.path);
  }
  put_ = codes_.size();
}

bool Images::apply(ByteSource& state) noexcept {
  next_offset_ = state.uleb128();
  const std::uint64_t count = state.uleb128();
  for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
    Code code;
    code.id = state.uleb128();
    code.address = state.uleb128();
    code.size = state.uleb128();
    code.offset = state.uleb128();
    code.path = static_cast<std::uint32_t>(state.uleb128(0xFFFFFFFF));
    if (state.failed() || !know(code)) return false;
  }
  put_ = codes_.size();
  return !state.failed();
}

}  // namespace jitquill::oprofile
