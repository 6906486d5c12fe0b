#include "support/judges/oracle/run_facts.hpp"

#include <algorithm>
#include <limits>

namespace stowage::oracle {

RunFacts::RunFacts(const GraphFacts& facts, const Plan& plan)
    : facts_(facts),
      graph_(facts.graph),
      plan_(plan),
      places_(facts.owners.size()),
      extent_(facts.owners.size()),
      padding_(facts.owners.size()) {
  read_plan();
  // In other graphs sizes are multiples of alignments.
  if (plan.padding == Padding::own && graph_.needs_addresses_only()) find_paddings();
  cut_into_segments();
  find_extents();
  find_kin();
  find_parts();
}

// ------------------------------------------------------------------------------------------------------------- places

void RunFacts::place(std::size_t number, RegionKey region, Bytes offset, Bytes size) {
  places_[number] = Spot{region, offset.value(), size.value()};
}

void RunFacts::read_plan() {
  for (const Placement& p : plan_.placements) place(p.tensor.index(), {p.arena.index(), p.region}, p.offset, p.size);
  for (std::size_t a = 0; a < plan_.arenas.size(); ++a) {
    const std::optional<TensorId> user = plan_.arenas[a].tensor;
    if (user) place(user->index(), {a, 0}, Bytes(0), graph_.tensor(*user).size);
  }
  for (const WorkspacePlacement& p : plan_.workspaces)
    place(facts_.owner(p.op, p.index), {p.arena.index(), p.region}, p.offset, p.size);
}

void RunFacts::find_paddings() {
  std::vector<std::int64_t> lowest(facts_.owners.size(), std::numeric_limits<std::int64_t>::max());
  std::vector<std::int64_t> highest(facts_.owners.size(), -1);
  std::vector<RegionKey> region(facts_.owners.size());
  std::vector<Bytes> alignment(facts_.owners.size(), Bytes(1));
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i] || !facts_.is_tensor(i)) continue;
    const std::size_t owner = facts_.owners[i];
    lowest[owner] = std::min(lowest[owner], places_[i]->offset);
    highest[owner] = std::max(highest[owner], places_[i]->offset + places_[i]->size);
    region[owner] = places_[i]->region;
    alignment[owner] = std::max(alignment[owner], graph_.alignment(TensorId(i)));
  }
  for (const WorkspacePlacement& p : plan_.workspaces) {
    const std::size_t owner = facts_.owner(p.op, p.index);
    lowest[owner] = p.offset.value();
    highest[owner] = (p.offset + p.size).value();
    region[owner] = {p.arena.index(), p.region};
    alignment[owner] = graph_.alignment(graph_.op(p.op).workspaces[p.index]);
  }
  for (std::size_t owner = 0; owner < padding_.size(); ++owner) {
    if (highest[owner] <= lowest[owner]) continue;
    const std::int64_t size = align_up(Bytes(highest[owner] - lowest[owner]), alignment[owner]).value();
    const std::int64_t end = lowest[owner] + size;
    if (end > highest[owner]) padding_[owner] = Spot{region[owner], highest[owner], end - highest[owner]};
  }
}

void RunFacts::cut_into_segments() {
  const auto cut = [&](const Spot& spot) {
    cuts_[spot.region][spot.offset];
    cuts_[spot.region][spot.offset + spot.size];
  };
  for (const std::optional<Spot>& spot : places_) {
    if (spot) cut(*spot);
  }
  for (const std::optional<Spot>& spot : padding_) {
    if (spot) cut(*spot);
  }
  const auto plain = [](const auto& entry, Bytes size) {
    return Spot{{entry.arena.index(), entry.region}, entry.offset.value(), size.value()};
  };
  for (const Clear& clear : plan_.clears) cut(plain(clear, clear.size));
  for (const Copy& copy : plan_.copies) {
    cut(plain(copy, copy.size));
    cut(plain(copy, graph_.tensor(copy.tensor).size));
  }
  for (auto& [region, cuts] : cuts_) {
    for (auto& [offset, segment] : cuts) segment = segments_++;
  }
  for (std::vector<std::optional<Spot>>* const spots : {&places_, &padding_}) {
    for (std::optional<Spot>& spot : *spots) {
      if (spot) number_segments(*spot);
    }
  }
}

