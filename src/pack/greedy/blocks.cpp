#include "pack/greedy/blocks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "pack/bench.hpp"
#include "pack/greedy/greedy.hpp"

/// What GE's block assigner does, with its knobs.
///
/// 1. *Form*: items, in order of their beginning, take a free block of their size class, the one that was released
/// first or last,
///    or a new one (form_blocks.cpp).
/// 2. *Nest*: blocks, by size, go into larger ones where their times allow (nest_blocks.cpp).
/// 3. *Concatenate* the blocks that lie in no other.
///
/// Where there are pins, limits or several regions, the blocks are instead placed as if each were an item, with the
/// pinned ones, by size in the lowest gap; where that fails, the items are placed so. Knobs then change what shares
/// bytes, not what is allowed.
///
/// It is here because its users know what it gives them and may want just that; it leaves more unused than any of the
/// others (bench/README.md), because bytes are shared by whole blocks only. O(n log n) except for the nesting.
namespace stowage::pack {
namespace {

bool in_one_endless_region(const Problem& problem) {
  return problem.regions.size() == 1 && !problem.regions.front().limit &&
         std::none_of(problem.items.begin(), problem.items.end(),
                      [](const Item& item) { return item.pinned.has_value(); });
}

/// Where the block begins, from the beginning of the one that lies in no other.
Bytes offset_in_outermost(const std::vector<Block>& blocks, std::size_t block) {
  Bytes offset;
  for (; blocks[block].host != Block::kNone; block = blocks[block].host) offset += blocks[block].offset;
  return offset;
}

std::size_t outermost(const std::vector<Block>& blocks, std::size_t block) {
  while (blocks[block].host != Block::kNone) block = blocks[block].host;
  return block;
}

/// Positions of all items, from those of the blocks that lie in no other. Items without a block stay as they are.
void take_positions(const std::vector<Block>& blocks, const std::vector<Position>& of_blocks,
                    std::vector<Position>& positions) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    Position at = of_blocks[outermost(blocks, b)];
    at.offset += offset_in_outermost(blocks, b);
    for (const std::uint32_t item : blocks[b].items) positions[item] = at;
  }
}

/// Nothing when that leads above the limit of sizes.
std::optional<std::vector<Position>> concatenate(const Problem& problem, const std::vector<Block>& blocks) {
  std::vector<Position> of_blocks(blocks.size());
  Bytes top;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].host != Block::kNone) continue;
    const std::optional<Bytes> room = add_within_limit(blocks[b].size, blocks[b].alignment);
    if (!room || !add_within_limit(top, *room)) return std::nullopt;
    of_blocks[b].offset = align_up(top, blocks[b].alignment);
    top = of_blocks[b].offset + blocks[b].size;
  }
  std::vector<Position> positions(problem.items.size());
  take_positions(blocks, of_blocks, positions);
  return positions;
}

/// The problem with blocks for items.
class BlockProblem {
 public:
  BlockProblem(const Problem& problem, const std::vector<Block>& blocks)
      : problem_(problem), blocks_(blocks), item_of_(blocks.size()), in_block_(problem.items.size()) {
    outer_ = {.items = {}, .regions = problem.regions, .order = {}, .capacity = {}};
    outer_.order.streams = problem.order.streams;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (const std::uint32_t item : blocks[b].items) in_block_[item] = 1;
      if (blocks[b].host == Block::kNone) add_outermost(b);
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) add_items(b);
    for (std::size_t i = 0; i < problem.items.size(); ++i) {
      if (in_block_[i] == 0) add_alone(i);
    }
  }

  [[nodiscard]] const Problem& problem() const { return outer_; }

  [[nodiscard]] std::vector<Position> positions(const std::vector<Position>& outer) const {
    std::vector<Position> of_blocks(blocks_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) of_blocks[b] = outer[item_of_[outermost(blocks_, b)]];
    std::vector<Position> positions(problem_.items.size());
    for (std::size_t k = 0; k < alone_.size(); ++k) positions[alone_[k]] = outer[outer.size() - alone_.size() + k];
    take_positions(blocks_, of_blocks, positions);
    return positions;
  }

 private:
  void add_outermost(std::size_t block) {
    item_of_[block] = outer_.items.size();
    outer_.items.push_back({.pieces = {},
                            .size = blocks_[block].size,
                            .alignment = blocks_[block].alignment,
                            .pinned = {},
                            .allowed = problem_.items[blocks_[block].items.front()].allowed});
    outer_.order.threshold.resize(outer_.items.size() * problem_.order.streams, Step(0));
    outer_.order.first.resize(outer_.items.size() * problem_.order.streams, kNever);
  }

  /// To the item that stands for the block around them. With stream order that one is in use as a whole, from the first
  /// of its items to the last.
  void add_items(std::size_t block) {
    const std::size_t into = item_of_[outermost(blocks_, block)];
    const Bytes offset = offset_in_outermost(blocks_, block);
    Item& item = outer_.items[into];
    for (const std::uint32_t each : blocks_[block].items) {
      for (const Piece& piece : problem_.items[each].pieces) {
        const ByteRange bytes{piece.bytes.lower + offset, piece.bytes.upper + offset};
        item.pieces.push_back({piece.when, bytes});
      }
      merge_row(each, into);
    }
    if (problem_.order.empty()) return;
    item.pieces = {{item.life(), {Bytes(0), item.size}}};
  }

  void merge_row(std::size_t item, std::size_t into) {
    const std::size_t streams = problem_.order.streams;
    for (std::size_t s = 0; s < streams; ++s) {
      Step& threshold = outer_.order.threshold[into * streams + s];
      Step& first = outer_.order.first[into * streams + s];
      threshold = std::max(threshold, problem_.order.threshold[item * streams + s]);
      first = std::min(first, problem_.order.first[item * streams + s]);
    }
  }

  void add_alone(std::size_t item) {
    alone_.push_back(item);
    outer_.items.push_back(problem_.items[item]);
    outer_.order.append_row(problem_.order, item);
  }

  const Problem& problem_;
  const std::vector<Block>& blocks_;
  Problem outer_;
  std::vector<std::size_t> item_of_;  ///< By block that lies in no other.
  std::vector<char> in_block_;        ///< By item.
  std::vector<std::size_t> alone_;    ///< Items in no block, in the order of the outer problem's last items.
};

std::optional<std::vector<Position>> place_blocks(const Bench& bench, const std::vector<Block>& blocks) {
  const BlockProblem outer(bench.problem(), blocks);
  if (!check_problem(outer.problem())) return std::nullopt;  // Blocks are larger than their items: too large, even.
  const Bench placing(outer.problem(), bench.options(), {});
  const std::optional<std::vector<Position>> positions = place_greedily(placing, PlacementOrder::size, Fit::lowest);
  if (!positions) return std::nullopt;
  return outer.positions(*positions);
}

}  // namespace

void solve_blocks(Bench& bench) {
  const Problem& problem = bench.problem();
  const ReuseKnobs& knobs = bench.options().reuse;
  const Sequence sequence(problem);
  std::vector<Block> blocks = form_blocks(problem, sequence, knobs);
  nest_blocks(blocks, sequence, knobs, [&] { return bench.stop_requested(); });
  std::optional<std::vector<Position>> positions =
      in_one_endless_region(problem) ? concatenate(problem, blocks) : place_blocks(bench, blocks);
  if (!positions) positions = place_greedily(bench, PlacementOrder::size, Fit::lowest);
  if (positions) bench.offer(std::move(*positions), "blocks");
}

}  // namespace stowage::pack
