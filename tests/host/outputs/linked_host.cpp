// Announces a function, starts the agent by hand, and announces again. Prints the three statuses.
#include <cstdint>
#include <cstdio>

#include <jitquill/jitquill.h>

namespace {

jitquill_status announce() {
  static std::uint8_t bytes[16] = {0xC3};
  jitquill_code code = {};
  code.struct_size = sizeof code;
  code.addr = bytes;
  code.size = sizeof bytes;
  code.name = "linked";
  return jitquill_code_loaded(&code, nullptr);
}

}  // namespace

int main() {
  const jitquill_status first = announce();
  const jitquill_status started = jitquill_start(nullptr);
  std::printf("%d %d %d\n", first, started, announce());
  return 0;
}
