// No static object of the library is destroyed: others' destructors, and threads of the host's, call it until
// the process is gone. The compiler registers destructors where a static object has one; here, hidden from
// the host by the version script, is what it registers them with.

extern "C" int __cxa_atexit(void (*)(void*), void*, void*) {
  return 0;
}
