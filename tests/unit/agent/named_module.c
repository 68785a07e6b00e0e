/* A library with names that it does not export, in two builds of one layout (OTHER). */
__attribute__((noinline)) static int hidden_function(int value) {
  return value + 1;
}
static int hidden_variable = 7;

__attribute__((visibility("default"))) void* where_hidden(int which) {
  hidden_variable += hidden_function(which);
  return which == 0 ? (void*)&hidden_function : (void*)&hidden_variable;
}

#ifdef OTHER
const char other[] __attribute__((used)) = "a";
#else
const char other[] __attribute__((used)) = "b";
#endif
