#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "report/labels.hpp"
#include "report/pickle.hpp"
#include "report/scene.hpp"
#include "stowage/report/timeline.hpp"

/// A PyTorch memory snapshot. What its viewers rely on: the blocks of a segment fill it, in the order of addresses; a
/// free names the address of its allocation; blocks that are still allocated at the end are those that no event freed;
/// segments exist before their first block. So an item is written piece by piece: whole items may overlap where part of
/// one has already ended.
namespace stowage {
namespace {

using namespace report;  // the module's own parts

constexpr std::int64_t kFirstAddress = std::int64_t{1} << 40;
constexpr Bytes kSegmentAlignment{std::int64_t{1} << 21};

/// Bytes that one holder occupies for some steps.
struct Block {
  Interval when;
  std::int64_t address;
  Bytes size;
  std::size_t holder;  ///< Index in the names.
};

/// A region of an arena.
struct Segment {
  std::int64_t address;
  Bytes size;
  std::size_t device;
  std::string arena;
};

struct Event {
  enum class Kind : std::uint8_t { end, begin };  // within a step, ends come first
  Step step;
  Kind kind;
  std::size_t block;
};

class PlanSnapshotWriter {
 public:
  PlanSnapshotWriter(const Scene& scene, std::string graph) : scene_(scene), graph_(std::move(graph)) {
    for (const PlacedArena& arena : scene.arenas()) add_arena(arena);
  }

  std::string run() {
    out_.dict([&] {
      out_.key("segments");
      out_.list(segments_.size(), [&](std::size_t s) { write_segment(s); });
      out_.key("device_traces");
      out_.list(scene_.graph().memories().size(), [&](std::size_t device) { write_trace(device); });
      out_.key("allocator_settings");
      write_settings();
      out_.key("external_annotations");
      out_.list(0, [](std::size_t) {});
    });
    return std::move(out_).take();
  }

 private:
  void add_arena(const PlacedArena& arena);
  void write_segment(std::size_t number);
  void write_block(std::int64_t address, Bytes size, const Block* block);
  void write_trace(std::size_t device);
  void write_event(const char* action, std::int64_t address, Bytes size, Step time, const Block* block);
  void write_frames(const Block* block);
  void write_settings();
  [[nodiscard]] std::vector<const Block*> left_in(const Segment& segment) const;

  struct Named {
    std::string name;
    std::string kind;
    Step since;
  };

