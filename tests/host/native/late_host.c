/* Opens a library whose functions are traced, calls it at once, and again when the agent has seen it. */
#include <dlfcn.h>
#include <unistd.h>

int main(int count, char** words) {
  void* const library = count > 1 ? dlopen(words[1], RTLD_NOW) : 0;
  int (*const entry)(int) = library != 0 ? (int (*)(int))dlsym(library, "late_entry") : 0;
  if (entry == 0) return 1;
  int sum = entry(1);
  usleep(200000);
  sum += entry(2);
  return sum == 5 + 8 ? 0 : 2;
}
