#include "verify/live_bytes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace stowage::verification {
namespace {

constexpr std::size_t kMatchingEffort = std::size_t{1} << 20;  // a few hundredths of a second

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

/// The largest sum of a matching of values to places, where a value gains the same in each of its places. After
/// `kMatchingEffort` looks at a candidate the remaining values count as if each had a place, which is more.
class Matching {
 public:
  explicit Matching(const std::vector<Candidate>& candidates) {
    std::map<std::pair<ValueId, Bytes>, std::size_t> places;
    std::map<ValueId, std::size_t> values;
    for (const Candidate& each : candidates) {
      const auto [value, is_new] = values.try_emplace(each.to, values_.size());
      if (is_new) values_.push_back({each.to, {}, {}});
      Beginner& beginner = values_[value->second];
      beginner.gain = std::max(beginner.gain, each.gain);
      beginner.places.push_back(places.try_emplace(each.place, places.size()).first->second);
    }
    places_.resize(places.size());
  }

  Bytes best() {
    std::vector<std::size_t> order(values_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(values_[a].gain, values_[a].id) > std::pair(values_[b].gain, values_[b].id);
    });
    Bytes sum;
    for (const std::size_t value : order) {
      if (augment(value)) sum += values_[value].gain;
    }
    return sum;
  }

 private:
  static constexpr std::size_t kNobody = SIZE_MAX;

  struct Beginner {
    ValueId id;
    Bytes gain;  ///< The most that it gains anywhere.
    std::vector<std::size_t> places;
  };
  struct Place {
    std::size_t taken_by = kNobody;
    std::size_t seen = 0;  ///< The last search that came here.
  };
  /// A value that looks for a place, and how many it has tried.
  struct Looking {
    std::size_t value;
    std::size_t tried = 0;
  };

  /// Finds a place for the value, for which others may have to change theirs; depth first.
  bool augment(std::size_t value) {
    ++search_;
    std::vector<Looking> path = {{value}};
    while (!path.empty()) {
      Looking& last = path.back();
      const std::vector<std::size_t>& places = values_[last.value].places;
      if (last.tried == places.size()) {
        path.pop_back();
        continue;
      }
      if (effort_ == 0) return true;
      --effort_;
      Place& place = places_[places[last.tried++]];
      if (std::exchange(place.seen, search_) == search_) continue;
      if (place.taken_by == kNobody) {
        for (const Looking& each : path) places_[values_[each.value].places[each.tried - 1]].taken_by = each.value;
        return true;
      }
      path.push_back({place.taken_by});
    }
    return false;
  }

  std::vector<Beginner> values_;
  std::vector<Place> places_;
  std::size_t search_ = 0;
  std::size_t effort_ = kMatchingEffort;
};

/// The length of a union of ranges that come and go: a tree over all ends that ever occur. Each change is O(log n).
class ChangingUnion {
 public:
  /// `ends` has both ends of every range that will be added.
  explicit ChangingUnion(std::vector<Bytes> ends) : ends_(std::move(ends)) {
    std::sort(ends_.begin(), ends_.end());
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
    nodes_.resize(ends_.empty() ? 0 : 4 * ends_.size());
  }

  /// Adds the range once more, or removes it once.
  void change(ByteRange range, std::int64_t by) {
    if (range.lower < range.upper) change(1, {0, ends_.size() - 1}, range, by);
  }
  [[nodiscard]] Bytes length() const { return nodes_.empty() ? Bytes(0) : nodes_[1].covered; }

 private:
  struct Node {
    std::int64_t count = 0;  ///< Ranges that cover the node but not its parent.
    Bytes covered;
  };
  using Span = std::pair<std::size_t, std::size_t>;

  void change(std::size_t node, Span span, ByteRange range, std::int64_t by) {
    const ByteRange own{ends_[span.first], ends_[span.second]};
    if (!own.overlaps(range)) return;
    const bool leaf = span.second - span.first == 1;
    if (range.lower <= own.lower && own.upper <= range.upper) {
      nodes_[node].count += by;
    } else {
      const std::size_t middle = span.first + (span.second - span.first) / 2;
      change(2 * node, {span.first, middle}, range, by);
      change(2 * node + 1, {middle, span.second}, range, by);
    }
    const Bytes below = leaf ? Bytes(0) : nodes_[2 * node].covered + nodes_[2 * node + 1].covered;
    nodes_[node].covered = nodes_[node].count > 0 ? own.length() : below;
  }

  std::vector<Bytes> ends_;
  std::vector<Node> nodes_;
};

}  // namespace

LiveBytes::LiveBytes(const Case& input, const Claims& claims, const std::vector<Extent>& extents, const KinSets& kin,
                     const std::vector<RunNeeds>& runs, const Takeovers& takeovers)
    : input_(input), claims_(claims), extents_(extents), kin_(kin), runs_(runs), takeovers_(takeovers) {
  for (std::size_t value = 0; value < input.values.size(); ++value) {
    if (const std::optional<Share> share = share_of(ValueId(value))) values_[*share].emplace_back(value);
  }
}

