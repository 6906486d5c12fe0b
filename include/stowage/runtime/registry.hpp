#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "stowage/memory.hpp"
#include "stowage/runtime/allocator.hpp"
#include "stowage/runtime/trace.hpp"

/// Allocators by name, for the command line, benchmarks, and tests that are to hold for all of them.
namespace stowage {

struct AllocatorOptions {
  const Trace* expected = nullptr;  ///< What will be asked for, for allocators that plan ahead; may be null.
};

struct AllocatorInfo {
  using Make = Result<std::unique_ptr<Allocator>> (*)(Device& device, const AllocatorOptions& options);

  std::string_view name;
  std::string_view summary;  ///< A few words for people.
  Make make;                 ///< The device, and what the options point to, must outlive the allocator.
  bool any_stream = true;    ///< False: it serves stream 0 only.
};

/// All there are; the first is the default.
[[nodiscard]] std::span<const AllocatorInfo> allocators();

/// Fails with `ErrorCode::unknown_name`, listing the names, or as the allocator does that the device does not suit.
Result<std::unique_ptr<Allocator>> make_allocator(std::string_view name, Device& device, const AllocatorOptions& options = {});

}  // namespace stowage