void RunFacts::number_segments(Spot& spot) const {
  if (spot.size <= 0) return;
  const auto& cuts = cuts_.at(spot.region);
  spot.first = cuts.at(spot.offset);
  spot.last = cuts.at(spot.offset + spot.size);
}

RunFacts::Spot RunFacts::spot_of(const Copy& copy, Bytes size) const {
  Spot spot{{copy.arena.index(), copy.region}, copy.offset.value(), size.value()};
  number_segments(spot);
  return spot;
}

RunFacts::Spot RunFacts::spot_of(const Clear& clear) const {
  Spot spot{{clear.arena.index(), clear.region}, clear.offset.value(), clear.size.value()};
  number_segments(spot);
  return spot;
}

void RunFacts::find_extents() {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const bool view = facts_.is_tensor(i) && graph_.tensors()[i].view_of.has_value();
    if (places_[i] && !view) extent_[facts_.owners[i]].push_back(*places_[i]);
  }
  for (std::size_t owner = 0; owner < padding_.size(); ++owner) {
    if (padding_[owner]) extent_[owner].push_back(*padding_[owner]);
  }
}

bool RunFacts::is_planned(TensorId tensor) const {
  return std::none_of(plan_.bindings.begin(), plan_.bindings.end(),
                      [&](const Binding& binding) { return facts_.owner(binding.tensor) == facts_.owner(tensor); });
}

bool RunFacts::at_one_place(TensorId a, TensorId b) const {
  return is_placed(a) && is_placed(b) && spot_of(a).same_place(spot_of(b));
}

bool RunFacts::meet(const Spot& a, const Spot& b) {
  return a.region == b.region && a.size > 0 && b.size > 0 && a.offset < b.offset + b.size &&
         b.offset < a.offset + a.size;
}

RunFacts::Spot RunFacts::spot_or_hosting(TensorId tensor) const {
  const ViewOf root = graph_.root(tensor);
  for (std::size_t a = 0; !is_placed(tensor) && a < plan_.arenas.size(); ++a) {
    const std::optional<TensorId> host = plan_.arenas[a].tensor;
    if (!host || graph_.root(*host).tensor != root.tensor) continue;
    return Spot{{a, 0}, (root.offset - graph_.root(*host).offset).value(), graph_.tensor(tensor).size.value()};
  }
  return spot_of(tensor);
}

RunFacts::Spot RunFacts::with_padding(TensorId tensor) const {
  Spot spot = spot_or_hosting(tensor);
  const std::optional<Spot>& padding = padding_[facts_.owner(tensor)];
  const bool is_last = padding && padding->region == spot.region && padding->offset == spot.offset + spot.size;
  if (is_last && spot.size > 0) spot.size += padding->size;
  return spot;
}

std::optional<std::string> RunFacts::not_apart() const {
  for (const ApartTensors& pair : graph_.apart()) {
    if (meet(with_padding(pair.a), with_padding(pair.b)))
      return "tensors " + std::to_string(pair.a.index()) + " and " + std::to_string(pair.b.index()) + " are not apart";
  }
  return std::nullopt;
}

// ------------------------------------------------------------------------------------------------------------- copies

std::vector<const Copy*> RunFacts::copies_at(ScopeId scope, CopyMoment when) const {
  std::vector<const Copy*> found;
  for (const Copy& copy : plan_.copies) {
    if (graph_.scope_of(copy.tensor) == scope && copy.when == when) found.push_back(&copy);
  }
  return found;
}

std::vector<const Copy*> RunFacts::copies_at(OpId op) const {
  return copies_at(graph_.scope_of(op), CopyMoment::before(op));
}

const Copy* RunFacts::copy_at(OpId op, TensorId tensor) const {
  for (const Copy* copy : copies_at(op)) {
    if (copy->tensor == tensor) return copy;
  }
  return nullptr;
}

std::optional<TensorId> RunFacts::carried_target(OpId op, TensorId outer, const Spot& to) const {
  const Scope& scope = graph_.scope(graph_.bodies(op).front());
  for (const BodyInput& pair : scope.inputs) {
    if (pair.outer == outer && is_carried(scope, pair.inner) && spot_of(pair.inner).same_place(to)) return pair.inner;
  }
  return std::nullopt;
}

