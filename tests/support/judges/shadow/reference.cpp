#include "support/judges/shadow/reference.hpp"

#include <algorithm>

#include "support/judges/shadow/groups.hpp"

namespace stowage::testing {
namespace {

std::vector<Extent> family_extents(const Graph& graph, const Families& families) {
  const bool constants = constants_have_bytes(graph);
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < families.families.size(); ++i) {
    const Family& family = families.families[i];
    const bool none = !constants && family.flags.has(TensorFlag::constant);
    extents.push_back({i, 0, none ? 0 : family.cells});
  }
  return extents;
}

}  // namespace

Reference::Reference(const Graph& graph, Bytes granularity)
    : families_(find_families(graph, granularity)),
      memory_(family_extents(graph, families_)),
      written_(families_.families.size()) {
  const std::vector<Extent> extents = family_extents(graph, families_);
  for (const Seat& seat : families_.seats) {
    const bool none = extents[seat.family].count == 0;
    tensors_.push_back(none ? std::span<std::byte>{} : memory_.at({seat.family, seat.first, seat.count}));
  }
}

void Reference::begin_run() {
  for (std::size_t i = 0; i < written_.size(); ++i) {
    if (!families_.families[i].flags.any_of(kOwnAddress)) written_[i].clear();
  }
}

void Reference::forget(ScopeId scope) {
  for (std::size_t i = 0; i < written_.size(); ++i) {
    const Family& family = families_.families[i];
    if (family.home == scope && !family.flags.any_of(kOwnAddress)) written_[i].clear();
  }
}

void Reference::mark_written(TensorId tensor) {
  const Seat& seat = families_.seats[tensor.index()];
  if (seat.count != 0) written_[seat.family].add(seat.first, seat.count);
}

Reference::Value Reference::take(TensorId tensor, std::size_t first, std::size_t count) const {
  const std::span<const std::byte> part = bytes(tensor).subspan(first, count);
  const Seat& seat = families_.seats[tensor.index()];
  return {{part.begin(), part.end()}, written_[seat.family].within(seat.first + first, count)};
}

void Reference::put(TensorId tensor, std::size_t first, const Value& value) {
  std::copy(value.bytes.begin(), value.bytes.end(), bytes(tensor).begin() + static_cast<std::ptrdiff_t>(first));
  const Seat& seat = families_.seats[tensor.index()];
  WrittenCells& written = written_[seat.family];
  written.remove(seat.first + first, value.bytes.size());
  for (const WrittenCells::Cells& part : value.written)
    written.add(seat.first + first + part.first, part.last - part.first);
}

std::vector<std::byte> Reference::mask(TensorId tensor) const {
  if (bytes(tensor).empty()) return {};
  const Seat& seat = families_.seats[tensor.index()];
  return written_[seat.family].mask(seat.first, seat.count);
}

bool Reference::is_absent(TensorId tensor) const {
  const Seat& seat = families_.seats[tensor.index()];
  return !bytes(tensor).empty() && written_[seat.family].within(seat.first, seat.count).empty();
}

std::uint64_t Reference::hash_of(TensorId tensor, std::uint64_t seed) const {
  // Where constants have no memory, their value is their number.
  if (flags(tensor).has(TensorFlag::constant) && bytes(tensor).empty()) return mix(mix(seed, 4), tensor.index());
  const std::vector<std::byte> undefined = mask(tensor);
  return hash({bytes(tensor), undefined});
}

}  // namespace stowage::testing
