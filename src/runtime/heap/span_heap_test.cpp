#include "runtime/heap/span_heap.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/heap/idle_map.hpp"

namespace stowage::runtime {
namespace {

constexpr Bytes kUnit{512};
Bytes units(std::int64_t count) { return Bytes(count * 512); }
std::byte* at(std::int64_t unit) {
  return reinterpret_cast<std::byte*>(std::uintptr_t{0x10000000} + static_cast<std::uintptr_t>(unit) * 512);
}

TEST(SpanHeap, FreedNeighboursBecomeOne) {
  SpanHeap heap(kUnit);
  heap.add(at(0), units(10));
  Span* const a = heap.take(units(3), Bytes(1500));
  Span* const b = heap.take(units(3), Bytes(1501));
  Span* const c = heap.take(units(4), Bytes(2048));
  EXPECT_EQ(heap.take(units(1), Bytes(1)), nullptr);
  EXPECT_EQ(heap.live(), units(10));
  EXPECT_EQ(heap.requested(), Bytes(1500 + 1501 + 2048));
  for (Span* const span : {a, c, b}) heap.give_back(heap.remove(span->shown));
  EXPECT_EQ(heap.largest_idle(), units(10));
  EXPECT_EQ(heap.live(), Bytes(0));
}

TEST(SpanHeap, RunsThatTouchJoinAndARunThatIsCutSplits) {
  SpanHeap heap(kUnit);
  heap.add(at(0), units(4));
  heap.add(at(8), units(4));
  EXPECT_EQ(heap.largest_idle(), units(4));
  heap.add(at(4), units(4));
  EXPECT_EQ(heap.largest_idle(), units(12));
  heap.cut(at(2), units(3));
  EXPECT_EQ(heap.largest_idle(), units(7));
  EXPECT_EQ(heap.at(at(2)), nullptr);
  EXPECT_EQ(heap.at(at(1))->size, units(2));
  heap.add(at(2), units(3));
  EXPECT_EQ(heap.largest_idle(), units(12));
}

TEST(SpanHeap, AStitchedAllocationIsFreedPieceByPiece) {
  SpanHeap heap(kUnit);
  heap.add(at(0), units(12));
  Span* const between = heap.take(units(4), Bytes(2048));
  const std::vector<SpanHeap::Piece> pieces{{at(10), units(2)}, {at(4), units(3)}};
  Span* const stitched = heap.take_pieces(pieces, at(1000), 1, Bytes(2500));
  EXPECT_EQ(stitched->shown, at(1000));
  EXPECT_EQ(heap.live(), units(9));
  EXPECT_EQ(heap.find(at(1000)), stitched);
  EXPECT_EQ(heap.find(at(10)), nullptr);
  heap.give_back(heap.remove(at(1000)));
  EXPECT_EQ(heap.live(), units(4));
  heap.give_back(heap.remove(between->shown));
  EXPECT_EQ(heap.largest_idle(), units(12));
}

/// Against a map of bytes: pages, allocations and stitched allocations come and go, and no byte has two owners.
TEST(SpanHeap, AgreesWithAMapOfUnits) {
  std::mt19937 random(3);
  constexpr std::int64_t kUnits = 400;
  SpanHeap heap(kUnit);
  std::vector<int> owner(kUnits, -1);  // -1 not in the heap, 0 idle, else an allocation
  std::map<int, std::pair<std::byte*, std::vector<std::int64_t>>> live;
  int next = 1;
  const auto check = [&] {
    std::int64_t unit = 0;
    heap.for_each([&](const Span& span) {
      const std::int64_t first = (span.address - at(0)) / 512;
      for (; unit < first; ++unit) ASSERT_EQ(owner[static_cast<std::size_t>(unit)], -1);
      for (const std::int64_t end = first + span.size.value() / 512; unit < end; ++unit) {
        ASSERT_EQ(span.state == SpanState::idle, owner[static_cast<std::size_t>(unit)] == 0) << unit;
        ASSERT_NE(owner[static_cast<std::size_t>(unit)], -1);
      }
      ASSERT_FALSE(span.state == SpanState::idle && span.before->state == SpanState::idle);
    });
    for (; unit < kUnits; ++unit) ASSERT_EQ(owner[static_cast<std::size_t>(unit)], -1);
  };
  const auto is_all = [&](std::int64_t from, std::int64_t count, int who) {
    return std::all_of(owner.begin() + from, owner.begin() + from + count, [&](int one) { return one == who; });
  };
  for (int step = 0; step < 20000; ++step) {
    const std::int64_t page = 20 * static_cast<std::int64_t>(random() % (kUnits / 20));
    switch (random() % 6) {
      case 0:
        if (is_all(page, 20, -1)) {
          heap.add(at(page), units(20));
          std::fill_n(owner.begin() + page, 20, 0);
        }
        break;
      case 1:
        if (is_all(page, 20, 0)) {
          heap.cut(at(page), units(20));
          std::fill_n(owner.begin() + page, 20, -1);
        }
        break;
      case 2: {  // stitched from two single units
        const auto a = static_cast<std::int64_t>(random() % kUnits);
        const auto b = static_cast<std::int64_t>(random() % kUnits);
        if (a == b || !is_all(a, 1, 0) || !is_all(b, 1, 0)) break;
        const std::vector<SpanHeap::Piece> pieces{{at(a), units(1)}, {at(b), units(1)}};
        heap.take_pieces(pieces, at(100000 + next), 1, Bytes(1));
        owner[static_cast<std::size_t>(a)] = owner[static_cast<std::size_t>(b)] = next;
        live.emplace(next, std::pair(at(100000 + next), std::vector{a, b}));
        ++next;
        break;
      }
      case 3: {
        const std::int64_t count = 1 + static_cast<std::int64_t>(random() % 30);
        const Span* const span = heap.take(units(count), Bytes(1));
        if (span == nullptr) break;
        std::vector<std::int64_t> taken;
        for (std::int64_t i = 0; i < count; ++i) taken.push_back((span->address - at(0)) / 512 + i);
        for (const std::int64_t unit : taken) ASSERT_EQ(std::exchange(owner[static_cast<std::size_t>(unit)], next), 0);
        live.emplace(next++, std::pair(span->shown, taken));
        break;
      }
      default:
        if (live.empty()) break;
        const auto gone = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
        heap.give_back(heap.remove(gone->second.first));
        for (const std::int64_t unit : gone->second.second) owner[static_cast<std::size_t>(unit)] = 0;
        live.erase(gone);
    }
    if (step % 16 == 0) check();
    ASSERT_EQ(heap.allocations(), live.size());
  }
}

TEST(IdleMap, WhatTouchesIsOneRunWhoeverHasIt) {
  SpanHeap first(kUnit);
  SpanHeap second(kUnit);
  first.add(at(0), units(4));
  second.add(at(4), units(4));
  first.add(at(10), units(2));
  const std::vector<SpanHeap*> heaps{&first, &second};
  const IdleMap idle(heaps);
  ASSERT_EQ(idle.runs().size(), 2U);
  EXPECT_EQ(idle.tightest(units(5))->address, at(0));
  EXPECT_EQ(idle.tightest(units(2))->address, at(10));
  EXPECT_FALSE(idle.tightest(units(9)));
  EXPECT_EQ(idle.ending_at(at(8)), units(8));
  const std::vector<IdlePart> parts = idle.within(at(3), units(3));
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].owner, &first);
  EXPECT_EQ(parts[0].size, units(1));
  EXPECT_EQ(parts[1].owner, &second);
  EXPECT_EQ(parts[1].address, at(4));
  EXPECT_EQ(parts[1].size, units(2));
}

