/* Knows nothing of Jitquill. Linked statically, where no library can be preloaded. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
  printf("plain\n");
  fflush(stdout);
  execl("/nonexistent", "nonexistent", (char*)0);
  _exit(7);
}
