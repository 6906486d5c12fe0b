#pragma once

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/memory/cuda.hpp"
#include "stowage_torch.hpp"
#include "support/cuda/load.hpp"

namespace stowage::torch {

/// The functions of a freshly loaded libstowage_torch.so with its own state. It stays loaded.
struct Library {
  explicit Library();

  void* handle;
  decltype(&stowage_torch_configure) configure;
  decltype(&stowage_torch_last_error) last_error;
  decltype(&stowage_torch_alloc) alloc;
  decltype(&stowage_torch_alloc_or_null) alloc_or_null;
  decltype(&stowage_torch_free) free;
  decltype(&stowage_torch_record_stream) record_stream;
  decltype(&stowage_torch_begin_pool) begin_pool;
  decltype(&stowage_torch_end_pool) end_pool;
  decltype(&stowage_torch_release_pool) release_pool;
  decltype(&stowage_torch_empty_cache) empty_cache;
  decltype(&stowage_torch_memory_fraction) memory_fraction;
  decltype(&stowage_torch_stats) stats_into;
  decltype(&stowage_torch_reset_peaks) reset_peaks;
  decltype(&stowage_torch_snapshot) snapshot;
  decltype(&stowage_torch_begin_iteration) begin_iteration;
  decltype(&stowage_torch_end_iteration) end_iteration;

  [[nodiscard]] std::string stats(int device = 0) const;
  /// The first number of that name in `stats`; -1 if there is none.
  [[nodiscard]] std::int64_t figure(const std::string& name, int device = 0) const;
};

/// Plays the part of torch: each test has its own streams on a fake driver, and its own copy of the library.
class TorchTest : public ::testing::Test {
 protected:
  TorchTest();
  ~TorchTest() override;

  static constexpr std::size_t kMiB = std::size_t{1} << 20;

  TorchStream stream(std::size_t number, int device = 0) { return owner(device).native(StreamId(number)).value(); }
  void configure(std::int64_t limit, int plan_ahead = 0, int checks = 1) const;
  /// Number of calls that would invalidate a capture, or make the graph depend on work outside it.
  [[nodiscard]] std::uint64_t forbidden_calls() const;

  memory::cuda::FakeDriver& driver_;
  Library lib_;

 private:
  CudaDevice& owner(int device);

  std::unique_ptr<CudaDevice> owners_[2];
};

}  // namespace stowage::torch
