/* Takes static thread-local storage, of which a process has little for what it opens late. */
__attribute__((tls_model("initial-exec"))) __thread char jitquill_test_block[64] = {1};

char* jitquill_test_address(void) {
  return jitquill_test_block;
}
