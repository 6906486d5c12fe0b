#include "stowage/report/memory_snapshot.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

/// tests/snapshot reads a whole one with Python.
namespace stowage {
namespace {

using namespace std::string_literals;

/// A key or text as pickle has it.
std::string text(const std::string& value) { return "\x8c" + std::string(1, static_cast<char>(value.size())) + value; }

TEST(MemorySnapshotPickle, NothingIsAnEmptySnapshotOfOneDevice) {
  const std::string expected = "\x80\x04}(" + text("segments") + "]" + text("device_traces") + "](]e" +
                               text("allocator_settings") + "}(" + text("expandable_segments") + "\x89u" +
                               text("external_annotations") + "]u.";
  EXPECT_EQ(snapshot_to_pickle(MemorySnapshot{}), expected);
}

TEST(MemorySnapshotPickle, NoDevicesHaveNoTraces) {
  const std::string none = snapshot_to_pickle(std::vector<MemorySnapshot>{});
  EXPECT_NE(none.find(text("device_traces") + "]" + text("allocator_settings")), std::string::npos);
}

TEST(MemorySnapshotPickle, OneIsTheSameAsAListOfOne) {
  MemorySnapshot snapshot;
  snapshot.segments.push_back({nullptr, Bytes(4096), StreamId(1), false, {{nullptr, Bytes(4096), Bytes(4000), {}}}});
  EXPECT_EQ(snapshot_to_pickle(snapshot), snapshot_to_pickle(std::vector{snapshot}));
}

TEST(MemorySnapshotPickle, SegmentsAreSmallUpToTwoMebibytes) {
  const auto pickle_of = [](Bytes size) {
    MemorySnapshot snapshot;
    snapshot.segments.push_back({nullptr, size, {}, false, {}});
    return snapshot_to_pickle(snapshot);
  };
  EXPECT_NE(pickle_of(Bytes(2 << 20)).find(text("small")), std::string::npos);
  EXPECT_NE(pickle_of(Bytes((2 << 20) + 1)).find(text("large")), std::string::npos);
}

}  // namespace
}  // namespace stowage
