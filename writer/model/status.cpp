#include "writer/model/status.hpp"

namespace jitquill {

const char* text(Status s) noexcept {
  switch (s) {
#define STATUS(name, NAME, number, words) \
  case Status::name:                      \
    return words;
#include "writer/model/status.def"
#undef STATUS
  }
  return "unknown status";
}

}  // namespace jitquill
