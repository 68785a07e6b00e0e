/* Compiled to LLVM's code and run by lli: its own functions are lli's to show, the other one the agent's. */
#include <stdio.h>

#include "jitquill/jitquill.h"

static unsigned char announced_code[16];

__attribute__((noinline)) int inner(int n) {
  return puts("from inner") + n;
}

int main(void) {
  jitquill_code code = {0};
  code.struct_size = sizeof code;
  code.addr = announced_code;
  code.size = sizeof announced_code;
  code.name = "announced_to_the_agent";
  if (jitquill_code_loaded(&code, NULL) != JITQUILL_OK) return 3;
  return inner(1) < 0;
}
