// Takes the place of libggml-base: a scheduler that calls an allocator, which prints its name.
#include <cstdio>

extern "C" bool ggml_gallocr_reserve_n(void*, void*, const int*, const int*) {
  static const char* volatile const name = "ggml_gallocr_reserve_n_impl";
  std::puts(name);
  return true;
}

extern "C" bool fake_scheduler() { return ggml_gallocr_reserve_n(nullptr, nullptr, nullptr, nullptr); }
