#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/allocator.hpp"

/// What every allocator must do, whatever it is and whatever wraps it. One line makes an allocator go through all of
/// it:
///
///     INSTANTIATE_TEST_SUITE_P(Caching, AllocatorContract, ::testing::Values(
///         on_cpu<CachingAllocator>("cpu", CachingOptions{}), on_sim<CachingAllocator>("sim", {}, CachingOptions{})),
///         kind_name);
namespace stowage::runtime {

/// An allocator and all that it stands on.
struct Subject {
  std::shared_ptr<void> below = {};  ///< Outlives the allocator.
  std::shared_ptr<Allocator> allocator;
  Device* device = &cpu_device();  ///< Through which the content is written and read.
};

struct AllocatorKind {
  std::string name;
  std::function<Subject()> make;
  std::size_t streams = 1;     ///< How many to use.
  bool exact_peaks = true;     ///< False: peaks of what is requested are lower bounds.
  bool exact_snapshot = true;  ///< False: a snapshot may show requests rounded up.
};

inline std::string kind_name(const ::testing::TestParamInfo<AllocatorKind>& kind) { return kind.param.name; }
inline void PrintTo(const AllocatorKind& kind, std::ostream* out) { *out << kind.name; }

/// An allocator that is made of a device and options.
template <class A, class Options>
AllocatorKind on_cpu(std::string name, Options options, std::size_t streams = 1) {
  return {std::move(name), [options] { return Subject{{}, std::make_shared<A>(cpu_device(), options)}; }, streams};
}
template <class A, class Options>
AllocatorKind on_sim(std::string name, SimOptions sim, Options options, std::size_t streams = 1) {
  return {std::move(name),
          [sim, options] {
            const std::shared_ptr<SimDevice> device = SimDevice::make(sim);
            return Subject{device, std::make_shared<A>(*device, options), device.get()};
          },
          streams};
}

/// One whose figures are exact only at some moments, as `StreamAllocator`'s are.
inline AllocatorKind sampled(AllocatorKind kind) {
  kind.exact_peaks = false;
  kind.exact_snapshot = false;
  return kind;
}

class AllocatorContract : public ::testing::TestWithParam<AllocatorKind> {
 protected:
  void TearDown() override {
    subject_.allocator.reset();
    subject_.below.reset();
  }

  [[nodiscard]] Allocator& allocator() { return *subject_.allocator; }
  [[nodiscard]] Device& device() { return *subject_.device; }

 private:
  Subject subject_ = GetParam().make();
};

}  // namespace stowage::runtime
