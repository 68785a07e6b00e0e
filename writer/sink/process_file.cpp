#include "writer/sink/process_file.hpp"

#include <cerrno>

#include "writer/bytes/decimal.hpp"

namespace jitquill {

ProcessFileName::ProcessFileName(std::string_view stem, std::uint32_t pid, std::string_view ending) noexcept {
  const std::size_t stem_size = stem.copy(text_, kMostWords);
  char* const digits = text_ + stem_size;
  const Decimal number(pid);
  char* const end = digits + number.view().copy(digits, kMostDigits);
  end[ending.copy(end, kMostWords - stem_size)] = '\0';
}

Status make_file(Folder& folder, const char* name, GroupFile& file, Budget* budget) noexcept {
  const int descriptor = folder.create(name);
  if (descriptor < 0)
    return descriptor == -ENOSPC || descriptor == -EDQUOT ? Status::kNoSpace : Status::kNoOutput;
  file.adopt(descriptor, budget);
  return Status::kOk;
}

}  // namespace jitquill
