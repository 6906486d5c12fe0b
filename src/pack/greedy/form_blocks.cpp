#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "pack/greedy/blocks.hpp"

namespace stowage::pack {
namespace {

/// With stream order, a free block may not be over for a particular item. This many blocks are tried.
constexpr int kBlocksAsked = 64;

/// The blocks of one size class.
struct SizeClass {
  Bytes largest;  ///< The largest of its items.
  std::uint32_t regions = 0;
  /// The end of the block's last life, and the block.
  std::set<std::pair<Step, std::uint32_t>> by_release = {};
};

class Former {
 public:
  Former(const Problem& problem, const Sequence& sequence, const ReuseKnobs& knobs)
      : problem_(problem), sequence_(sequence), knobs_(knobs) {}

  std::vector<Block> form() {
    std::vector<std::uint32_t> items;
    for (std::uint32_t i = 0; i < problem_.items.size(); ++i) {
      if (problem_.items[i].pinned || problem_.items[i].size == Bytes(0)) continue;
      items.push_back(i);
      SizeClass& own = class_of(i);
      own.largest = std::max(own.largest, problem_.items[i].size);
    }
    std::sort(items.begin(), items.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(sequence_.life(a).lower, a) < std::pair(sequence_.life(b).lower, b);
    });
    for (const std::uint32_t item : items) add(item, class_of(item));
    return std::move(blocks_);
  }

 private:
  [[nodiscard]] std::int64_t class_number(Bytes size) const {
    switch (knobs_.size_classes) {
      case ReuseKnobs::SizeClasses::exact:
        return size.value();
      case ReuseKnobs::SizeClasses::range:
        return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(size.value() - 1)));
      case ReuseKnobs::SizeClasses::one:
        return 0;
    }
    return 0;
  }

  SizeClass& class_of(std::uint32_t item) {
    const std::vector<std::uint32_t>& only = problem_.items[item].allowed;
    const auto regions = region_sets_.try_emplace(only, static_cast<std::uint32_t>(region_sets_.size())).first->second;
    SizeClass& own = classes_[{regions, class_number(problem_.items[item].size)}];
    own.regions = regions;
    return own;
  }

  void add(std::uint32_t item, SizeClass& own) {
    const std::uint32_t block = take_free(item, own);
    blocks_[block].items.push_back(item);
    blocks_[block].alignment = std::max(blocks_[block].alignment, problem_.items[item].alignment);
    own.by_release.emplace(sequence_.life(item).upper, block);
  }

  /// Removes a free block that is over for `item` from the class, or makes a new block.
  std::uint32_t take_free(std::uint32_t item, SizeClass& own) {
    auto& blocks = own.by_release;
    const bool oldest = knobs_.release == ReuseKnobs::Release::first;
    const auto released = blocks.upper_bound({sequence_.life(item).lower, Block::kNone});
    auto next = oldest ? blocks.begin() : released;
    for (int asked = 0; asked < kBlocksAsked && next != (oldest ? released : blocks.begin()); ++asked) {
      const auto candidate = oldest ? next++ : --next;
      const std::uint32_t block = candidate->second;
      if (!sequence_.before(blocks_[block].items.back(), item)) continue;
      blocks.erase(candidate);
      return block;
    }
    blocks_.push_back({.items = {}, .size = own.largest, .regions = own.regions});
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }

  const Problem& problem_;
  const Sequence& sequence_;
  ReuseKnobs knobs_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> region_sets_;
  std::map<std::pair<std::uint32_t, std::int64_t>, SizeClass> classes_;  ///< By set of regions and size class number.
  std::vector<Block> blocks_;
};

}  // namespace

Sequence::Sequence(const Problem& problem) : problem_(problem), uses_(problem.order) {
  lives_.reserve(problem.items.size());
  for (const Item& item : problem.items) lives_.push_back(item.life());
}

bool Sequence::apart(std::span<const std::uint32_t> items, std::span<const std::uint32_t> others) const {
  if (items.size() > others.size()) std::swap(items, others);
  // "Comes before" is transitive. So if an item comes after one item of an ordered list and before the next, that holds
  // for all earlier and all later ones too.
  return std::all_of(items.begin(), items.end(), [&](std::uint32_t item) {
    const auto next = std::partition_point(
        others.begin(), others.end(), [&](std::uint32_t other) { return lives_[other].lower <= lives_[item].lower; });
    return (next == others.begin() || before(*std::prev(next), item)) && (next == others.end() || before(item, *next));
  });
}

std::vector<Block> form_blocks(const Problem& problem, const Sequence& sequence, const ReuseKnobs& knobs) {
  return Former(problem, sequence, knobs).form();
}

}  // namespace stowage::pack
