#include "runtime/heap/address_table.hpp"

#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stowage::runtime {
namespace {

std::byte* at(std::uintptr_t number) { return reinterpret_cast<std::byte*>(number * 512 + 0x7f0000000000); }

TEST(AddressTable, AgreesWithAMapOverRandomInsertionsAndRemovals) {
  std::mt19937 random(7);
  AddressTable table;
  std::map<std::byte*, Span*> expected;
  std::vector<Span> spans(4000);
  for (int i = 0; i < 200000; ++i) {
    Span& span = spans[random() % spans.size()];
    if (span.shown == nullptr) {
      std::byte* const address = at(random() % 5000);
      if (expected.contains(address)) continue;
      span.shown = address;
      table.insert(&span);
      expected.emplace(address, &span);
    } else {
      ASSERT_EQ(table.find(span.shown), &span);
      ASSERT_EQ(table.take(span.shown), &span);
      ASSERT_EQ(table.find(span.shown), nullptr);
      expected.erase(span.shown);
      span.shown = nullptr;
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  for (const auto& [address, span] : expected) ASSERT_EQ(table.find(address), span);
}

TEST(AddressTable, TakingWhatIsNotThereChangesNothing) {
  AddressTable table;
  Span span;
  span.shown = at(1);
  table.insert(&span);
  EXPECT_EQ(table.take(at(2)), nullptr);
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.find(at(1)), &span);
}

}  // namespace
}  // namespace stowage::runtime
