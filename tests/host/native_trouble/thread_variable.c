/* A library with a variable of each thread: the more of them are open, the more a new thread has to allocate.
 */
_Thread_local int thread_variable[100];
