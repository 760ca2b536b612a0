// What every program built with a sanitizer asks of it. The functions' names
// are the sanitizers' own; a variable of the environment (ASAN_OPTIONS, ...)
// adds to what they return.
extern "C" {

const char* __asan_default_options() {
  return "detect_odr_violation=0:check_initialization_order=1:"
         "strict_init_order=1:"
         "external_symbolizer_path=/usr/bin/llvm-symbolizer-19";
}

const char* __ubsan_default_options() { return "print_stacktrace=1"; }

const char* __lsan_default_suppressions() { return ""; }

const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1:second_deadlock_stack=1:"
         "external_symbolizer_path=/usr/bin/llvm-symbolizer-19";
}

const char* __tsan_default_suppressions() { return ""; }

}  // extern "C"
