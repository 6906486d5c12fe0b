#include "verify/live_bytes.hpp"

#include <algorithm>
#include <utility>

namespace stowage::verification {
namespace {

/// Whether the value is needed at the event.
bool is_needed(const Needs& needs, ValueId value, EventIndex at) {
  const std::span<const Need> all = needs.of(value);
  return std::any_of(all.begin(), all.end(), [&](const Need& need) { return need.from <= at && at < need.to; });
}

/// The length of the union of ranges.
Bytes union_of(std::vector<ByteRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  Bytes sum;
  std::optional<Bytes> end;
  for (const ByteRange& range : ranges) {
    const Bytes from = end ? std::max(*end, range.lower) : range.lower;
    if (from < range.upper) sum += range.upper - from;
    end = std::max(end.value_or(range.upper), range.upper);
  }
  return sum;
}

/// Events of the op; without one, the start.
bool is_of(const Event& event, std::optional<OpId> op) {
  return op ? event.kind != Event::Kind::start && event.op == *op : event.kind == Event::Kind::start;
}

/// A value that begins, the place that it may take, and what that saves.
struct Candidate {
  ValueId to;
  std::pair<ValueId, Bytes> place;
  Bytes gain;
};

/// The largest sum of a matching of values to places, where a value gains the same in each of its places.
class Matching {
 public:
  explicit Matching(std::vector<Candidate> candidates) : candidates_(std::move(candidates)) {}

  Bytes best() {
    std::vector<std::pair<Bytes, ValueId>> values;  // with the most that each gains anywhere
    for (const Candidate& each : candidates_) {
      const auto known = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.second == each.to; });
      if (known == values.end()) {
        values.emplace_back(each.gain, each.to);
      } else {
        known->first = std::max(known->first, each.gain);
      }
    }
    std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a > b; });
    Bytes sum;
    for (const auto& [gain, value] : values) {
      std::vector<std::pair<ValueId, Bytes>> visited;
      if (augment(value, visited)) sum += gain;
    }
    return sum;
  }

 private:
  bool augment(ValueId value, std::vector<std::pair<ValueId, Bytes>>& visited) {
    for (const Candidate& each : candidates_) {
      if (each.to != value || std::find(visited.begin(), visited.end(), each.place) != visited.end()) continue;
      visited.push_back(each.place);
      const auto taken =
          std::find_if(taken_.begin(), taken_.end(), [&](const auto& t) { return t.first == each.place; });
      if (taken == taken_.end()) {
        taken_.emplace_back(each.place, value);
        return true;
      }
      if (!augment(taken->second, visited)) continue;
      std::find_if(taken_.begin(), taken_.end(), [&](const auto& t) { return t.first == each.place; })->second = value;
      return true;
    }
    return false;
  }

  std::vector<Candidate> candidates_;
  std::vector<std::pair<std::pair<ValueId, Bytes>, ValueId>> taken_;
};

}  // namespace

LiveBytes::LiveBytes(const Case& input, const Claims& claims, const std::vector<Extent>& extents, const KinSets& kin,
                     const std::vector<RunNeeds>& runs, const Takeovers& takeovers)
    : input_(input), claims_(claims), extents_(extents), kin_(kin), runs_(runs), takeovers_(takeovers) {}

bool LiveBytes::is_in(Share share, ValueId value) const {
  const auto holder = static_cast<HolderId>(value.index());
  if (!claims_.has_any(holder) || input_.bindings.of(value)) return false;
  const Arena& arena = input_.plan.arenas[claims_[claims_.first(holder)].arena.index()];
  const bool kind = arena.kind == share.kind || (share.kind == ArenaKind::shared && arena.kind == ArenaKind::user);
  return kind && arena.memory == share.memory;
}

std::vector<LiveBytes::Buffer> LiveBytes::buffers_of(Share share) const {
  std::vector<Buffer> buffers;
  if (share.kind != ArenaKind::shared) return buffers;
  for (const auto& [value, bound] : input_.bindings.all()) {
    const Tensor& tensor = input_.graph.tensor(bound.tensor);
    if (!tensor.flags.has(TensorFlag::reusable) || tensor.memory != share.memory) continue;
    buffers.push_back({ValueId(value), tensor.size, bound.alignment});
  }
  return buffers;
}

bool LiveBytes::fits(const std::vector<Buffer>& buffers, ValueId value) const {
  const Extent& extent = extents_[value.index()];
  return !why_unwelcome(input_.values[value]) && std::any_of(buffers.begin(), buffers.end(), [&](const Buffer& buffer) {
    return extent.alignment <= buffer.alignment && extent.size <= buffer.size;
  });
}

bool LiveBytes::may_be_guest(Share share, ValueId value) const { return fits(buffers_of(share), value); }

