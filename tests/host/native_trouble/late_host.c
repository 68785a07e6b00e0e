/* Nothing of it is traced, only what it opens: late_host TIMES deep|shared LIBRARY_A LIBRARY_B. Says how
 * often the two lay at one place. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* use(const char* library, char which, int flags) {
  char name[32];
  void* const handle = dlopen(library, flags);
  if (handle == NULL) exit(20);
  snprintf(name, sizeof name, "call_%c_first", which);
  double (*const first)(double) = (double (*)(double))dlsym(handle, name);
  snprintf(name, sizeof name, "call_%c_outer", which);
  int (*const outer)(int) = (int (*)(int))dlsym(handle, name);
  if (first(2.5) != 5 || outer(3) != 9) exit(21);
  if (dlclose(handle) != 0) exit(22);
  return (char*)outer;
}

int main(int count, char** words) {
  if (count != 5) return 2;
  const int flags = RTLD_NOW | (strcmp(words[2], "deep") == 0 ? RTLD_DEEPBIND : 0);
  int same = 0;
  for (int i = 0; i < atoi(words[1]); ++i) same += use(words[3], 'A', flags) == use(words[4], 'B', flags);
  printf("%d\n", same);
  return 0;
}