  const Scene& scene_;
  std::string graph_;
  std::int64_t next_ = kFirstAddress;
  std::vector<Segment> segments_;
  std::vector<Named> names_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> devices_;  ///< By block.
  PickleWriter out_;
};

void PlanSnapshotWriter::add_arena(const PlacedArena& arena) {
  const Arena& planned = scene_.plan().arenas[arena.number.index()];
  std::vector<std::int64_t> begins;
  Bytes base;
  std::vector<Bytes> bases;
  for (const Bytes size : planned.regions) {
    begins.push_back(next_);
    bases.push_back(base);
    base += size;
    if (size == Bytes(0)) continue;
    segments_.push_back({next_, size, planned.memory.index(), planned.name});
    next_ += (align_up(size, kSegmentAlignment) + kSegmentAlignment).value();
  }
  if (planned.kind == ArenaKind::ring) {
    // The order of occupants of a ring range also depends on batches and added edges: by steps alone they may overlap.
    if (planned.size == Bytes(0)) return;
    names_.push_back({planned.name, "prefetch ring", Step(0)});
    blocks_.push_back(
        {{Step(0), scene_.liveness().timeline.horizon()}, begins.front(), planned.size, names_.size() - 1});
    devices_.push_back(planned.memory.index());
    return;
  }
  for (const PlacedItem& item : arena.items) {
    const Holder holder = holder_of(scene_, item);
    names_.push_back({holder.name, holder.kind, item.life.lower});
    for (const Piece& piece : item.blocks) {
      const std::int64_t address = begins[item.region] + (piece.bytes.lower - bases[item.region]).value();
      blocks_.push_back({piece.when, address, piece.bytes.length(), names_.size() - 1});
      devices_.push_back(planned.memory.index());
    }
  }
}

/// The blocks of a segment that are still allocated at the end, by address.
std::vector<const Block*> PlanSnapshotWriter::left_in(const Segment& segment) const {
  std::vector<const Block*> left;
  for (const Block& block : blocks_) {
    const bool inside = block.address >= segment.address && block.address < segment.address + segment.size.value();
    if (inside && block.when.upper >= scene_.liveness().timeline.horizon()) left.push_back(&block);
  }
  std::sort(left.begin(), left.end(), [](const Block* a, const Block* b) { return a->address < b->address; });
  return left;
}

void PlanSnapshotWriter::write_frames(const Block* block) {
  out_.key("frames");
  out_.list(block ? 1 : 0, [&](std::size_t) {
    const Named& named = names_[block->holder];
    out_.dict([&] {
      out_.key("name");
      out_.text(named.kind.empty() ? named.name : fmt::format("{} ({})", named.name, named.kind));
      out_.key("filename");
      out_.text(graph_);
      out_.key("line");
      out_.integer(named.since.value());
    });
  });
}

void PlanSnapshotWriter::write_block(std::int64_t address, Bytes size, const Block* block) {
  out_.dict([&] {
    out_.key("address");
    out_.integer(address);
    out_.key("size");
    out_.integer(size.value());
    out_.key("requested_size");
    out_.integer(block ? size.value() : 0);
    out_.key("state");
    out_.text(block ? "active_allocated" : "inactive");
    write_frames(block);
  });
}

void PlanSnapshotWriter::write_segment(std::size_t number) {
  const Segment& segment = segments_[number];
  const std::vector<const Block*> left = left_in(segment);
  std::vector<std::pair<std::int64_t, const Block*>> starts;  // null: a hole
  std::int64_t end = segment.address;
  Bytes used;
  for (const Block* block : left) {
    if (block->address > end) starts.emplace_back(end, nullptr);
    starts.emplace_back(block->address, block);
    end = block->address + block->size.value();
    used += block->size;
  }
  if (end < segment.address + segment.size.value()) starts.emplace_back(end, nullptr);
  out_.dict([&] {
    const std::pair<const char*, std::int64_t> figures[] = {{"device", static_cast<std::int64_t>(segment.device)},
                                                            {"address", segment.address},
                                                            {"total_size", segment.size.value()},
                                                            {"allocated_size", used.value()},
                                                            {"active_size", used.value()},
                                                            {"requested_size", used.value()},
                                                            {"stream", 0}};
    for (const auto& [key, value] : figures) {
      out_.key(key);
      out_.integer(value);
    }
    out_.key("segment_type");
    out_.text("large");
    out_.key("segment_pool_id");
    out_.pair(0, 0);
    out_.key("is_expandable");
    out_.boolean(false);
    out_.key("frames");
    out_.list(0, [](std::size_t) {});
    out_.key("blocks");
    out_.list(starts.size(), [&](std::size_t i) {
      const std::int64_t next = i + 1 < starts.size() ? starts[i + 1].first : segment.address + segment.size.value();
      write_block(starts[i].first, Bytes(next - starts[i].first), starts[i].second);
    });
  });
}

void PlanSnapshotWriter::write_event(const char* action, std::int64_t address, Bytes size, Step time,
                                     const Block* block) {
  out_.dict([&] {
    out_.key("action");
    out_.text(action);
    const std::pair<const char*, std::int64_t> figures[] = {
        {"addr", address}, {"size", size.value()}, {"stream", 0}, {"time_us", time.value()}};
    for (const auto& [key, value] : figures) {
      out_.key(key);
      out_.integer(value);
    }
    write_frames(block);
  });
}

void PlanSnapshotWriter::write_trace(std::size_t device) {
  std::vector<const Segment*> segments;
  for (const Segment& segment : segments_) {
    if (segment.device == device) segments.push_back(&segment);
  }
  std::vector<Event> events;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (devices_[b] != device) continue;
    events.push_back({blocks_[b].when.lower, Event::Kind::begin, b});
    if (blocks_[b].when.upper < scene_.liveness().timeline.horizon())
      events.push_back({blocks_[b].when.upper, Event::Kind::end, b});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.step != b.step) return a.step < b.step;
    return a.kind != b.kind ? a.kind < b.kind : a.block < b.block;
  });
  // A free is two events: requested and completed.
  std::vector<std::pair<const Event*, const char*>> actions;
  for (const Event& event : events) {
    if (event.kind == Event::Kind::begin) actions.emplace_back(&event, "alloc");
    if (event.kind == Event::Kind::end) actions.emplace_back(&event, "free_requested");
    if (event.kind == Event::Kind::end) actions.emplace_back(&event, "free_completed");
  }
  out_.list(segments.size() + actions.size(), [&](std::size_t i) {
    if (i < segments.size())
      return write_event("segment_alloc", segments[i]->address, segments[i]->size, Step(0), nullptr);
    const auto& [event, action] = actions[i - segments.size()];
    const Block& block = blocks_[event->block];
    write_event(action, block.address, block.size, event->step, &block);
  });
}

void PlanSnapshotWriter::write_settings() {
  out_.dict([&] {
    out_.key("PYTORCH_CUDA_ALLOC_CONF");
    out_.text("");
    out_.key("expandable_segments");
    out_.boolean(false);
    out_.key("garbage_collection_threshold");
    out_.real(0);
    out_.key("max_split_size");
    out_.integer(-1);
  });
}

}  // namespace

std::string timeline_to_snapshot(const PlanScene& scene) {
  return PlanSnapshotWriter(scene.scene(), scene.planned().graph.name()).run();
}

}  // namespace stowage
