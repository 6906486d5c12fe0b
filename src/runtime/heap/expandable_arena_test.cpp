#include "runtime/heap/expandable_arena.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"

namespace stowage::runtime {
namespace {

constexpr Bytes kPage{std::int64_t{2} << 20};

/// On the host, so that the content can be read.
TEST(ExpandableArena, AStitchShowsThePagesOneBehindTheOther) {
  VirtualMemory* const memory = cpu_device().virtual_memory();
  if (memory == nullptr) GTEST_SKIP() << "this system has no memfd";
  PhysicalPool pool(*memory);
  ExpandableArena arena(pool);
  std::vector<PageId> pages;
  for (int i = 0; i < 3; ++i) {
    pages.push_back(*arena.add(*pool.allocate(kPage)));
    std::memset(arena.address(pages.back()), 'a' + i, static_cast<std::size_t>(kPage.value()));
  }
  EXPECT_EQ(arena.address(pages[1]), arena.address(pages[0]) + kPage.value());
  const StitchId stitch = *arena.stitch(std::vector{pages[2], pages[0]});
  std::byte* const shown = arena.address(stitch);
  EXPECT_EQ(static_cast<char>(shown[0]), 'c');
  EXPECT_EQ(static_cast<char>(shown[kPage.value()]), 'a');
  shown[kPage.value()] = std::byte{'x'};
  EXPECT_EQ(static_cast<char>(*arena.address(pages[0])), 'x');
  ASSERT_TRUE(arena.replace(stitch, 0, pages[1]));
  EXPECT_EQ(static_cast<char>(shown[0]), 'b');
  ASSERT_TRUE(arena.append(stitch, pages[2]));
  EXPECT_EQ(static_cast<char>(shown[2 * kPage.value()]), 'c');
  EXPECT_EQ(arena.counts().access_calls, 3U + 1U + 1U + 1U);
}

struct Fixture {
  std::unique_ptr<SimDevice> device = SimDevice::make();
  PhysicalPool pool{*device->virtual_memory()};
};

TEST(ExpandableArena, AMapThatFailsHalfwayIsRolledBack) {
  Fixture f;
  {
    ExpandableArena arena(f.pool);
    std::vector<PageId> pages;
    for (int i = 0; i < 4; ++i) pages.push_back(*arena.add(*f.pool.allocate(kPage)));
    const std::size_t before = f.device->live_objects();
    for (std::uint64_t nth = 1; nth <= 4; ++nth) {
      f.device->fail(SimCall::map, nth);
      EXPECT_FALSE(arena.stitch(pages));
      EXPECT_EQ(f.device->live_objects(), before);
    }
    EXPECT_TRUE(arena.stitch(pages));
  }
  EXPECT_EQ(f.pool.counts().idle, Bytes(4 * kPage.value()));
  EXPECT_TRUE(f.device->violations().empty());
}

TEST(ExpandableArena, APageThatCannotBeReplacedStays) {
  Fixture f;
  ExpandableArena arena(f.pool);
  const PageId a = *arena.add(*f.pool.allocate(kPage));
  const PageId b = *arena.add(*f.pool.allocate(kPage));
  const StitchId stitch = *arena.stitch(std::vector{a});
  f.device->fail(SimCall::unmap, 1);
  EXPECT_FALSE(arena.replace(stitch, 0, b));
  f.device->fail(SimCall::map, 1);
  EXPECT_FALSE(arena.replace(stitch, 0, b));
  EXPECT_EQ(arena.pages(stitch), std::vector{a});
  f.device->fail(SimCall::map, 1, 2);  // mapping the old page back fails too: the stitch becomes shorter
  EXPECT_FALSE(arena.replace(stitch, 0, b));
  EXPECT_TRUE(arena.pages(stitch).empty());
  EXPECT_TRUE(f.device->violations().empty());
}

TEST(ExpandableArena, HolesAreFilledBeforeItGrows) {
  Fixture f;
  ExpandableArena arena(f.pool);
  std::vector<PageId> pages;
  for (int i = 0; i < 3; ++i) pages.push_back(*arena.add(*f.pool.allocate(kPage)));
  std::byte* const hole = arena.address(pages[1]);
  f.pool.free(*arena.remove(pages[1]));
  EXPECT_EQ(arena.address(*arena.add(*f.pool.allocate(kPage))), hole);
}

TEST(ExpandableArena, APageThatCannotBeMappedTakesNoAddresses) {
  Fixture f;
  ExpandableArena arena(f.pool);
  const PageId first = *arena.add(*f.pool.allocate(kPage));
  const Page page = *f.pool.allocate(kPage);
  for (int i = 0; i < 3; ++i) {
    f.device->fail(SimCall::map, 1);
    EXPECT_FALSE(arena.add(page));
  }
  EXPECT_EQ(arena.address(*arena.add(page)), arena.address(first) + kPage.value());
}

TEST(ExpandableArena, AddressesOfPagesThatAreGoneServeALargerOneInWhateverOrderTheyWent) {
  const std::vector<std::vector<std::size_t>> orders = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}};
  for (const std::vector<std::size_t>& order : orders) {
    Fixture f;
    ExpandableArena arena(f.pool);
    std::vector<PageId> pages;
    for (int i = 0; i < 4; ++i) pages.push_back(*arena.add(*f.pool.allocate(kPage)));
    std::byte* const start = arena.address(pages[0]);
    for (const std::size_t each : order) f.pool.free(*arena.remove(pages[each]));
    EXPECT_EQ(arena.address(*arena.add(*f.pool.allocate(Bytes(3 * kPage.value())))), start);
  }
}

TEST(ExpandableArena, LeavesNoAddressesReserved) {
  Fixture f;
  {
    ExpandableArena arena(f.pool);
    ASSERT_TRUE(arena.prepare(kPage));
    const PageId page = *arena.add(*f.pool.allocate(kPage));
    const std::size_t before = f.device->live_objects();
    ASSERT_TRUE(arena.unstitch(*arena.stitch(std::vector{page})));
    EXPECT_EQ(f.device->live_objects(), before);
    ASSERT_TRUE(arena.stitch(std::vector{page}));
  }
  f.pool.trim();
  EXPECT_EQ(f.device->live_objects(), 0U);
}

TEST(ExpandableArena, AsksForFewerAddressesWhereManyAreRefused) {
  Fixture f;
  ExpandableArena arena(f.pool);
  f.device->fail(SimCall::reserve, 1, 5);
  EXPECT_TRUE(arena.add(*f.pool.allocate(kPage)));
}

}  // namespace
}  // namespace stowage::runtime
