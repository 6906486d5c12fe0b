#include "pack/grain.hpp"

#include <numeric>

namespace stowage::pack {

std::int64_t grain_of(const Problem& problem) {
  std::int64_t divisor = 0;
  const auto include = [&](Bytes bytes) { divisor = std::gcd(divisor, bytes.value()); };
  for (const Item& item : problem.items) {
    if (item.size == Bytes(0)) continue;
    include(item.size);
    if (item.alignment > Bytes(1)) include(item.alignment);
    if (item.pinned) include(*item.pinned);
    for (const Piece& piece : item.pieces) {
      include(piece.bytes.lower);
      include(piece.bytes.upper);
    }
  }
  for (const Join& join : problem.joins) include(join.distance);
  for (const ApartPair& pair : problem.apart) {
    for (const std::optional<ByteRange>& bytes : {pair.of_a, pair.of_b}) {
      if (!bytes) continue;
      include(bytes->lower);
      include(bytes->upper);
    }
  }
  return std::max<std::int64_t>(1, divisor);
}

}  // namespace stowage::pack
