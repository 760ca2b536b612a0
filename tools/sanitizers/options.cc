// What every program built with a sanitizer asks of it. The functions' names
// are the sanitizers' own; a variable of the environment (ASAN_OPTIONS, ...)
// adds to what they return. README.md has the commands.
extern "C" {

// No global is used before its initialisation, also across files.
const char* __asan_default_options() {
  return "check_initialization_order=1:strict_init_order=1:"
         "external_symbolizer_path=/usr/bin/llvm-symbolizer-19";
}

const char* __ubsan_default_options() { return "print_stacktrace=1"; }

const char* __lsan_default_suppressions() { return ""; }

// libtorch with its gloo, libgomp and libstdc++ are not instrumented: tsan does
// not see how their atomics order accesses, so what they read and write (also
// through memcpy and the like) is not judged. Their mutexes, conditions and
// threads are seen. Of a deadlock, the stacks of both mutexes are shown.
const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1:second_deadlock_stack=1:"
         "external_symbolizer_path=/usr/bin/llvm-symbolizer-19";
}

const char* __tsan_default_suppressions() { return ""; }

}  // extern "C"
