/* A runtime of the smallest kind: announces 3 bytes and says what came of it. */
#include <jitquill/events.h>
#include <stdio.h>
#include <string.h>

static const unsigned char g_code[3] = {0x31, 0xC0, 0xC3}; /* xor eax, eax; ret */

int main(void) {
  jitquill_code code;
  jitquill_status status;
  const char* text;
  uint64_t id = 99;
  memset(&code, 0, sizeof code);
  code.struct_size = (uint32_t)sizeof code;
  code.addr = g_code;
  code.size = sizeof g_code;
  code.name = "zero";
  code.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
  code.room = jitquill_unwinding_size(&code);
  status = jitquill_code_loaded(&code, &id);
  text = jitquill_status_text(status);
  printf("wants %d room %d status %d id %d text %s unloaded %d again %d events %d %d\n",
         jitquill_wants_code(), code.room != 0, (int)status, (int)id, text == NULL ? "-" : text,
         (int)jitquill_code_unloaded(g_code), (int)jitquill_code_unloaded(g_code), jitquill_wants_events(),
         (int)jitquill_marker("announced"));
  return 0;
}
