// One pointer of an announcement cannot be read, and the fault handler leaves the call by siglongjmp().
// Arguments: which pointer. Then this thread, another one and a child announce as before.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

sigjmp_buf before_call;

void on_fault(int) {
  siglongjmp(before_call, 1);
}

// A text without an end: the page behind it cannot be read, nor can anything from there on.
const char* text_at_edge() {
  constexpr std::size_t kPage = 4096;
  void* memory = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(3);
  char* text = static_cast<char*>(memory);
  for (std::size_t i = 0; i < kPage; ++i) text[i] = 'n';
  mprotect(text + kPage, kPage, PROT_NONE);
  return text + kPage - 8;
}

struct Wrong {
  const char* text = text_at_edge();
  const void* nowhere = text + 8;
  jitquill_line line = {0, 1, 1, 0, text};
  jitquill_inline_position position = {-1, 1, 1, 1, 1, 0, text, nullptr};
  jitquill_inline_row row = {0, 0};

  void put(const std::string& where, jitquill_code& code) const {
    code.inline_positions = &position;
    code.inline_rows = &row;
    if (where == "bytes") code.bytes = nowhere;
    if (where == "name") code.name = text;
    if (where == "file") code.file = text;
    if (where == "lines") code.lines = static_cast<const jitquill_line*>(nowhere);
    if (where == "line_file") code.lines = &line, code.line_count = 1;
    if (where == "frame") code.frame = static_cast<const jitquill_frame_event*>(nowhere);
    if (where == "eh_frame") {
      code.unwinding = JITQUILL_UNWINDING_EH_FRAME;
      code.eh_frame = nowhere;
      code.eh_frame_size = 100;
    }
    if (where == "inline_rows") code.inline_rows = static_cast<const jitquill_inline_row*>(nowhere);
    if (where == "inline_positions")
      code.inline_positions = static_cast<const jitquill_inline_position*>(nowhere);
    if (where.starts_with("inline")) code.inline_position_count = code.inline_row_count = 1;
  }
};

// Whether the call was left by the handler.
bool jumps_out(const std::string& where, const Wrong& wrong, CodeMemory& memory) {
  pattern::Announcement announcement(1, memory.at(1));
  if (where.starts_with("moved")) {
    announcement.code().flags = JITQUILL_CODE_MAY_MOVE;
    announcement.announce();
  } else {
    wrong.put(where, announcement.code());
  }
  if (sigsetjmp(before_call, 1) != 0) return true;
  if (where.starts_with("moved")) {
    jitquill_code_moved(memory.at(1), wrong.nowhere, 0);
  } else {
    announcement.announce();
  }
  return false;
}

bool announces(CodeMemory& memory, std::uint32_t i) {
  return pattern::Announcement(i, memory.at(i)).announce() == JITQUILL_OK;
}

bool thread_announces(CodeMemory& memory) {
  bool announced = false;
  std::thread([&] { announced = announces(memory, 3); }).join();
  return announced;
}

// Forks take the leaf lock too.
bool forks() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

bool can_be_cancelled() {
  int state = 0;
  return pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state) == 0 && state == PTHREAD_CANCEL_ENABLE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  alarm(10);  // what would wait for ever ends
  const std::string where = argv[1];
  CodeMemory memory(8);
  const Wrong wrong;
  struct sigaction action = {};
  action.sa_handler = on_fault;
  sigaction(SIGSEGV, &action, nullptr);
  // With move=record the move of a process's first function is written as a load, which reads its bytes.
  const bool is_first = where == "moved_first";
  if (!is_first && !announces(memory, 0)) return 4;
  if (!jumps_out(where, wrong, memory)) return 5;
  if (!can_be_cancelled()) return 6;
  if (!announces(memory, 2) || !thread_announces(memory) || !forks()) return 7;
  return where == "moved" || announces(memory, 4) ? 0 : 8;  // always four in the dump
}
