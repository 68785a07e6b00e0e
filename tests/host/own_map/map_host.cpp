// A runtime that writes a perf map of its own. How it does that, and how it ends: the first argument. The
// second is a library that does it in its own way.
//
// Its map is taken away again by the test: it lies in /tmp, where such maps lie.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "jitquill/jitquill.h"

namespace {

constexpr std::size_t kSize = 64;
constexpr int kFunctions = 200;

class Code {
 public:
  explicit Code(int protection)
      : start_(static_cast<std::uint8_t*>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    for (int i = 0; i < kFunctions; ++i) std::memset(at(i), i, kSize);
    allow(protection);
  }
  std::uint8_t* at(int function) const { return start_ + static_cast<std::size_t>(function) * kSize; }
  void allow(int protection) const { mprotect(start_, kBytes, protection); }
  void allow_unseen(int protection) const { syscall(SYS_mprotect, start_, kBytes, protection); }

 private:
  static constexpr std::size_t kBytes = kFunctions * kSize;
  std::uint8_t* start_;
};

constexpr int kRunnable = PROT_READ | PROT_EXEC;

std::string map_name(pid_t pid) {
  return "/tmp/perf-" + std::to_string(pid) + ".map";
}

std::string line(const void* address, std::size_t size, const std::string& name) {
  char text[256];
  std::snprintf(text, sizeof text, "%lx %zx %s\n", reinterpret_cast<unsigned long>(address), size,
                name.c_str());
  return text;
}

std::string line_of(const Code& code, int function) {
  return line(code.at(function), kSize, "fn_" + std::to_string(function));
}

void put(int descriptor, const std::string& text) {
  if (write(descriptor, text.data(), text.size()) < 0) std::abort();
}

int open_map() {
  return open(map_name(getpid()).c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
}

void put_all(int descriptor, const Code& code) {
  for (int i = 0; i < kFunctions; ++i) put(descriptor, line_of(code, i));
}

// The stream's buffer would hold all of this.
void print_all(const Code& code) {
  std::FILE* const map = std::fopen(map_name(getpid()).c_str(), "w");
  for (int i = 0; i < kFunctions; ++i) std::fputs(line_of(code, i).c_str(), map);
}

void put_with_junk(int descriptor, const Code& code) {
  put(descriptor, "\nnonsense\n12\n12 \nzz 40 name\n0 40 null\n1000 0 empty\n1000 zz name\n");
  put(descriptor, "ffffffffffffff00 200 wraps\n1000 ffffffff large\n" + std::string(200'000, 'x') + "\n");
  put_all(descriptor, code);
  put(descriptor, "an unfinished line");
}

struct Threads {
  int count = 0;
  bool take_signals = false;  // one of them takes SIGUSR1
};

// Those that have our name.
Threads our_threads() {
  Threads found;
  DIR* const tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks)) {
    const std::string folder = std::string("/proc/self/task/") + entry->d_name;
    std::FILE* const status = std::fopen((folder + "/status").c_str(), "r");
    if (status == nullptr) continue;
    char text[256];
    bool is_ours = false;
    while (std::fgets(text, sizeof text, status) != nullptr) {
      if (std::strcmp(text, "Name:\tjitquill\n") == 0) is_ours = true;
      if (is_ours && std::strncmp(text, "SigBlk:", 7) == 0)
        found.take_signals |= (std::strtoull(text + 7, nullptr, 16) >> (SIGUSR1 - 1) & 1) == 0;
    }
    std::fclose(status);
    found.count += is_ours ? 1 : 0;
  }
  closedir(tasks);
  return found;
}

void wait_ms(int ms) {
  usleep(static_cast<unsigned>(ms) * 1000);
}

// A thread gives itself its name.
void print_threads() {
  Threads found;
  for (int i = 0; i < 20 && found.count == 0; ++i) {
    wait_ms(10);
    found = our_threads();
  }
  std::printf("threads %d %d\n", found.count, found.take_signals ? 1 : 0);
}

void be_forked(const Code& code) {
  put(open_map(), line_of(code, 0));
  wait_ms(50);
  const pid_t child = fork();
  if (child == 0) {
    put_all(open_map(), code);
    std::exit(0);
  }
  waitpid(child, nullptr, 0);
  std::printf("child %d\n", child);
}

void close_everything(const Code& code) {
  const int map = open_map();
  put(map, line_of(code, 0));
  wait_ms(50);
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    if (descriptor != map) close(descriptor);
  }
  for (int i = 0; i < 30; ++i) (void)open("/dev/null", O_RDONLY);
  put_all(map, code);
  wait_ms(100);
}

using WriteMap = void(const char* path, const char* text);

WriteMap* open_deep(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  return library == nullptr ? nullptr : reinterpret_cast<WriteMap*>(dlsym(library, "write_map"));
}

// As PHP's opcache: nothing that the library calls comes by us. The program itself goes on by opening a file.
void write_unseen(const char* library, const Code& code) {
  std::string text;
  for (int i = 0; i < kFunctions; ++i) text += line_of(code, i);
  WriteMap* const write_map = open_deep(library);
  if (write_map == nullptr) std::abort();
  std::fclose(std::fopen("/dev/null", "r"));  // when there is no map yet
  code.allow_unseen(kRunnable);
  write_map(map_name(getpid()).c_str(), text.c_str());
  std::fclose(std::fopen("/dev/null", "r"));
  print_threads();
}

// The map in /tmp is Jitquill's.
void announce(const char* library, const Code& code) {
  jitquill_code announced = {};
  announced.struct_size = sizeof announced;
  announced.addr = code.at(0);
  announced.size = kSize;
  announced.name = "announced";
  (void)jitquill_code_loaded(&announced, nullptr);
  if (open_deep(library) == nullptr || access(map_name(getpid()).c_str(), R_OK) != 0) std::abort();
  std::fclose(std::fopen("/dev/null", "r"));
  print_threads();
}

// What is never code, and what is some of a file.
void put_others(int descriptor) {
  static std::uint8_t data[kSize];
  put(descriptor, line(data, kSize, "data"));
  put(descriptor, line(reinterpret_cast<const void*>(&close_everything), 16, "of_a_file"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string how = argv[1];
  const Code code(how == "late" || how == "deep" ? PROT_READ : kRunnable);
  if (how == "stream_and_kill") {
    print_all(code);
    wait_ms(300);
    kill(getpid(), SIGKILL);
  }
  if (how == "at_once") {
    put_all(open_map(), code);
    _exit(0);
  }
  if (how == "junk") put_with_junk(open_map(), code);
  if (how == "others") put_others(open_map());
  if (how == "late") {
    put_all(open_map(), code);
    wait_ms(100);
    code.allow(kRunnable);
    wait_ms(100);
    code.allow(PROT_READ);
  }
  if (how == "threads") {
    put_all(open_map(), code);
    put_all(open_map(), code);
    print_threads();
  }
  if (how == "reader") {
    close(creat(map_name(getpid()).c_str(), 0600));
    std::fclose(std::fopen(map_name(getpid()).c_str(), "r"));
    close(open(map_name(getpid()).c_str(), O_RDONLY));
    print_threads();
  }
  if (how == "named") {
    put_all(open(std::getenv("ERL_SYM_MAP_FILE"), O_CREAT | O_RDWR, 0600), code);
    wait_ms(50);
  }
  if (how == "deep") write_unseen(argv[2], code);
  if (how == "ours") announce(argv[2], code);
  if (how == "fork") be_forked(code);
  if (how == "closes") close_everything(code);
  std::fflush(stdout);
  return 0;
}
