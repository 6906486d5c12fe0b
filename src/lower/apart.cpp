#include "lower/apart.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace stowage {
namespace {

/// Bytes of an item.
struct Seat {
  std::uint32_t item;
  ByteRange bytes;
};

/// Absent for all bytes of the item.
std::optional<ByteRange> bytes_of(const Seat& seat, const Item& item) {
  const bool all = seat.bytes.lower == Bytes(0) && seat.bytes.upper >= item.size;
  return all ? std::nullopt : std::optional(seat.bytes);
}

/// Finds tensors in the items of one arena.
class Seats {
 public:
  Seats(const Graph& graph, const Layout& layout, const ArenaProblem& arena)
      : graph_(graph), layout_(layout), item_of_(layout.storages.size(), kNone) {
    for (std::uint32_t i = 0; i < arena.occupants.size(); ++i) {
      if (const auto* storage = std::get_if<StorageId>(&arena.occupants[i])) item_of_[storage->index()] = i;
      if (const auto* host = std::get_if<HostTensor>(&arena.occupants[i])) hosts_[layout.class_of(host->tensor)] = i;
    }
  }

  /// Nothing if the tensor is elsewhere.
  [[nodiscard]] std::optional<Seat> of(TensorId tensor) const {
    const ClassId id = layout_.class_of(tensor);
    const Bytes size = graph_.tensor(tensor).size;
    if (const auto host = hosts_.find(id); host != hosts_.end()) {
      const Bytes offset = layout_.sharing.place(tensor).offset;
      return Seat{host->second, {offset, offset + size}};
    }
    if (!is_resident(layout_.residences[id])) return std::nullopt;
    const std::uint32_t item = item_of_[layout_.positions[id].storage.index()];
    const Bytes offset = layout_.offset_in_storage(tensor);
    return item == kNone ? std::nullopt : std::optional(Seat{item, {offset, offset + with_padding(tensor)}});
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The padding behind a class belongs to each of its tensors that ends last.
  [[nodiscard]] Bytes with_padding(TensorId tensor) const {
    const ClassId id = layout_.class_of(tensor);
    const Bytes offset = layout_.sharing.place(tensor).offset;
    const Bytes size = graph_.tensor(tensor).size;
    const bool is_last = size > Bytes(0) && offset + size == layout_.classes[id].size;
    return is_last ? layout_.footprint(id) - offset : size;
  }

  const Graph& graph_;
  const Layout& layout_;
  std::vector<std::uint32_t> item_of_;      ///< By storage.
  std::map<ClassId, std::uint32_t> hosts_;  ///< By class that lies in a caller's buffer.
};

}  // namespace

std::vector<ApartPair> find_apart(const Graph& graph, const Layout& layout, const ArenaProblem& arena) {
  std::vector<ApartPair> pairs;
  if (graph.apart().empty()) return pairs;
  const Seats seats(graph, layout, arena);
  for (const ApartTensors& pair : graph.apart()) {
    std::optional<Seat> a = seats.of(pair.a);
    std::optional<Seat> b = seats.of(pair.b);
    if (!a || !b || a->item == b->item || a->bytes.empty() || b->bytes.empty()) continue;
    if (a->item > b->item) std::swap(a, b);
    const std::vector<Item>& items = arena.problem.items;
    pairs.push_back({a->item, b->item, bytes_of(*a, items[a->item]), bytes_of(*b, items[b->item])});
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

}  // namespace stowage
