#include "verify/overlap.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/interval_map.hpp"

namespace stowage::verification {
namespace {

/// The bytes that a root tensor or a workspace takes when its value begins.
struct Claim {
  ValueId value;
  Step begin;
  ByteRange bytes;
  std::size_t cell;
  Subject subject;
  ArenaId arena;
};

class Sweep {
 public:
  Sweep(const Case& input, const Order& order, Findings& findings)
      : input_(input), order_(order), findings_(findings), horizon_(order.streams()), owners_(input.places.cells()) {}

  void run() {
    collect();
    std::vector<std::uint32_t> sequence(claims_.size());
    std::iota(sequence.begin(), sequence.end(), 0U);
    std::sort(sequence.begin(), sequence.end(),
              [&](std::uint32_t a, std::uint32_t b) { return std::pair(claims_[a].begin, a) < std::pair(claims_[b].begin, b); });
    for (std::size_t i = 0; i < sequence.size() && !findings_.full(); ++i) claim(sequence[i]);
  }

 private:
  struct Kept {
    ByteRange bytes;
    std::uint32_t owner;
  };

  void collect();
  void add(ValueId value, const Subject& subject, const Place* place, Bytes size);
  void claim(std::uint32_t index);
  /// How far each stream has come, at the least, when an op first touches the value.
  void set_horizon(const Value& value);

  /// Both look at the horizon of `later`.
  [[nodiscard]] bool is_over(const Value& earlier) const;
  [[nodiscard]] bool takes_over(const Claim& earlier, const Claim& later, ByteRange shared) const;
  [[nodiscard]] bool is_over_but_for(const Value& earlier, Step op, const Value& later) const;
  [[nodiscard]] bool reads_unpaired(const Op& op, ValueId value) const;
  [[nodiscard]] bool writes_beside(const Op& op, TensorId output, const Claim& earlier, const Claim& later,
                                   ByteRange bytes) const;
  [[nodiscard]] bool reads_shifted(const Op& op, ValueId value, const Place& at, Bytes size) const;
  [[nodiscard]] bool pair_fits(const Op& op, InPlacePair pair, const Claim& earlier, const Claim& later, ByteRange shared) const;

  void report(const Claim& earlier, const Claim& later, ByteRange shared);
  [[nodiscard]] std::string why(const Claim& earlier, const Claim& later) const;
  [[nodiscard]] std::string describe_need(const Value& value) const;

  const Case& input_;
  const Order& order_;
  Findings& findings_;
  std::vector<Claim> claims_;
  std::vector<Step> horizon_;                       ///< By stream.
  std::vector<IntervalMap<std::uint32_t>> owners_;  ///< By cell; into claims_.
  std::vector<Kept> kept_;
  std::set<std::pair<ValueId, ValueId>> reported_;
};

void Sweep::collect() {
  const Graph& graph = input_.graph;
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    // Views lie inside their roots; where they do not, that is a finding of layout.
    const Tensor& tensor = graph.tensors()[t];
    if (!tensor.view_of) add(input_.values.of(TensorId(t)), TensorId(t), input_.places.of(TensorId(t)), tensor.size);
  }
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const std::vector<Workspace>& workspaces = graph.ops()[k].workspaces;
    for (std::uint32_t w = 0; w < workspaces.size(); ++w) {
      const WorkspaceId id{OpId(k), w};
      add(input_.values.of(OpId(k), w), id, input_.places.of(id), workspaces[w].size);
    }
  }
}

void Sweep::add(ValueId value, const Subject& subject, const Place* place, Bytes size) {
  if (!place || !place->cell || size == Bytes(0) || !input_.values[value].in_use()) return;
  const std::optional<Bytes> end = checked_sum(place->offset, size);
  if (!end) return;
  claims_.push_back({value, input_.values[value].begin, {place->offset, *end}, *place->cell, subject, place->arena});
}

void Sweep::claim(std::uint32_t index) {
  const Claim& later = claims_[index];
  const Value& value = input_.values[later.value];
  set_horizon(value);
  kept_.clear();
  IntervalMap<std::uint32_t>& owners = owners_[later.cell];
  owners.visit(later.bytes, [&](ByteRange shared, std::uint32_t owner) {
    const Claim& earlier = claims_[owner];
    const Value& held = input_.values[earlier.value];
    if (earlier.value == later.value || is_over(held) || takes_over(earlier, later, shared)) return;
    report(earlier, later, shared);
    if (held.end > value.end) kept_.push_back({shared, owner});
  });
  owners.assign(later.bytes, index);
  for (const Kept& kept : kept_) owners.assign(kept.bytes, kept.owner);
}

void Sweep::set_horizon(const Value& value) {
  if (value.begin == kStart) {
    std::fill(horizon_.begin(), horizon_.end(), kStart);
    return;
  }
  std::fill(horizon_.begin(), horizon_.end(), kNever);
  input_.values.for_each_use(value, [&](const Use& use) {
    for (std::size_t s = 0; s < horizon_.size(); ++s) horizon_[s] = std::min(horizon_[s], order_.seen(use.first, s));
  });
}

bool Sweep::is_over(const Value& earlier) const {
  if (earlier.end == kNever) return false;
  bool over = true;
  input_.values.for_each_use(earlier, [&](const Use& use) { over = over && use.last <= horizon_[use.stream]; });
  return over;
}

