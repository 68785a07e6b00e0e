#include "agent/cli/executable.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string_view>

namespace jitquill::cli {
namespace {

constexpr int kMostInterpreters = 4;  // as the kernel follows them

struct Descriptor {
  explicit Descriptor(const std::string& path) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int number;
};

bool is_executable_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

// What follows "#!"; empty if it is no script.
std::string interpreter_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (in.get() != '#' || in.get() != '!') return {};
  std::string word;
  in >> word;
  return word;
}

bool gives_rights(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  const bool is_setuid = (status.st_mode & S_ISUID) != 0 && status.st_uid != ::geteuid();
  const bool is_setgid = (status.st_mode & S_ISGID) != 0 && status.st_gid != ::getegid();
  const bool has_capabilities =
      ::geteuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  return is_setuid || is_setgid || has_capabilities;
}

// The loader that the program asks for; empty if none.
std::string loader_of(Elf* elf, int descriptor) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return {};
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_INTERP) continue;
    char name[256] = {};
    const ssize_t size = ::pread(descriptor, name, sizeof name - 1, static_cast<off_t>(header.p_offset));
    return size > 0 ? std::string(name) : "unknown";
  }
  return {};
}

std::string trouble_with_elf(const std::string& path) {
  (void)elf_version(EV_CURRENT);
  const Descriptor file(path);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(file.number, ELF_C_READ, nullptr), elf_end);
  GElf_Ehdr header;
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF || gelf_getehdr(elf.get(), &header) == nullptr)
    return {};
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
    return path + " is no 64-bit x86 program: its loader cannot use the library";
  const std::string loader = loader_of(elf.get(), file.number);
  if (loader.empty()) return path + " is linked statically: it has no loader that would preload anything";
  if (!loader.ends_with("/ld-linux-x86-64.so.2"))
    return "the loader of " + path + " is " + loader + ", not glibc's, which the library needs";
  return {};
}

}  // namespace

std::string find_executable(const std::string& command) {
  if (command.find('/') != std::string::npos) return command;
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
  for (bool is_last = false; !is_last;) {
    const std::size_t end = rest.find(':');
    is_last = end == rest.npos;
    const std::string folder(rest.substr(0, end));
    const std::string file = (folder.empty() ? "." : folder) + "/" + command;
    if (is_executable_file(file)) return file;
    if (!is_last) rest.remove_prefix(end + 1);
  }
  return {};
}

std::string trouble_with_preload(const std::string& path) {
  std::string program = path;
  for (int i = 0; i < kMostInterpreters; ++i) {
    const std::string interpreter = interpreter_of(program);
    if (interpreter.empty()) break;
    program = interpreter;
  }
  if (gives_rights(program))
    return program + " runs with more rights than its user: nothing of ours is preloaded or written there";
  return trouble_with_elf(program);
}

}  // namespace jitquill::cli
