// The `demo-jit` command: compiles a nib program and runs it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "nib/executable.hpp"
#include "nib/runtime.hpp"
#include "nib/source.hpp"
#include "nib/telling.hpp"

namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

void say(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
}

void write_out(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

constexpr unsigned kMibShift = 20;

struct RunOptions {
  bool wants_time = false;
  nib::CompileOptions compile;
  nib::HeapOptions heap;
  std::size_t heap_mib = heap.limit >> kMibShift;
  std::size_t workers = std::max(std::thread::hardware_concurrency(), 1u);
};

// The places that made most, first.
void say_allocations(const nib::Source& source, const nib::Executable& executable) {
  std::vector<const nib::FaultSite*> sites;
  for (const auto& [place, each] : executable.sites())
    if (each.made_objects > 0) sites.push_back(&each);
  std::sort(sites.begin(), sites.end(),
            [](const auto* a, const auto* b) { return a->made_bytes > b->made_bytes; });
  std::uint32_t number = 0;
  for (const nib::FaultSite* each : sites) {
    const std::string place =
        std::string(each->function) + " (" + source.name + ":" + std::to_string(each->at.line) + ")";
    say("allocated: " + std::to_string(each->made_bytes) + " bytes, " + std::to_string(each->made_objects) +
        " objects at " + place);
    nib::tell_allocated(++number, place, each->made_objects, each->made_bytes);
  }
}

int run_program(const nib::Source& source, const RunOptions& options) {
  nib::Diagnostics diagnostics;
  const auto executable = nib::compile(source, diagnostics, options.compile);
  for (const nib::Diagnostic& each : diagnostics.sorted()) say(nib::to_line(source, each));
  if (executable == nullptr) return kFailed;
  const nib::RunResult result =
      nib::run(executable->main(), write_out, &executable->code_table(), options.heap, options.workers);
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!is_written) say("demo-jit: cannot write the output: " + std::string(std::strerror(errno)));
  if (options.wants_time) {
    say("jitted call: " + std::to_string(result.start_ns) + " " + std::to_string(result.end_ns));
  }
  if (result.error) {
    say(nib::to_line(source, *result.error));
    for (const std::string& line : nib::to_lines(source, result.trace)) say(line);
  }
  if (const std::size_t limit = executable->code_limit(); limit != options.compile.code_limit)
    say("demo-jit: a code limit of " + std::to_string(options.compile.code_limit) +
        " bytes is too small for this program: it grew to " + std::to_string(limit));
  if (options.heap.counts_sites) say_allocations(source, *executable);
  return is_written && !result.error ? 0 : kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App command("Compiles a nib program to machine code and runs it.", "demo-jit");
  std::string path;
  RunOptions options;
  command.add_option("file", path, "the program (.nib)")->required();
  command.add_option("--heap", options.heap_mib, "MiB that the program's objects may take")
      ->check(CLI::Range(1, 1 << kMibShift))
      ->capture_default_str();
  const std::map<std::string, nib::SitePolicy> policies = {{"always", nib::SitePolicy::kAlways},
                                                           {"wanted", nib::SitePolicy::kWhenWanted},
                                                           {"never", nib::SitePolicy::kNever}};
  command
      .add_option("--sites", options.compile.sites,
                  "which functions can be traced: always, never, or those compiled while calls are wanted")
      ->transform(CLI::CheckedTransformer(policies))
      ->option_text("always|wanted|never [wanted]");
  command.add_flag("--gc-stress", options.heap.is_stressed, "collect at every allocation");
  command.add_flag("--allocations", options.heap.counts_sites,
                   "write to stderr how much was allocated where");
  command
      .add_option("--workers", options.workers, "threads that run what 'par' makes, that of main included")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_flag("--time", options.wants_time,
                   "write 'jitted call: START END' to stderr, CLOCK_MONOTONIC in nanoseconds");
  command
      .add_option("--code-limit", options.compile.code_limit,
                  "bytes of machine code; what is cold is unloaded, and compiled again when it is called")
      ->transform(CLI::AsSizeValue(false));
  const auto force = [&options](nib::Tiers tiers) {
    return [&options, tiers](std::int64_t) { options.compile.tiers = tiers; };
  };
  CLI::Option* const first =
      command.add_flag_function("--tier1", force(nib::Tiers::kFirst), "the first tier of code only");
  command.add_flag_function("--tier2", force(nib::Tiers::kSecond), "the second tier at once")
      ->excludes(first);
  command
      .add_option("--hot", options.compile.hot, "calls and loop turns of a function before the second tier")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  try {
    command.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return command.exit(error) == 0 ? 0 : kUsage;
  }
  options.heap.limit = options.heap_mib << kMibShift;
  options.compile.counts_sites = options.heap.counts_sites;
  const auto source = nib::read_source(path);
  if (!source) {
    say("demo-jit: cannot read '" + path + "': " + std::strerror(errno));
    return kUsage;
  }
  return run_program(*source, options);
}