/// Growth keeps the map of a miss up to date, so that the spans need not be scanned again.
TEST(IdleMap, WithBytesAddedItIsTheMapThatWouldBeFound) {
  SpanHeap first(kUnit);
  SpanHeap second(kUnit);
  const std::vector<SpanHeap*> heaps{&first, &second};
  second.add(at(2), units(2));
  IdleMap idle(heaps);
  // Before all, after all, into a gap between another heap's and its own, and one that joins two of its own.
  for (const auto& [unit, count] :
       std::vector<std::pair<int, int>>{{0, 1}, {10, 2}, {4, 3}, {14, 2}, {12, 2}, {1, 1}}) {
    first.add(at(unit), units(count));
    idle.add({at(unit), units(count), &first});
    const IdleMap found(heaps);
    ASSERT_EQ(idle.parts().size(), found.parts().size()) << unit;
    ASSERT_EQ(idle.runs().size(), found.runs().size()) << unit;
    for (std::size_t i = 0; i < found.parts().size(); ++i) {
      EXPECT_EQ(idle.parts()[i].address, found.parts()[i].address);
      EXPECT_EQ(idle.parts()[i].size, found.parts()[i].size);
      EXPECT_EQ(idle.parts()[i].owner, found.parts()[i].owner);
    }
    for (std::size_t i = 0; i < found.runs().size(); ++i) {
      EXPECT_EQ(idle.runs()[i].address, found.runs()[i].address);
      EXPECT_EQ(idle.runs()[i].size, found.runs()[i].size);
    }
  }
}

}  // namespace
}  // namespace stowage::runtime
