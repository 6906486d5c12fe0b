#include "verify/in_place.hpp"

#include <algorithm>

namespace stowage::verification {
namespace {

struct PlannedTakeover {
  const Case& input;
  const Op& op;
  const Claim& earlier;
  const Claim& later;
  ByteRange shared;

  [[nodiscard]] bool is_in(TensorId tensor, const Claim& claim) const {
    return input.values.of(tensor).index() == claim.holder;
  }

  /// Whether the op reads `earlier` through an input that has no pair with this output.
  [[nodiscard]] bool reads_unpaired(std::uint32_t output) const {
    for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
      if (!op.inputs[i] || !is_in(*op.inputs[i], earlier)) continue;
      const bool paired = std::any_of(op.in_place.begin(), op.in_place.end(),
                                      [&](InPlacePair pair) { return pair == InPlacePair{output, i}; });
      if (!paired) return true;
    }
    return false;
  }

  /// Whether the op reads some of the `size` bytes at `at` through an input that begins elsewhere. Working in place,
  /// element by element, it would read what it has just written.
  [[nodiscard]] bool reads_shifted(const Place& at, Bytes size) const {
    return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const std::optional<TensorId>& each) {
      if (!each || !is_in(*each, earlier)) return false;
      const Place* const place = input.places.of(*each);
      if (!place || place->cell != at.cell || place->offset == at.offset) return false;
      const std::optional<ByteRange> bytes = range_at(place->offset, input.graph.tensor(*each).size);
      return !bytes || bytes->overlaps({at.offset, at.offset + size});
    });
  }

  /// Whether the op writes another member of one of the two values within `bytes`.
  [[nodiscard]] bool writes_beside(TensorId output, ByteRange bytes) const {
    return std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId other) {
      if (other == output || (!is_in(other, earlier) && !is_in(other, later))) return false;
      const Place* const place = input.places.of(other);
      if (!place || place->cell != later.cell) return false;
      const std::optional<ByteRange> written = range_at(place->offset, input.graph.tensor(other).size);
      return written && bytes.overlaps(*written);
    });
  }

  [[nodiscard]] bool fits(InPlacePair pair) const {
    const TensorId out = op.outputs[pair.output];
    const TensorId in = *op.inputs[pair.input];
    if (!is_in(out, later) || !is_in(in, earlier) || reads_unpaired(pair.output)) return false;
    const Place* const to = input.places.of(out);
    const Place* const from = input.places.of(in);
    if (!to || !from || to->cell != later.cell || from->cell != earlier.cell || to->offset != from->offset)
      return false;
    const std::optional<ByteRange> bytes = range_at(from->offset, input.graph.tensor(in).size);
    const Bytes size = input.graph.tensor(out).size;
    if (!bytes || size > bytes->length() || input.graph.root(out).offset != Bytes(0)) return false;
    // What they share beyond the content of one of them is padding, which holds nothing.
    const Bytes end = std::min({shared.upper, earlier.content().upper, later.content().upper});
    const bool inside = shared.lower >= end || bytes->contains({shared.lower, end});
    return !reads_shifted(*from, size) && inside && !writes_beside(out, *bytes);
  }
};

}  // namespace

bool may_take_over(const Facts& facts, OpId id, const Claim& earlier, const Claim& later, ByteRange shared) {
  if (!std::holds_alternative<TensorId>(later.subject) || !std::holds_alternative<TensorId>(earlier.subject))
    return false;
  const PlannedTakeover takeover{facts.input, facts.input.graph.op(id), earlier, later, shared};
  return std::any_of(takeover.op.in_place.begin(), takeover.op.in_place.end(),
                     [&](InPlacePair pair) { return takeover.fits(pair); });
}

}  // namespace stowage::verification
