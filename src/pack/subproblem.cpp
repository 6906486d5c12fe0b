#include "pack/subproblem.hpp"

#include <vector>

namespace stowage::pack {

Problem subproblem(const Problem& problem, std::span<const std::size_t> items) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  Problem part{.items = {}, .regions = problem.regions, .order = {}, .capacity = problem.capacity};
  part.order.streams = problem.order.streams;
  std::vector<std::uint32_t> number(problem.items.size(), kNone);
  for (const std::size_t i : items) {
    number[i] = static_cast<std::uint32_t>(part.items.size());
    part.items.push_back(problem.items[i]);
    if (!problem.order.empty()) part.order.append_row(problem.order, i);
  }
  for (Item& item : part.items) {
    for (Piece& piece : item.pieces) {
      if (piece.row == Piece::kOwnRow) continue;
      part.order.append_row(problem.order, piece.row);
      piece.row = static_cast<std::uint32_t>(part.order.rows() - 1);
    }
  }
  const auto both = [&](const auto& pair) { return number[pair.a] != kNone && number[pair.b] != kNone; };
  for (const Join& join : problem.joins) {
    if (both(join)) part.joins.push_back({number[join.a], number[join.b], join.distance});
  }
  for (const ApartPair& pair : problem.apart) {
    if (both(pair)) part.apart.push_back({number[pair.a], number[pair.b], pair.of_a, pair.of_b});
  }
  return part;
}

}  // namespace stowage::pack