/// Every access of `earlier` happens before every access of `later`, except that both are touched by `op`.
bool Sweep::is_over_but_for(const Value& earlier, Step op, const Value& later) const {
  const std::size_t own = order_.stream(op);
  Step horizon = op;
  input_.values.for_each_use(later, [&](const Use& use) {
    if (use.first != op) horizon = std::min(horizon, order_.seen(use.first, own));
  });
  bool over = true;
  input_.values.for_each_use(
      earlier, [&](const Use& use) { over = over && use.last <= (use.stream == own ? horizon : horizon_[use.stream]); });
  return over;
}

bool Sweep::takes_over(const Claim& earlier, const Claim& later, ByteRange shared) const {
  // A value with an address or a life of its own never ends or begins at an op, so that the flags are looked at here.
  const Value& from = input_.values[earlier.value];
  const Value& to = input_.values[later.value];
  if (from.end != to.begin || !std::holds_alternative<TensorId>(later.subject)) return false;
  const Op& op = input_.graph.ops()[static_cast<std::size_t>(to.begin.value())];
  if (reads_unpaired(op, earlier.value) || !is_over_but_for(from, to.begin, to)) return false;
  return std::any_of(op.in_place.begin(), op.in_place.end(),
                     [&](InPlacePair pair) { return pair_fits(op, pair, earlier, later, shared); });
}

bool Sweep::reads_unpaired(const Op& op, ValueId value) const {
  for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.inputs[i] || input_.values.of(*op.inputs[i]) != value) continue;
    const bool paired = std::any_of(op.in_place.begin(), op.in_place.end(), [&](InPlacePair pair) { return pair.input == i; });
    if (!paired) return true;
  }
  return false;
}

bool Sweep::pair_fits(const Op& op, InPlacePair pair, const Claim& earlier, const Claim& later, ByteRange shared) const {
  const TensorId out = op.outputs[pair.output];
  const TensorId in = *op.inputs[pair.input];
  if (input_.values.of(out) != later.value || input_.values.of(in) != earlier.value) return false;
  const Place* const to = input_.places.of(out);
  const Place* const from = input_.places.of(in);
  if (!to || !from || to->cell != later.cell || from->cell != earlier.cell || to->offset != from->offset) return false;
  const Bytes size = input_.graph.tensor(in).size;
  const std::optional<Bytes> end = checked_sum(from->offset, size);
  if (!end || input_.graph.tensor(out).size > size || input_.graph.root(out).offset != Bytes(0)) return false;
  if (reads_shifted(op, earlier.value, *from, input_.graph.tensor(out).size)) return false;
  const ByteRange bytes{from->offset, *end};
  return bytes.contains(shared) && !writes_beside(op, out, earlier, later, bytes);
}

/// Whether the op reads some of the `size` bytes at `at` through an input that begins elsewhere: element by element in place, it
/// would find there what it has just written.
bool Sweep::reads_shifted(const Op& op, ValueId value, const Place& at, Bytes size) const {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const std::optional<TensorId>& input) {
    if (!input || input_.values.of(*input) != value) return false;
    const Place* const place = input_.places.of(*input);
    if (!place || place->cell != at.cell || place->offset == at.offset) return false;
    const std::optional<Bytes> end = checked_sum(place->offset, input_.graph.tensor(*input).size);
    return !end || ByteRange{place->offset, *end}.overlaps({at.offset, at.offset + size});
  });
}

/// Whether the op writes another member of one of the two values within `bytes`.
bool Sweep::writes_beside(const Op& op, TensorId output, const Claim& earlier, const Claim& later, ByteRange bytes) const {
  return std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId other) {
    const ValueId value = input_.values.of(other);
    if (other == output || (value != earlier.value && value != later.value)) return false;
    const Place* const place = input_.places.of(other);
    if (!place || place->cell != later.cell) return false;
    const std::optional<Bytes> end = checked_sum(place->offset, input_.graph.tensor(other).size);
    return end && bytes.overlaps({place->offset, *end});
  });
}

void Sweep::report(const Claim& earlier, const Claim& later, ByteRange shared) {
  if (!reported_.insert(std::minmax(earlier.value, later.value)).second) return;
  const Graph& graph = input_.graph;
  findings_.add(Rule::overlap, "{} {} and {} {} of arena '{}' share bytes {} {}", describe(graph, earlier.subject),
                describe(earlier.bytes), describe(graph, later.subject), describe(later.bytes),
                input_.plan.arenas[later.arena.index()].name, describe(shared), why(earlier, later));
}

std::string Sweep::why(const Claim& earlier, const Claim& later) const {
  const Value& held = input_.values[earlier.value];
  const Value& value = input_.values[later.value];
  const std::string needs = fmt::format("; {} is needed {}, {} {}", describe(input_.graph, earlier.subject), describe_need(held),
                                        describe(input_.graph, later.subject), describe_need(value));
  if (held.end >= value.begin) {
    const Step common = std::max(value.begin, Step(0));
    return fmt::format("while both are needed at {}{}", describe(input_.graph, common), needs);
  }
  std::string order;
  input_.values.for_each_use(held, [&](const Use& use) {
    input_.values.for_each_use(value, [&](const Use& first) {
      if (!order.empty() || use.last <= order_.seen(first.first, use.stream)) return;
      order =
          fmt::format("while nothing orders {} before {}", describe(input_.graph, use.last), describe(input_.graph, first.first));
    });
  });
  return order + needs;
}

std::string Sweep::describe_need(const Value& value) const {
  return fmt::format("from {} to {}", describe(input_.graph, value.begin), describe(input_.graph, value.end));
}

}  // namespace

void check_overlaps(const Case& input, const Order& order, Findings& findings) { Sweep(input, order, findings).run(); }

}  // namespace stowage::verification
