#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "stowage/alloc/graph_allocator.hpp"
#include "support/builders/allocator_graphs.hpp"

/// Counts heap allocations. A separate program, because it replaces operator new for the whole process.

namespace {
std::atomic<std::size_t> allocations = 0;
}

// Not inlined: otherwise the compiler sees memory from `new` passed to `free`, and warns.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace stowage {
namespace {

template <class F>
std::size_t allocations_of(F&& f) {
  const std::size_t before = allocations;
  f();
  return allocations - before;
}

TEST(HotPath, AGraphThatFitsAllocatesNothing) {
  GraphAllocator allocator(cpu_device().buffer_type(), testing::steady());
  const Graph large = testing::layers(10, 512);
  const Graph small = testing::layers(10, 64);
  const Graph smaller = testing::layers(10, 63);
  const Graph other = testing::layers(9, 64);
  ASSERT_TRUE(allocator.reserve(large));
  ASSERT_TRUE(allocator.reserve(other));
  ASSERT_GT(allocations_of([] { testing::layers(1, 1); }), 0U) << "the counter counts";
  const auto allocate = [&](const Graph& graph) {
    return allocations_of([&] { EXPECT_TRUE(allocator.allocate(graph)); });
  };
  EXPECT_EQ(allocate(large), 0U);
  EXPECT_EQ(allocate(large), 0U) << "the same graph again";
  EXPECT_EQ(allocate(small), 0U) << "a smaller one";
  EXPECT_EQ(allocate(smaller), 0U);
  EXPECT_EQ(allocate(other), 0U) << "another plan";
  EXPECT_EQ(allocate(small), 0U);
}

}  // namespace
}  // namespace stowage
