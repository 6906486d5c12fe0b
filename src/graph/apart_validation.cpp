#include <map>
#include <optional>

#include <fmt/format.h>

#include "graph/validation.hpp"

/// The rules of tensors that are to be kept apart.
namespace stowage::validation {
namespace {

/// Bytes whose place relative to other tensors the graph itself determines.
struct GivenBytes {
  std::optional<RingId> ring;
  TensorId representative;  ///< Of the alias class; meaningless in a ring.
  ByteRange bytes;

  [[nodiscard]] bool overlaps(const GivenBytes& other) const {
    const bool same_place = ring ? ring == other.ring : !other.ring && representative == other.representative;
    return same_place && !bytes.empty() && !other.bytes.empty() && bytes.lower < other.bytes.upper &&
           other.bytes.lower < bytes.upper;
  }
};

class GivenPlaces {
 public:
  GivenPlaces(const Graph& graph, const Relations& relations) : graph_(graph), relations_(relations) {
    for (const RingRange& range : relations.ring_ranges) {
      const auto [representative, offset] = relations.place(range.tensor);
      rings_[representative] = {range.ring, range.offset - offset};
    }
  }

  [[nodiscard]] GivenBytes of(TensorId id) const {
    const auto [representative, offset] = relations_.place(id);
    const auto ring = rings_.find(representative);
    const Bytes start = ring == rings_.end() ? offset : ring->second.start + offset;
    const ByteRange bytes{start, start + graph_.tensor(id).size};
    return {ring == rings_.end() ? std::nullopt : std::optional(ring->second.ring), representative, bytes};
  }

 private:
  struct InRing {
    RingId ring;
    Bytes start;  ///< Where the class's representative lies in the ring.
  };

  const Graph& graph_;
  const Relations& relations_;
  std::map<TensorId, InRing> rings_;  ///< By representative.
};

}  // namespace

Status check_apart(const Graph& graph, const Relations& relations) {
  if (graph.apart().empty()) return Done{};
  const GivenPlaces places(graph, relations);
  const std::size_t count = graph.description().tensors.size();
  for (std::size_t i = 0; i < graph.apart().size(); ++i) {
    const auto [a, b] = graph.apart()[i];
    const std::string path = fmt::format("apart[{}]", i);
    for (const TensorId id : {a, b}) {
      if (id.index() >= count)
        return fault_at(path, fmt::format("names tensor {}, which does not exist in the graph's own list", id.index()));
    }
    if (a == b) return fault_at(path, describe(graph, a) + " cannot be kept apart from itself");
    if (places.of(a).overlaps(places.of(b)))
      return fault_at(path, fmt::format("{} and {} are to be kept apart, but a view, an alias, a body or a ring puts "
                                        "them on the same bytes",
                                        describe(graph, a), describe(graph, b)));
  }
  return Done{};
}

}  // namespace stowage::validation