std::vector<char> LiveBytes::counted(Share share, Whom whom) const {
  std::vector<char> result(input_.values.size());
  const std::vector<Buffer> buffers = whom == Whom::all ? std::vector<Buffer>() : buffers_of(share);
  for (std::size_t value = 0; value < result.size(); ++value)
    result[value] = is_in(share, ValueId(value)) && !fits(buffers, ValueId(value)) ? 1 : 0;
  return result;
}

// --------------------------------------------------------------------------------------------------------------- sums

/// `steps` holds by how much the sum changes at each event.
void LiveBytes::add_set(const std::vector<Kin>& set, bool consistent, const std::vector<char>& counted,
                        const RunNeeds& run, ByEvent& steps) const {
  std::vector<EventIndex> cuts;
  for (const Kin& kin : set) {
    for (const Need& need : run.needs.of(kin.value)) {
      cuts.push_back(need.from);
      cuts.push_back(need.to);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    std::vector<ByteRange> ranges;
    Bytes largest;
    for (const Kin& kin : set) {
      const Bytes size = extents_[kin.value.index()].size;
      if (counted[kin.value.index()] == 0 || !is_needed(run.needs, kin.value, cuts[i])) continue;
      ranges.push_back({kin.offset, kin.offset + size});
      largest = std::max(largest, size);
    }
    const Bytes bytes = consistent ? union_of(std::move(ranges)) : largest;
    steps[cuts[i]] += bytes;
    steps[cuts[i + 1]] -= bytes;
  }
}

LiveBytes::ByEvent LiveBytes::sum(Share share, const RunNeeds& run, Whom whom) const {
  const std::vector<char> counted = this->counted(share, whom);
  ByEvent steps(run.course.events.size() + 1);
  for (std::size_t value = 0; value < counted.size(); ++value) {
    if (counted[value] == 0 || kin_.set_of[value] != 0) continue;
    for (const Need& need : run.needs.of(ValueId(value))) {
      steps[need.from] += extents_[value].size;
      steps[need.to] -= extents_[value].size;
    }
  }
  for (std::size_t s = 0; s < kin_.sets.size(); ++s)
    add_set(kin_.sets[s], kin_.consistent[s] != 0, counted, run, steps);
  Bytes now;
  for (Bytes& step : steps) step = now += step;
  steps.pop_back();
  for (EventIndex at = 0; at < steps.size(); ++at)
    steps[at] += copied(share, run, at, counted) - saved(run, at, counted, Bytes(1));
  return steps;
}

/// Whether the contiguous inputs of the op lie here, wherever they come from: some do not have addresses of their own,
/// and all of these are here.
bool LiveBytes::are_read_here(Share share, const Op& op, const std::vector<char>& counted) const {
  if (op.contiguous_inputs != Contiguity::padded) return false;
  bool ours = false;
  for (const std::optional<TensorId>& input : op.inputs) {
    if (!input) continue;
    const ValueId id = input_.values.of(*input);
    const Value& value = input_.values[id];
    if (value.flags.any_of(kOwnAddress)) continue;
    // What some op needs at a fixed address would take the others along.
    const bool moves = value.fixed && !op.fixed_address && input_.options.base == AddressBase::refreshable;
    if (counted[id.index()] == 0 || moves) return false;
    ours = true;
  }
  const bool fixed = op.fixed_address && input_.options.base == AddressBase::refreshable;
  return ours && share.kind == (fixed ? ArenaKind::fixed : ArenaKind::shared);
}

/// The bytes of contiguous inputs that are not counted where they come from: of those that may be copied, except for
/// what an output may overwrite or others may have in common with them; and of those with addresses of their own, which
/// must be copied to lie beside the others.
Bytes LiveBytes::copied(Share share, const RunNeeds& run, EventIndex at, const std::vector<char>& counted) const {
  const Event& event = run.course.events[at];
  if (event.kind != Event::Kind::op) return {};
  const Op& op = input_.graph.op(event.op);
  if (!are_read_here(share, op, counted)) return {};
  const auto in_place = [&](std::uint32_t input) {
    return std::any_of(op.in_place.begin(), op.in_place.end(), [&](InPlacePair pair) { return pair.input == input; });
  };
  Bytes bytes;
  for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.inputs[i] || in_place(i) || run.run.is_absent(*op.inputs[i])) continue;
    const Tensor& tensor = input_.graph.tensor(*op.inputs[i]);
    const ValueId value = input_.values.of(*op.inputs[i]);
    const bool own = input_.values[value].flags.any_of(kOwnAddress);
    const bool ends =
        counted[value.index()] != 0 && kin_.set_of[value.index()] == 0 && !is_needed(run.needs, value, at);
    if (tensor.memory == share.memory && (own || ends)) bytes += tensor.size;
  }
  return bytes;
}

LiveBytes::ByEvent LiveBytes::room_in_buffers(Share share, const RunNeeds& run) const {
  ByEvent room(run.course.events.size());
  for (const Buffer& buffer : buffers_of(share)) {
    for (EventIndex at = 0; at < room.size(); ++at) {
      if (!is_needed(run.needs, buffer.value, at)) room[at] += buffer.size;
    }
  }
  return room;
}

