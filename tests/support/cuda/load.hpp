#pragma once

#include <dlfcn.h>

#include "stowage/base.hpp"
#include "support/cuda/fake.hpp"

namespace stowage::memory::cuda {

/// The fake driver's library, which is also what the tests' devices load.
inline FakeDriver& fake_driver() {
  static FakeDriver& driver = [&]() -> FakeDriver& {
    void* const library = dlopen(STOWAGE_TEST_CUDA, RTLD_NOW | RTLD_LOCAL);
    STOWAGE_CHECK(library != nullptr, "the fake driver cannot be loaded");
    return *reinterpret_cast<GetFakeDriver>(dlsym(library, kFakeSymbol))();
  }();
  return driver;
}

}  // namespace stowage::memory::cuda
