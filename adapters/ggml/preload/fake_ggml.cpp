// Stands for a libggml-base: a scheduler that calls an allocator which says its name when it is called.
#include <cstdio>

extern "C" bool ggml_gallocr_reserve_n(void*, void*, const int*, const int*) {
  static const char* volatile const name = "ggml_gallocr_reserve_n_impl";
  std::puts(name);
  return true;
}

extern "C" bool fake_scheduler() { return ggml_gallocr_reserve_n(nullptr, nullptr, nullptr, nullptr); }