LiveBytes::ByEvent LiveBytes::bytes_of(Share share, const RunNeeds& run) const {
  ByEvent all = sum(share, run, Whom::all);
  if (buffers_of(share).empty()) return all;
  const ByEvent paid = sum(share, run, Whom::no_guests);
  const ByEvent room = room_in_buffers(share, run);
  for (EventIndex at = 0; at < all.size(); ++at) all[at] = std::max(paid[at], all[at] - room[at]);
  return all;
}

Bytes LiveBytes::most(Share share) const {
  Bytes most;
  for (const RunNeeds& run : runs_) {
    for (const Bytes bytes : bytes_of(share, run)) most = std::max(most, bytes);
  }
  return most;
}

Bytes LiveBytes::at(Share share, std::optional<OpId> op) const {
  Bytes most;
  for (const RunNeeds& run : runs_) {
    const ByEvent bytes = bytes_of(share, run);
    for (EventIndex at = 0; at < bytes.size(); ++at) {
      if (is_of(run.course.events[at], op)) most = std::max(most, bytes[at]);
    }
  }
  return most;
}

// -------------------------------------------------------------------------------------------------------------- saved

/// What the takeover saves: the bytes that both values have, less those that count once already because the content of
/// another value is there, which is needed afterwards.
Bytes LiveBytes::gain(const RunNeeds& run, EventIndex at, const Takeover& takeover,
                      const std::vector<char>& counted) const {
  const Bytes size = extents_[takeover.from.index()].size;
  const Bytes begin = std::max(Bytes(0), takeover.distance);
  const Bytes end = std::min(size, takeover.distance + extents_[takeover.to.index()].size);
  Bytes gain = std::max(Bytes(0), end - begin);
  const std::uint32_t set = kin_.set_of[takeover.from.index()];
  if (set == 0 || kin_.consistent[set - 1] == 0) return gain;
  const std::vector<Kin>& all = kin_.sets[set - 1];
  const Bytes offset =
      std::find_if(all.begin(), all.end(), [&](const Kin& kin) { return kin.value == takeover.from; })->offset;
  std::vector<ByteRange> shared;
  for (const Kin& kin : all) {
    const bool stays = kin.value != takeover.from && kin.value != takeover.to && counted[kin.value.index()] != 0 &&
                       is_needed(run.needs, kin.value, at) && !run.needs.ends_at(kin.value, at);
    if (!stays) continue;
    const Bytes lower = std::max(kin.offset, offset);
    const Bytes upper = std::min(kin.offset + extents_[kin.value.index()].content, offset + size);
    if (lower < upper) shared.push_back({lower, upper});
  }
  return std::max(Bytes(0), gain - union_of(std::move(shared)));
}

Bytes LiveBytes::saved(const RunNeeds& run, EventIndex at, const std::vector<char>& counted, Bytes multiple) const {
  std::vector<Candidate> candidates;
  for (const Takeover& takeover : takeovers_.at(run.course.events[at])) {
    const bool both = counted[takeover.from.index()] != 0 && counted[takeover.to.index()] != 0 &&
                      is_needed(run.needs, takeover.from, at) && is_needed(run.needs, takeover.to, at);
    const Bytes gained = both ? gain(run, at, takeover, counted) : Bytes(0);
    if (gained > Bytes(0))
      candidates.push_back({takeover.to, {takeover.from, takeover.distance}, align_up(gained, multiple)});
  }
  return candidates.empty() ? Bytes(0) : Matching(std::move(candidates)).best();
}

// ------------------------------------------------------------------------------------------------------------ aligned

Bytes LiveBytes::aligned(Share share, std::optional<OpId> op, Bytes alignment, std::size_t regions) const {
  const std::vector<char> counted = this->counted(share, Whom::no_guests);
  Bytes most;
  for (const RunNeeds& run : runs_) {
    for (EventIndex at = 0; at < run.course.events.size(); ++at) {
      if (!is_of(run.course.events[at], op)) continue;
      Bytes sum;
      std::vector<Bytes> slack;
      std::vector<char> seen(kin_.sets.size());
      for (std::size_t value = 0; value < counted.size(); ++value) {
        const Extent& extent = extents_[value];
        if (counted[value] == 0 || extent.alignment < alignment || !is_needed(run.needs, ValueId(value), at)) continue;
        if (const std::uint32_t set = kin_.set_of[value]; set != 0 && std::exchange(seen[set - 1], 1) != 0) continue;
        sum += align_up(extent.size, alignment);
        slack.push_back(align_up(extent.size, alignment) - extent.size);
      }
      std::sort(slack.rbegin(), slack.rend());
      for (std::size_t i = 0; i < std::min(slack.size(), regions); ++i) sum -= slack[i];
      sum -= saved(run, at, counted, alignment);
      most = std::max(most, sum);
    }
  }
  return most;
}

}  // namespace stowage::verification