std::optional<Share> LiveBytes::share_of(ValueId value) const {
  const auto holder = static_cast<HolderId>(value.index());
  if (!claims_.has_any(holder) || input_.bindings.of(value)) return std::nullopt;
  const Arena& arena = input_.plan.arenas[claims_[claims_.first(holder)].arena.index()];
  return Share{arena.memory, arena.kind == ArenaKind::user ? ArenaKind::shared : arena.kind};
}

bool LiveBytes::is_in(Share share, ValueId value) const { return share_of(value) == share; }

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

LiveBytes::Counted LiveBytes::counted(Share share, Whom whom) const {
  Counted result{{}, std::vector<char>(input_.values.size())};
  const auto all = values_.find(share);
  if (all == values_.end()) return result;
  const std::vector<Buffer> buffers = whom == Whom::all ? std::vector<Buffer>() : buffers_of(share);
  for (const ValueId value : all->second) {
    if (fits(buffers, value)) continue;
    result.values.push_back(value);
    result.contains[value.index()] = 1;
  }
  return result;
}

// --------------------------------------------------------------------------------------------------------------- sums

/// `steps` holds by how much the sum changes at each event.
void LiveBytes::add_set(const std::vector<Kin>& set, bool consistent, const Counted& counted, const RunNeeds& run,
                        ByEvent& steps) const {
  std::vector<std::tuple<EventIndex, int, std::size_t>> changes;  // an event, by how much, and which of the set
  std::vector<Bytes> ends;
  for (std::size_t k = 0; k < set.size(); ++k) {
    if (counted.contains[set[k].value.index()] == 0) continue;
    for (const Need& need : run.needs.of(set[k].value)) {
      changes.emplace_back(need.from, 1, k);
      changes.emplace_back(need.to, -1, k);
    }
    ends.insert(ends.end(), {set[k].offset, set[k].offset + extents_[set[k].value.index()].size});
  }
  std::sort(changes.begin(), changes.end());
  ChangingUnion together(consistent ? std::move(ends) : std::vector<Bytes>());
  std::multiset<Bytes> sizes;
  Bytes before;
  for (const auto& [at, by, k] : changes) {
    const Bytes size = extents_[set[k].value.index()].size;
    if (consistent)
      together.change({set[k].offset, set[k].offset + size}, by);
    else if (by > 0)
      sizes.insert(size);
    else
      sizes.erase(sizes.find(size));
    const Bytes now = consistent ? together.length() : sizes.empty() ? Bytes(0) : *sizes.rbegin();
    steps[at] += now - before;
    before = now;
  }
}

LiveBytes::ByEvent LiveBytes::sum(Share share, const RunNeeds& run, Whom whom) const {
  const Counted counted = this->counted(share, whom);
  ByEvent steps(run.course.events.size() + 1);
  std::set<std::uint32_t> sets;
  for (const ValueId value : counted.values) {
    if (const std::uint32_t set = kin_.set_of[value.index()]; set != 0) sets.insert(set - 1);
    if (kin_.set_of[value.index()] != 0) continue;
    for (const Need& need : run.needs.of(value)) {
      steps[need.from] += extents_[value.index()].size;
      steps[need.to] -= extents_[value.index()].size;
    }
  }
  for (const std::uint32_t s : sets) add_set(kin_.sets[s], kin_.consistent[s] != 0, counted, run, steps);
  Bytes now;
  for (Bytes& step : steps) step = now += step;
  steps.pop_back();
  for (EventIndex at = 0; at < steps.size(); ++at)
    steps[at] += copied(share, run, at, counted) - saved(run, at, counted, Bytes(1));
  return steps;
}

/// Whether the contiguous inputs of the op lie here, wherever they come from: some do not have addresses of their own,
/// and all of these are here.
bool LiveBytes::are_read_here(Share share, const Op& op, const Counted& counted) const {
  if (op.contiguous_inputs != Contiguity::padded) return false;
  bool ours = false;
  for (const std::optional<TensorId>& input : op.inputs) {
    if (!input) continue;
    const ValueId id = input_.values.of(*input);
    const Value& value = input_.values[id];
    if (value.flags.any_of(kOwnAddress)) continue;
    // What some op needs at a fixed address would take the others along.
    const bool moves = value.fixed && !op.fixed_address && input_.options.base == AddressBase::refreshable;
    if (counted.contains[id.index()] == 0 || moves) return false;
    ours = true;
  }
  const bool fixed = op.fixed_address && input_.options.base == AddressBase::refreshable;
  return ours && share.kind == (fixed ? ArenaKind::fixed : ArenaKind::shared);
}

