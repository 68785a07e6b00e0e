#include "agent/sampler/record.hpp"

#include <linux/perf_event.h>

#include <cstring>

#include "agent/sampler/event.hpp"
#include "writer/bytes/byte_source.hpp"

namespace jitquill::sampler {
namespace {

constexpr std::uint64_t kNoRegisters = PERF_SAMPLE_REGS_ABI_NONE;

// The kernel's order is by its own numbers.
void read_registers(ByteSource& source, stacks::Registers& registers) noexcept {
  for (const KernelRegister& one : kRegisters) registers.value[one.dwarf] = source.u64();
}

void read_stack(ByteSource& source, Record& record) noexcept {
  const std::uint64_t size = source.u64();
  if (size == 0) return;
  const auto bytes = source.raw(size);
  const std::uint64_t readable = source.u64();
  if (!source.failed() && readable <= size) record.stack = bytes.first(readable);
}

Record read_sample(ByteSource& source, std::uint16_t misc, bool has_stack) noexcept {
  Record record;
  record.ip = source.u64();
  record.pid = source.u32();
  record.tid = source.u32();
  record.when_ns = source.u64();
  record.event = source.u64();
  record.cpu = source.u32();
  (void)source.u32();
  record.has_registers = source.u64() != kNoRegisters;
  if (record.has_registers) read_registers(source, record.registers);
  if (has_stack) read_stack(source, record);
  record.is_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER;
  record.kind = source.failed() ? RecordKind::kOther : RecordKind::kSample;
  return record;
}

Record read_lost(ByteSource& source) noexcept {
  Record record;
  (void)source.u64();
  record.lost = source.u64();
  record.kind = source.failed() ? RecordKind::kOther : RecordKind::kLost;
  return record;
}

// | pid u32 | parent's u32 | tid u32 | parent's u32 | time u64 |
Record read_thread(ByteSource& source) noexcept {
  Record record;
  record.pid = source.u32();
  (void)source.u32();
  record.tid = source.u32();
  (void)source.u32();
  record.when_ns = source.u64();
  record.kind = source.failed() ? RecordKind::kOther : RecordKind::kThread;
  return record;
}

}  // namespace

Record read_record(std::span<const std::uint8_t> bytes, bool has_stack) noexcept {
  perf_event_header header;
  if (bytes.size() < sizeof header) return {};
  std::memcpy(&header, bytes.data(), sizeof header);
  ByteSource source(bytes.subspan(sizeof header));
  switch (header.type) {
    case PERF_RECORD_SAMPLE:
      return read_sample(source, header.misc, has_stack);
    case PERF_RECORD_LOST:
      return read_lost(source);
    case PERF_RECORD_FORK:
      return read_thread(source);
    default:
      return {};
  }
}

}  // namespace jitquill::sampler