// ---------------------------------------------------------------------------------------------------------- one value

/// Values that pairs of a body put at one place.
void RunFacts::find_kin() {
  kin_ = facts_.owners;
  const auto join = [&](TensorId a, TensorId b) {
    if (at_one_place(a, b)) unite(kin_, a.index(), b.index());
  };
  for (std::size_t s = 1; s < graph_.scopes().size(); ++s) {
    const Scope& scope = graph_.scopes()[s];
    for (const BodyInput& pair : scope.inputs) join(pair.inner, pair.outer);
    for (const BodyOutput& pair : scope.outputs) join(pair.inner, pair.outer);
    for (const Carried& pair : scope.carried) join(pair.out, pair.in);
  }
}

void RunFacts::find_parts() {
  for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
    const Op& op = graph_.ops()[k];
    std::int64_t offset = 0;
    if (op.contiguous_inputs == Contiguity::packed && op.inputs.size() > 1) {
      for (const auto& input : op.inputs) {
        if (!input) continue;
        add_part(OpId(k), *input, op.outputs[0], *input, op.outputs[0], offset);
        offset += graph_.tensor(*input).size.value();
      }
    }
    offset = 0;
    if (op.contiguous_outputs == Contiguity::packed && op.outputs.size() > 1) {
      for (const TensorId output : op.outputs) {
        add_part(OpId(k), *op.inputs[0], output, output, *op.inputs[0], offset);
        offset += graph_.tensor(output).size.value();
      }
    }
  }
}

void RunFacts::add_part(OpId op, TensorId source, TensorId derived, TensorId part, TensorId whole,
                        std::int64_t offset) {
  if (!is_placed(part) || !is_placed(whole)) return;
  const Spot at = spot_of(part);
  const Spot base = spot_of(whole);
  if (at.region != base.region || at.offset != base.offset + offset || copy_at(op, part)) return;
  if (facts_.owner(source) == facts_.owner(derived)) return;
  parts_.push_back({facts_.owner(source), facts_.owner(derived), op, at});
  unite(kin_, source.index(), derived.index());
}

bool RunFacts::is_filled_kin(std::size_t owner) const {
  for (std::size_t other = 0; other < facts_.filled.size(); ++other) {
    if (facts_.filled[other] && kin_[other] == kin_[owner]) return true;
  }
  return false;
}

// ----------------------------------------------------------------------------------------------------------- in place

bool RunFacts::may_overwrite(OpId id, std::size_t from, std::size_t to, Segment segment) const {
  const Op& op = graph_.op(id);
  if (!facts_.is_tensor(from) || !facts_.is_tensor(to)) return false;
  const auto reads_without_pair = [&](std::uint32_t output) {
    for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
      const bool reads = op.inputs[i] && facts_.owner(*op.inputs[i]) == from;
      if (reads && std::count(op.in_place.begin(), op.in_place.end(), InPlacePair{output, i}) == 0) return true;
    }
    return false;
  };
  return std::any_of(op.in_place.begin(), op.in_place.end(), [&](InPlacePair pair) {
    const TensorId out = op.outputs[pair.output];
    const TensorId in = *op.inputs[pair.input];
    if (facts_.owner(out) != to || facts_.owner(in) != from || graph_.root(out).offset != Bytes(0)) return false;
    if (reads_without_pair(pair.output)) return false;
    if (!is_planned(out) || !is_planned(in) || !at_one_place(out, in)) return false;
    const Spot target = spot_of(out);
    const Spot source = spot_of(in);
    const bool padding =
        (padding_[from] && padding_[from]->has(segment)) || (padding_[to] && padding_[to]->has(segment));
    if (target.size > source.size || (!source.has(segment) && !padding)) return false;
    for (const auto& input : op.inputs) {
      if (!input || facts_.owner(*input) != from) continue;
      const Spot read = spot_of(*input);
      if (read.offset != source.offset && meet(read, target)) return false;
    }
    return std::none_of(op.outputs.begin(), op.outputs.end(), [&](TensorId other) {
      const std::size_t owner = facts_.owner(other);
      return other != out && (owner == from || owner == to) && meet(spot_of(other), source);
    });
  });
}

}  // namespace stowage::oracle