/// The bytes of contiguous inputs that are not counted where they come from: of those that may be copied, except for
/// what an output may overwrite or others may have in common with them; and of those with addresses of their own, which
/// must be copied to lie beside the others. No output overwrites a copy.
Bytes LiveBytes::copied(Share share, const RunNeeds& run, EventIndex at, const Counted& counted) const {
  const Event& event = run.course.events[at];
  if (event.kind != Event::Kind::op) return {};
  const Op& op = input_.graph.op(event.op);
  if (!are_read_here(share, op, counted)) return {};
  const auto in_place = [&](std::uint32_t input) {
    return std::any_of(op.in_place.begin(), op.in_place.end(), [&](InPlacePair pair) {
      const Bytes size = input_.graph.tensor(op.outputs[pair.output]).size;
      return pair.input == input && size <= input_.graph.tensor(*op.inputs[input]).size;
    });
  };
  Bytes bytes;
  for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.inputs[i] || run.run.is_absent(*op.inputs[i])) continue;
    const Tensor& tensor = input_.graph.tensor(*op.inputs[i]);
    const ValueId value = input_.values.of(*op.inputs[i]);
    const bool own = input_.values[value].flags.any_of(kOwnAddress);
    const bool ends = counted.contains[value.index()] != 0 && kin_.set_of[value.index()] == 0 &&
                      !is_needed(run.needs, value, at) && !in_place(i);
    if (tensor.memory == share.memory && (own || ends)) bytes += tensor.size;
  }
  return bytes;
}

LiveBytes::ByEvent LiveBytes::room_in_buffers(Share share, const RunNeeds& run) const {
  ByEvent room(run.course.events.size() + 1);
  for (const Buffer& buffer : buffers_of(share)) {
    room[0] += buffer.size;
    // The needs of a value may overlap; each event counts once.
    std::vector<Need> needs(run.needs.of(buffer.value).begin(), run.needs.of(buffer.value).end());
    std::sort(needs.begin(), needs.end(), [](const Need& a, const Need& b) { return a.from < b.from; });
    EventIndex end = 0;
    for (const Need& need : needs) {
      const EventIndex from = std::max(end, need.from);
      if (from >= need.to) continue;
      room[from] -= buffer.size;
      room[need.to] += buffer.size;
      end = need.to;
    }
  }
  Bytes now;
  for (Bytes& each : room) each = now += each;
  room.pop_back();
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
Bytes LiveBytes::gain(const RunNeeds& run, EventIndex at, const Takeover& takeover, const Counted& counted) const {
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
    const bool stays = kin.value != takeover.from && kin.value != takeover.to &&
                       counted.contains[kin.value.index()] != 0 && is_needed(run.needs, kin.value, at) &&
                       !run.needs.ends_at(kin.value, at);
    if (!stays) continue;
    const Bytes lower = std::max(kin.offset, offset);
    const Bytes upper = std::min(kin.offset + extents_[kin.value.index()].content, offset + size);
    if (lower < upper) shared.push_back({lower, upper});
  }
  return std::max(Bytes(0), gain - union_of(std::move(shared)));
}

Bytes LiveBytes::saved(const RunNeeds& run, EventIndex at, const Counted& counted, Bytes multiple) const {
  std::vector<Candidate> candidates;
  for (const Takeover& takeover : takeovers_.at(run.course.events[at])) {
    const bool both = counted.contains[takeover.from.index()] != 0 && counted.contains[takeover.to.index()] != 0 &&
                      is_needed(run.needs, takeover.from, at) && is_needed(run.needs, takeover.to, at);
    const Bytes gained = both ? gain(run, at, takeover, counted) : Bytes(0);
    if (gained > Bytes(0))
      candidates.push_back({takeover.to, {takeover.from, takeover.distance}, align_up(gained, multiple)});
  }
  return candidates.empty() ? Bytes(0) : Matching(candidates).best();
}

// ------------------------------------------------------------------------------------------------------------ aligned

Bytes LiveBytes::aligned(Share share, std::optional<OpId> op, Bytes alignment, std::size_t regions) const {
  const Counted counted = this->counted(share, Whom::no_guests);
  Bytes most;
  for (const RunNeeds& run : runs_) {
    for (EventIndex at = 0; at < run.course.events.size(); ++at) {
      if (!is_of(run.course.events[at], op)) continue;
      Bytes sum;
      std::vector<Bytes> slack;
      std::vector<char> seen(kin_.sets.size());
      for (const ValueId value : counted.values) {
        const Extent& extent = extents_[value.index()];
        if (extent.alignment < alignment || !is_needed(run.needs, value, at)) continue;
        if (const std::uint32_t set = kin_.set_of[value.index()]; set != 0 && std::exchange(seen[set - 1], 1) != 0)
          continue;
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
