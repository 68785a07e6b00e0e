/* All registers across each name that compilers call, at sites as compilers make them but with every register
 * full: general ones, vector registers in their whole width, masks, the x87 stack, its control word and
 * MXCSR. In fresh threads first, and until lanes have rolled over in each way. errno too. */
#include <cpuid.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "tests/host/native/subjects/subject.h"

enum { kAreaSize = 4096, kStates = 0xe7 };
enum { kRax, kRcx, kRdx, kRbx, kRsp, kRbp, kRsi, kRdi, kR8 };

struct registers {
  uint64_t general[16];
  unsigned char vectors[kAreaSize] __attribute__((aligned(64))); /* as XSAVE has them */
};
_Static_assert(sizeof(struct registers) == 128 + kAreaSize && 128 % 64 == 0,
               "registers.c's assembly counts on it");

/* One thread at a time. */
struct registers regs_given __attribute__((aligned(64))), regs_inside __attribute__((aligned(64))),
    regs_after __attribute__((aligned(64)));
uint64_t regs_own[8], regs_states, regs_odd;

/* What stands for the compiled function: WAY's sites around a look at the registers. */
#define SITE(name) " call *" name "@GOTPCREL(%rip)\n"
#if defined(WAY_pg)
#define ENTERS " push %rbp\n mov %rsp, %rbp\n" SITE("mcount")
#define LEAVES " pop %rbp\n"
#elif defined(WAY_fentry)
#define ENTERS SITE("__fentry__")
#define LEAVES ""
#elif defined(WAY_return)
#define ENTERS SITE("__fentry__")
#define LEAVES SITE("__return__")
#else
#define ENTERS ""
#define LEAVES ""
#endif

#define ALL_GENERAL(do)                                                                                   \
  do                                                                                                      \
  ("rax", "0") do("rcx", "8") do("rdx", "16") do("rbx", "24") do("rbp", "40") do("rsi", "48") do(         \
      "rdi", "56") do("r8", "64") do("r9", "72") do("r10",                                                \
                                                    "80") do("r11",                                       \
                                                             "88") do("r12",                              \
                                                                      "96") do("r13",                     \
                                                                               "104") do("r14",           \
                                                                                         "112") do("r15", \
                                                                                                   "120")
#define LOAD(name, at) " mov regs_given+" at "(%rip), %" name "\n"
#define TO_INSIDE(name, at) " mov %" name ", regs_inside+" at "(%rip)\n"
#define FROM_INSIDE(name, at) " mov regs_inside+" at "(%rip), %" name "\n"
#define TO_AFTER(name, at) " mov %" name ", regs_after+" at "(%rip)\n"
#define STATES " mov regs_states(%rip), %eax\n xor %edx, %edx\n"

void regs_run(void);
__asm__(
    ".text\n.type call_probe, @function\n.p2align 4\ncall_probe:\n" ENTERS ALL_GENERAL(TO_INSIDE) STATES
    " xsave64 regs_inside+128(%rip)\n" ALL_GENERAL(FROM_INSIDE) LEAVES
    " ret\n"
    ".size call_probe, . - call_probe\n"
    ".globl regs_run\n.type regs_run, @function\nregs_run:\n"
    " mov %rbx, regs_own(%rip)\n mov %rbp, regs_own+8(%rip)\n mov %r12, regs_own+16(%rip)\n"
    " mov %r13, regs_own+24(%rip)\n mov %r14, regs_own+32(%rip)\n mov %r15, regs_own+40(%rip)\n"
    " mov %rsp, regs_own+48(%rip)\n sub regs_odd(%rip), %rsp\n" STATES
    " xrstor64 regs_given+128(%rip)\n" ALL_GENERAL(LOAD) " call call_probe\n" ALL_GENERAL(
        TO_AFTER) " mov %rsp, regs_after+32(%rip)\n" STATES
                  " xsave64 regs_after+128(%rip)\n cld\n fninit\n"
                  " mov regs_own(%rip), %rbx\n mov regs_own+8(%rip), %rbp\n mov regs_own+16(%rip), %r12\n"
                  " mov regs_own+24(%rip), %r13\n mov regs_own+32(%rip), %r14\n mov regs_own+40(%rip), %r15\n"
                  " mov regs_own+48(%rip), %rsp\n ldmxcsr regs_default_mxcsr(%rip)\n vzeroupper\n ret\n"
                  ".size regs_run, . - regs_run\n");
