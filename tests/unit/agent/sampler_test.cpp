// Records of perf events as a kernel writes them, whole and broken; what refusals are told as.
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cerrno>
#include <span>
#include <string>
#include <vector>

#include "agent/sampler/limits.hpp"
#include "agent/sampler/record.hpp"
#include "writer/bytes/bytes.hpp"

namespace jitquill::sampler {
namespace {

constexpr std::uint64_t kFirstRegister = 1000;

std::vector<std::uint8_t> sample(std::uint64_t stack_bytes, std::uint64_t readable) {
  Bytes body;
  body.u64(0x1234).u32(71).u32(72).u64(999).u64(5).u32(3).u32(0);
  body.u64(PERF_SAMPLE_REGS_ABI_64);
  for (std::uint64_t i = 0; i < stacks::Registers::kCount; ++i) body.u64(kFirstRegister + i);
  body.u64(stack_bytes);
  for (std::uint64_t i = 0; i < stack_bytes; ++i) body.u8(static_cast<std::uint8_t>(i));
  if (stack_bytes != 0) body.u64(readable);
  Bytes record;
  const auto size = static_cast<std::uint32_t>(sizeof(perf_event_header) + body.size());
  record.u32(PERF_RECORD_SAMPLE).u32(PERF_RECORD_MISC_USER | size << 16);
  for (const std::uint8_t byte : body.view()) record.u8(byte);
  return {record.view().begin(), record.view().end()};
}

TEST(SampleRecords, AreRead) {
  const auto bytes = sample(64, 48);
  const Record record = read_record(bytes, true);
  ASSERT_EQ(record.kind, RecordKind::kSample);
  EXPECT_EQ(record.ip, 0x1234u);
  EXPECT_EQ(record.pid, 71u);
  EXPECT_EQ(record.tid, 72u);
  EXPECT_EQ(record.when_ns, 999u);
  EXPECT_EQ(record.event, 5u);
  EXPECT_EQ(record.cpu, 3u);
  EXPECT_FALSE(record.is_kernel);
  ASSERT_TRUE(record.has_registers);
  // ax bx cx dx si di bp sp ip r8: the kernel's order
  EXPECT_EQ(record.registers.value[0], kFirstRegister);
  EXPECT_EQ(record.registers.value[stacks::Registers::kBx], kFirstRegister + 1);
  EXPECT_EQ(record.registers.sp(), kFirstRegister + 7);
  EXPECT_EQ(record.registers.pc(), kFirstRegister + 8);
  EXPECT_EQ(record.registers.value[stacks::Registers::kR15], kFirstRegister + 16);
  ASSERT_EQ(record.stack.size(), 48u);  // the rest could not be read
  EXPECT_EQ(record.stack[47], 47u);
  EXPECT_TRUE(read_record(sample(0, 0), true).stack.empty());
}

TEST(SampleRecords, ThatAreCutOrContradictThemselvesAreNone) {
  const auto whole = sample(64, 48);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(read_record(std::span(whole).first(size), true).kind, RecordKind::kOther) << size;
  EXPECT_TRUE(read_record(sample(64, 65), true).stack.empty());  // more than there is
}

std::string words(Refusal::Call call, int error) {
  Message line;
  put_cause({call, error}, {.hz = 5000, .stack_bytes = 8192}, line);
  return std::string(line.view());
}

TEST(SampleLimits, AreNamedWithACure) {
  using Call = Refusal::Call;
  EXPECT_NE(words(Call::kOpen, -EACCES).find("CAP_PERFMON"), std::string::npos);
  EXPECT_NE(words(Call::kOpen, -EINVAL).find("sample=5000"), std::string::npos);
  EXPECT_NE(words(Call::kOpen, -EINVAL).find("perf_event_max_sample_rate"), std::string::npos);
  EXPECT_NE(words(Call::kOpen, -EMFILE).find("ulimit -n"), std::string::npos);
  EXPECT_NE(words(Call::kOpen, -ENOSYS).find("no perf events"), std::string::npos);
  EXPECT_NE(words(Call::kMap, -EPERM).find("perf_event_mlock_kb"), std::string::npos);
  EXPECT_NE(words(Call::kMap, -EPERM).find("ulimit -l"), std::string::npos);
  EXPECT_NE(words(Call::kKeep, -ETOOMANYREFS).find("RLIMIT_NOFILE"), std::string::npos);
  EXPECT_NE(words(Call::kOpen, -EIO).find("Input/output error"), std::string::npos);
}

}  // namespace
}  // namespace jitquill::sampler
