#include "pack/greedy/blocks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "pack/bench.hpp"
#include "pack/greedy/greedy.hpp"

/// The algorithm of GE's block assigner, with its knobs.
///
/// 1. *Form*: items, in order of begin, take a free block of their size class, either the one released first or the one
///    released last, or a new one (form_blocks.cpp).
/// 2. *Nest*: blocks, by size, go into larger ones if their times allow it (nest_blocks.cpp).
/// 3. *Concatenate* the outermost blocks.
///
/// With pins, limits or several regions, the blocks are placed like items instead, together with the pinned items, by
/// size in the lowest gap; if that fails, the items themselves are placed that way. The knobs then affect which items
/// share bytes, not what is allowed.
///
/// It is offered because GE users know its results and may want exactly these. It wastes more memory than any other
/// solver (bench/README.md), because only whole blocks are shared. O(n log n) except for the nesting.
namespace stowage::pack {
namespace {

bool in_one_endless_region(const Problem& problem) {
  return problem.regions.size() == 1 && !problem.regions.front().limit &&
         std::none_of(problem.items.begin(), problem.items.end(),
                      [](const Item& item) { return item.pinned.has_value(); });
}

/// The offset of the block relative to the outermost block around it.
Bytes offset_in_outermost(const std::vector<Block>& blocks, std::size_t block) {
  Bytes offset;
  for (; blocks[block].host != Block::kNone; block = blocks[block].host) offset += blocks[block].offset;
  return offset;
}

std::size_t outermost(const std::vector<Block>& blocks, std::size_t block) {
  while (blocks[block].host != Block::kNone) block = blocks[block].host;
  return block;
}

/// Computes the positions of all items from those of the outermost blocks. Items without a block are left alone.
void take_positions(const std::vector<Block>& blocks, const std::vector<Position>& of_blocks,
                    std::vector<Position>& positions) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    Position at = of_blocks[outermost(blocks, b)];
    at.offset += offset_in_outermost(blocks, b);
    for (const std::uint32_t item : blocks[b].items) positions[item] = at;
  }
}

/// Nothing when that would exceed the largest size.
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

/// The problem with the outermost blocks as items.
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

  /// Adds the items of a block to the item that stands for its outermost block. With stream order, that item is in use
  /// as a whole, from the first of its items to the last.
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
    Item& copy = outer_.items.emplace_back(problem_.items[item]);
    for (Piece& piece : copy.pieces) piece.row = Piece::kOwnRow;  // as strict as the pieces' rows, or stricter
    outer_.order.append_row(problem_.order, item);
  }

  const Problem& problem_;
  const std::vector<Block>& blocks_;
  Problem outer_;
  std::vector<std::size_t> item_of_;  ///< By outermost block.
  std::vector<char> in_block_;        ///< By item.
  std::vector<std::size_t> alone_;    ///< Items in no block, in the order of the outer problem's last items.
};

std::optional<std::vector<Position>> place_blocks(const Bench& bench, const std::vector<Block>& blocks) {
  const BlockProblem outer(bench.problem(), blocks);
  if (!check_problem(outer.problem())) return std::nullopt;  // blocks are larger than their items, perhaps too large
  const Bench placing(outer.problem(), bench.options(), {});
  const std::optional<std::vector<Position>> positions = place_greedily(placing, PlacementOrder::size, Fit::lowest);
  if (!positions) return std::nullopt;
  return outer.positions(*positions);
}

}  // namespace

void solve_blocks(Bench& bench) {
  const Problem& problem = bench.problem();
  if (!problem.apart.empty()) return solve_first_fit_by_size(bench);  // blocks mix items that have nothing in common
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
