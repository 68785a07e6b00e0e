/* A runtime with trace points of its own, which follows its trace: trace_host FOLLOWED [THREADS]. What the
 * subscriber gets goes to the file FOLLOWED behind the header. What was refused is on stdout. C99. */
#include <jitquill/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCompile, kCompiled, kAll, kDone, kPoints };

#define POINT(type, level, name, text) \
  { sizeof(jitquill_trace_point), type, level, 0, name, text }
static const jitquill_trace_point points[kPoints] = {
    POINT(JITQUILL_TRACE_ENTRY, 3, "Compile", "compile(%.*s, level=%d)"),
    POINT(JITQUILL_TRACE_EXIT, 3, "Compiled", "compile, %u bytes at %p"),
    POINT(JITQUILL_TRACE_EVENT, 4, "All", "%lld %llu 0x%08x %zd %f %c '%s' '%.*s' 100%%"),
    POINT(JITQUILL_TRACE_EVENT, 9, "Done", "done"),
};

static FILE* followed;
static unsigned taken, lost, wrong;
static uint32_t myvm;

static void must(int holds, const char* what) {
  if (!holds) printf("wrong: %s\n", what);
}

static void take(const jitquill_trace_record* record, void* context) {
  static unsigned char header[65536];
  static const unsigned char code[16];
  size_t size = 0;
  jitquill_code load;
  memset(&load, 0, sizeof load);
  load.struct_size = sizeof load;
  load.addr = code;
  load.size = sizeof code;
  load.name = "from inside";
  if (jitquill_trace_metadata(header, sizeof header, &size) != JITQUILL_OK) ++wrong;
  if (jitquill_trace_subscribe(NULL, NULL) != JITQUILL_BUSY) ++wrong;
  if (jitquill_code_loaded(&load, NULL) != JITQUILL_BUSY || jitquill_stop() != JITQUILL_BUSY) ++wrong;
  if (context != &taken || record->struct_size < sizeof *record) ++wrong;
  if (record->bytes == NULL) {
    lost += (unsigned)(record->size / 8192);
    return;
  }
  if (taken++ == 0) fwrite(header, 1, size, followed);
  fwrite(record->bytes, 1, record->size, followed);
}

static jitquill_status post_all(const char* ascii, const char* text, size_t size) {
  const jitquill_trace_value values[] = {jitquill_trace_signed(-5),       jitquill_trace_unsigned(6),
                                         jitquill_trace_unsigned(0xBEEF), jitquill_trace_signed(-7),
                                         jitquill_trace_double(0.5),      jitquill_trace_signed('k'),
                                         jitquill_trace_text(ascii, 99),  jitquill_trace_text(text, size)};
  return jitquill_trace_post(myvm, kAll, values, 8);
}

static void* work(void* argument) {
  const int number = *(int*)argument;
  int i;
  for (i = 0; i < 1000; ++i) {
    char name[32];
    jitquill_trace_value entry[2], leave[2];
    sprintf(name, "m%d_%d", number, i);
    entry[0] = jitquill_trace_text(name, strlen(name));
    entry[1] = jitquill_trace_signed(i);
    leave[0] = jitquill_trace_unsigned(64);
    leave[1] = jitquill_trace_address((const void*)0x7f0000001000);
    must(jitquill_trace_post(myvm, kCompile, entry, 2) == JITQUILL_OK, "entry");
    must(jitquill_trace_post(myvm, kCompiled, leave, 2) == JITQUILL_OK, "exit");
  }
  return NULL;
}

static void refuse(const char* name, const char* point, const char* text, unsigned level) {
  const jitquill_trace_point bad[2] = {POINT(JITQUILL_TRACE_EVENT, 1, "Good", "good"),
                                       POINT(JITQUILL_TRACE_EVENT, (uint8_t)level, point, text)};
  const jitquill_trace_component_info info = {sizeof info, 2, name, bad};
  uint32_t number = 77;
  const char* why = NULL;
  must(jitquill_trace_component(&info, &number, &why) == JITQUILL_BAD_ARGUMENT && number == 0, "refused");
  printf("%s\n", why == NULL ? "nothing" : why);
}