const uint32_t regs_default_mxcsr = 0x1f80;

enum { kLegacyControl = 0, kFrom = 32, kLegacyEnd = 416, kHeaderAt = 512, kStatesAt = 576 };

/* Of each state that the CPU has beside the first two; asked once, since a virtual machine's CPUID takes its
 * time. */
static unsigned state_size[8], state_at[8];
UNTRACED static void find_states(void) {
  for (unsigned state = 2; state < 8; ++state) {
    unsigned unused1, unused2;
    if ((regs_states >> state & 1) == 0) continue;
    __cpuid_count(0x0d, state, state_size[state], state_at[state], unused1, unused2);
    EXPECT(state_at[state] + state_size[state] <= kAreaSize);
  }
}

UNTRACED static void fill(unsigned seed) {
  memset(&regs_given, 0, sizeof regs_given);
  unsigned char* const bytes = (unsigned char*)&regs_given;
  for (size_t i = 0; i < sizeof regs_given; ++i)
    bytes[i] = (unsigned char)((i + 1) * 167 + seed * 29 + (i >> 5));
  memset(regs_given.vectors, 0, kFrom);
  const uint16_t control = 0x0f7f; /* towards zero, extended, nothing raised */
  memcpy(regs_given.vectors, &control, sizeof control);
  regs_given.vectors[4] = 0xff;  /* eight numbers on the x87 stack */
  const uint32_t mxcsr = 0x7fbf; /* towards zero, flags raised, nothing unmasked */
  memcpy(regs_given.vectors + 24, &mxcsr, sizeof mxcsr);
  for (int i = 0; i < 8; ++i) memset(regs_given.vectors + kFrom + 16 * i + 10, 0, 6);
  memset(regs_given.vectors + kLegacyEnd, 0, kStatesAt - kLegacyEnd);
  memcpy(regs_given.vectors + kHeaderAt, &regs_states, sizeof regs_states);
}

/* Between two areas: whether all that is saved is equal, but where the last x87 instruction was. */
UNTRACED static int same_vectors(const struct registers* a) {
  const unsigned char *given = regs_given.vectors, *found = a->vectors;
  if (memcmp(given, found, 6) != 0 || memcmp(given + 24, found + 24, 4) != 0) return 0;
  if (memcmp(given + kFrom, found + kFrom, kLegacyEnd - kFrom) != 0) return 0;
  for (unsigned state = 2; state < 8; ++state)
    if (memcmp(given + state_at[state], found + state_at[state], state_size[state]) != 0) return 0;
  return 1;
}

UNTRACED static void expect_general(const struct registers* found, unsigned without) {
  for (unsigned i = 0; i < 16; ++i)
    if ((without >> i & 1) == 0) EXPECT(found->general[i] == regs_given.general[i]);
}

UNTRACED static void run_once(unsigned seed) {
  fill(seed);
  regs_odd = seed % 2 * 8;
  errno = 77;
  regs_run();
  EXPECT(errno == 77);
  const unsigned rsp = 1u << kRsp, rbp = 1u << kRbp, r10 = 1u << 10, r11 = 1u << 11;
  EXPECT(same_vectors(&regs_inside) && same_vectors(&regs_after));
#ifdef WAY_pg
  expect_general(&regs_inside, rsp | rbp);
  expect_general(&regs_after, rsp | r10 | r11);
#else
  expect_general(&regs_inside, rsp);
  expect_general(&regs_after, rsp | r10 | r11);
  (void)rbp;
#endif
  EXPECT(regs_after.general[kRsp] == regs_own[6] - regs_odd);
}

UNTRACED static void* run(void* rounds) {
  for (unsigned i = 0; i < (uintptr_t)rounds; ++i) run_once(i);
  return NULL;
}

UNTRACED int main(int argc, char** argv) {
  unsigned a, b, c, d;
  __cpuid(1, a, b, c, d);
  if ((c & bit_OSXSAVE) == 0) {
    printf("skipped the CPU has no XSAVE\n");
    return 0;
  }
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  regs_states = low & kStates;
  if ((regs_states & 0xe0) == 0) printf("skipped the CPU has no AVX-512\n");
  find_states();
  const unsigned threads = 10 * scale(argc, argv);
  for (unsigned i = 0; i < threads; ++i) {
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, run, (void*)(uintptr_t)(2 + i % 2)) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
  }
  run((void*)(uintptr_t)(15000 * scale(argc, argv)));
  return 0;
}
