#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "pack/greedy/blocks.hpp"

/// Gives blocks, by size, a host: a block that is at least as large, has room left besides the blocks that it already
/// hosts, and is unused whenever the guest is used, as are all blocks around it.
///
/// GE compares every pair of blocks. Here hosts are sorted by the room left in them, so that only those with enough
/// room are tried, and at most `kHostsAsked` of them: O(blocks × hosts tried × depth × items of a block × log).
namespace stowage::pack {
namespace {

constexpr std::uint32_t kMaxDepth = 100;
constexpr int kHostsAsked = 64;
constexpr std::size_t kBlocksBetweenLooks = 256;

class Nester {
 public:
  Nester(std::vector<Block>& blocks, const Sequence& sequence, bool descending)
      : blocks_(blocks), sequence_(sequence), descending_(descending), nests_(blocks.size()) {
    for (const Block& block : blocks) hosts_.resize(std::max<std::size_t>(hosts_.size(), block.regions + 1));
  }

  void run(const std::function<bool()>& stop) {
    std::vector<std::uint32_t> order(blocks_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (blocks_[a].size != blocks_[b].size) return (blocks_[a].size > blocks_[b].size) == descending_;
      return descending_ ? a > b : a < b;
    });
    // In descending order, blocks already processed can be hosts; in ascending order, blocks still to be processed.
    if (!descending_) std::for_each(order.begin(), order.end(), [&](std::uint32_t block) { add_host(block); });
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k % kBlocksBetweenLooks == kBlocksBetweenLooks - 1 && stop()) return;
      if (!descending_) remove_host(order[k]);
      nest(order[k]);
      if (descending_) add_host(order[k]);
    }
  }

 private:
  /// The state of a block as a host and as a guest.
  struct Nest {
    Bytes used = {};           ///< By guests.
    std::uint32_t depth = 0;   ///< Number of hosts around it.
    std::uint32_t height = 0;  ///< Levels of guests inside it.
    std::vector<std::uint32_t> guests = {};
  };

  [[nodiscard]] Bytes room(std::uint32_t block) const { return blocks_[block].size - nests_[block].used; }
  void add_host(std::uint32_t block) { hosts_[blocks_[block].regions].emplace(room(block), block); }
  void remove_host(std::uint32_t block) { hosts_[blocks_[block].regions].erase({room(block), block}); }

  void nest(std::uint32_t guest) {
    const std::set<std::pair<Bytes, std::uint32_t>>& hosts = hosts_[blocks_[guest].regions];
    const auto least = hosts.lower_bound({blocks_[guest].size, 0});
    auto next = descending_ ? hosts.end() : least;
    for (int asked = 0; asked < kHostsAsked && next != (descending_ ? least : hosts.end()); ++asked) {
      const std::uint32_t host = descending_ ? (--next)->second : (next++)->second;
      if (!fits(guest, host)) continue;
      move_in(guest, host);
      return;
    }
  }

  [[nodiscard]] bool fits(std::uint32_t guest, std::uint32_t host) const {
    if (blocks_[guest].alignment > blocks_[host].alignment) return false;
    if (align_up(nests_[host].used, blocks_[guest].alignment) + blocks_[guest].size > blocks_[host].size) return false;
    if (nests_[host].depth + nests_[guest].height + 1 > kMaxDepth) return false;
    for (std::uint32_t around = host; around != Block::kNone; around = blocks_[around].host) {
      if (!apart_from_all_of(guest, around)) return false;
    }
    return true;
  }

  /// Whether the guest, with its own guests, is never used at the same time as `around`.
  [[nodiscard]] bool apart_from_all_of(std::uint32_t guest, std::uint32_t around) const {
    if (!sequence_.apart(blocks_[guest].items, blocks_[around].items)) return false;
    const std::vector<std::uint32_t>& inside = nests_[guest].guests;
    return std::all_of(inside.begin(), inside.end(),
                       [&](std::uint32_t each) { return apart_from_all_of(each, around); });
  }

  void move_in(std::uint32_t guest, std::uint32_t host) {
    remove_host(host);
    blocks_[guest].host = host;
    blocks_[guest].offset = align_up(nests_[host].used, blocks_[guest].alignment);
    nests_[host].used = blocks_[guest].offset + blocks_[guest].size;
    nests_[host].height = std::max(nests_[host].height, nests_[guest].height + 1);
    nests_[host].guests.push_back(guest);
    nests_[guest].depth = nests_[host].depth + 1;
    add_host(host);
  }

  std::vector<Block>& blocks_;
  const Sequence& sequence_;
  bool descending_;
  std::vector<Nest> nests_;                                       ///< By block.
  std::vector<std::set<std::pair<Bytes, std::uint32_t>>> hosts_;  ///< By set of regions: room and block.
};

}  // namespace

void nest_blocks(std::vector<Block>& blocks, const Sequence& sequence, const ReuseKnobs& knobs,
                 const std::function<bool()>& stop) {
  Nester(blocks, sequence, knobs.sort == ReuseKnobs::Sort::descending).run(stop);
}

}  // namespace stowage::pack