static void try_what_cannot_be(void) {
  const jitquill_trace_value number = jitquill_trace_signed(1), text = jitquill_trace_text("x", 1);
  jitquill_trace_value two[3];
  refuse("jqm", "Name", "text", 1);
  refuse("my.vm", "Name", "text", 1);
  refuse("other", "Na me", "text", 1);
  refuse("other", "Name", "%08x", 1);
  refuse("other", "Name", "a\nb", 1);
  refuse("other", "Name", "text", 10);
  refuse("myvm", "Name", "text", 1);
  must(jitquill_trace_post(myvm, kPoints, NULL, 0) == JITQUILL_BAD_ARGUMENT, "no such point");
  must(jitquill_trace_post(myvm + 1, 0, NULL, 0) == JITQUILL_BAD_ARGUMENT, "no such component");
  must(jitquill_trace_post(0, 0, NULL, 0) == JITQUILL_BAD_ARGUMENT, "none");
  must(jitquill_trace_post(myvm, kCompile, &text, 1) == JITQUILL_BAD_ARGUMENT, "a value too few");
  two[0] = text, two[1] = number, two[2] = number;
  must(jitquill_trace_post(myvm, kCompile, two, 3) == JITQUILL_BAD_ARGUMENT, "a value too many");
  two[0] = number;
  must(jitquill_trace_post(myvm, kCompile, two, 2) == JITQUILL_BAD_ARGUMENT, "a number for a text");
  two[0] = text, two[1] = text;
  must(jitquill_trace_post(myvm, kCompile, two, 2) == JITQUILL_BAD_ARGUMENT, "a text for a number");
}

int main(int count, char** arguments) {
  const jitquill_trace_component_info info = {sizeof info, kPoints, "myvm", points};
  const int threads = count > 2 ? atoi(arguments[2]) : 2;
  static char longest[4000];
  pthread_t thread[16];
  int numbers[16], i;
  const char* why = "";
  uint32_t again = 0;
  size_t size = 0;
  if (count < 2 || threads > 16) return 2;
  if (jitquill_trace() == NULL) return puts("no agent") < 0;
  followed = fopen(arguments[1], "wb");
  must(jitquill_trace_subscribe(take, &taken) == JITQUILL_OK, "subscribe");
  must(jitquill_trace_subscribe(take, &taken) == JITQUILL_BUSY, "one subscriber");
  must(jitquill_trace_metadata(NULL, 0, &size) == JITQUILL_OFF, "no trace yet");
  must(jitquill_trace_component(&info, &myvm, &why) == JITQUILL_OK && why == NULL, "component");
  must(jitquill_trace_component(&info, &again, NULL) == JITQUILL_OK && again == myvm, "the same again");
  jitquill_start(NULL);
  must(jitquill_trace_component(&info, &again, NULL) == JITQUILL_OK && again == myvm, "with a trace, too");
  must(jitquill_trace_metadata(NULL, 0, &size) == JITQUILL_TOO_LARGE && size > 256, "the header's size");
  try_what_cannot_be();
  memset(longest, 'x', sizeof longest);
  must(post_all("abc", "\xC3\xA9\n", 3) == JITQUILL_OK, "each kind");
  must(post_all(NULL, longest, sizeof longest) == JITQUILL_TEXT_CUT, "a long text");
  must(post_all("", longest, 0) == JITQUILL_OK, "an empty text");
  for (i = 0; i < threads; ++i) {
    numbers[i] = i;
    pthread_create(&thread[i], NULL, work, &numbers[i]);
  }
  for (i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
  printf("done: %d\n", (int)jitquill_trace_post(myvm, kDone, NULL, 0));
  jitquill_stop();
  must(jitquill_trace_metadata(NULL, 0, &size) == JITQUILL_OFF, "no trace any more");
  must(jitquill_trace_subscribe(NULL, NULL) == JITQUILL_OK, "unsubscribe");
  must(taken != 0 && wrong == 0, "what the subscriber got");
  fclose(followed);
  return 0;
}
