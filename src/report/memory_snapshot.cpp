#include "stowage/report/memory_snapshot.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "report/pickle.hpp"

namespace stowage {
namespace {

using report::PickleWriter;
using State = MemorySnapshot::BlockState;

constexpr Bytes kLargestSmallSegment{std::int64_t{2} << 20};

std::int64_t number(const std::byte* address) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address));
}

const char* name_of(State state) {
  switch (state) {
    case State::live:
      return "active_allocated";
    case State::pending:
      return "active_pending_free";
    case State::idle:
      break;
  }
  return "inactive";
}

struct SegmentSums {
  Bytes allocated;  ///< Live blocks.
  Bytes active;     ///< Live and pending blocks.
  Bytes requested;  ///< Bytes requested for the live blocks.
};

SegmentSums sums_of(const MemorySnapshot::Segment& segment) {
  SegmentSums sums;
  for (const MemorySnapshot::Block& block : segment.blocks) {
    if (block.state != State::idle) sums.active += block.size;
    if (block.state != State::live) continue;
    sums.allocated += block.size;
    sums.requested += block.requested;
  }
  return sums;
}

class SnapshotWriter {
 public:
  explicit SnapshotWriter(std::span<const MemorySnapshot> snapshots) {
    for (const MemorySnapshot& snapshot : snapshots) {
      devices_ = std::max(devices_, snapshot.device.index() + 1);
      for (const MemorySnapshot::Segment& segment : snapshot.segments)
        segments_.emplace_back(snapshot.device, &segment);
    }
  }

  std::string run() {
    out_.dict([&] {
      out_.key("segments");
      out_.list(segments_.size(), [&](std::size_t i) { write_segment(segments_[i].first, *segments_[i].second); });
      out_.key("device_traces");
      out_.list(devices_, [&](std::size_t device) { write_trace(DeviceId(device)); });
      out_.key("allocator_settings");
      out_.dict([&] {
        out_.key("expandable_segments");
        out_.boolean(false);
      });
      out_.key("external_annotations");
      out_.list(0, [](std::size_t) {});
    });
    return std::move(out_).take();
  }

 private:
  struct Event {
    const char* action;
    const std::byte* address;
    Bytes size;
    StreamId stream;
  };

  void figure(const char* key, std::int64_t value) {
    out_.key(key);
    out_.integer(value);
  }
  void no_frames() {
    out_.key("frames");
    out_.list(0, [](std::size_t) {});
  }
  void write_segment(DeviceId device, const MemorySnapshot::Segment& segment);
  void write_block(const MemorySnapshot::Block& block);
  void write_trace(DeviceId device);
  [[nodiscard]] std::vector<Event> events_of(DeviceId device) const;

  std::size_t devices_ = 0;
  std::vector<std::pair<DeviceId, const MemorySnapshot::Segment*>> segments_;
  PickleWriter out_;
};

void SnapshotWriter::write_block(const MemorySnapshot::Block& block) {
  out_.dict([&] {
    figure("address", number(block.address));
    figure("size", block.size.value());
    figure("requested_size", block.requested.value());
    out_.key("state");
    out_.text(name_of(block.state));
    no_frames();
  });
}

void SnapshotWriter::write_segment(DeviceId device, const MemorySnapshot::Segment& segment) {
  const SegmentSums sums = sums_of(segment);
  out_.dict([&] {
    figure("device", static_cast<std::int64_t>(device.index()));
    figure("address", number(segment.address));
    figure("total_size", segment.size.value());
    figure("allocated_size", sums.allocated.value());
    figure("active_size", sums.active.value());
    figure("requested_size", sums.requested.value());
    figure("stream", static_cast<std::int64_t>(segment.stream.index()));
    out_.key("segment_type");
    out_.text(segment.size <= kLargestSmallSegment ? "small" : "large");
    out_.key("segment_pool_id");
    out_.pair(0, 0);
    out_.key("is_expandable");
    out_.boolean(segment.stitched);
    no_frames();
    out_.key("blocks");
    out_.list(segment.blocks.size(), [&](std::size_t i) { write_block(segment.blocks[i]); });
  });
}

std::vector<SnapshotWriter::Event> SnapshotWriter::events_of(DeviceId device) const {
  std::vector<Event> events;
  for (const auto& [owner, segment] : segments_) {
    if (owner == device) events.push_back({"segment_alloc", segment->address, segment->size, segment->stream});
  }
  for (const auto& [owner, segment] : segments_) {
    if (owner != device) continue;
    for (const MemorySnapshot::Block& block : segment->blocks) {
      if (block.state == State::idle) continue;
      events.push_back({"alloc", block.address, block.size, segment->stream});
      if (block.state == State::pending)
        events.push_back({"free_requested", block.address, block.size, segment->stream});
    }
  }
  return events;
}

void SnapshotWriter::write_trace(DeviceId device) {
  const std::vector<Event> events = events_of(device);
  out_.list(events.size(), [&](std::size_t i) {
    out_.dict([&] {
      out_.key("action");
      out_.text(events[i].action);
      figure("addr", number(events[i].address));
      figure("size", events[i].size.value());
      figure("stream", static_cast<std::int64_t>(events[i].stream.index()));
      figure("time_us", static_cast<std::int64_t>(i));
      no_frames();
    });
  });
}

}  // namespace

std::string snapshot_to_pickle(std::span<const MemorySnapshot> snapshots) { return SnapshotWriter(snapshots).run(); }

std::string snapshot_to_pickle(const MemorySnapshot& snapshot) { return snapshot_to_pickle({&snapshot, 1}); }

}  // namespace stowage
