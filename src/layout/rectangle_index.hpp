#pragma once

#include <cstdint>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::layout {

/// Rectangles of bytes and steps: which of them overlap this one?
///
/// A forest of balanced trees whose nodes know the hull of what is below them. What is added waits in a short list;
/// when that is full it becomes a tree, together with all trees that are not larger. So a rectangle is sorted anew
/// O(log n) times, whatever the order in which they come. Nodes are halved along the side on which their rectangles are
/// spread out the most, measured by the whole tree, so that many at one place are told apart by time, and many at one
/// time by place. Rejected: an order by place or by time alone, for parts of one large group are all needed at once,
/// and all that loops hand on lies at one place.
///
/// Adding takes O(log² n) amortised; a search O(log² n + answers) where few overlap each other. Not thread-safe.
class RectangleIndex {
 public:
  struct Rectangle {
    ByteRange bytes;
    Interval steps;
    std::uint32_t id;
  };

  /// An empty rectangle overlaps none, and is not kept.
  void add(const Rectangle& entry);

  /// Whether `f(const Rectangle&)` is true for an entry that overlaps the rectangle. It is not called again after that.
  template <class F>
  [[nodiscard]] bool any_overlapping(ByteRange bytes, Interval steps, F&& f) const {
    const auto hit = [&](const Rectangle& entry) {
      return entry.bytes.overlaps(bytes) && entry.steps.overlaps(steps) && f(entry);
    };
    for (const Rectangle& entry : recent_) {
      if (hit(entry)) return true;
    }
    for (const Tree& tree : trees_) {
      for (std::size_t n = 0; n < tree.nodes.size();) {
        const Node& node = tree.nodes[n];
        const bool near = node.bytes.overlaps(bytes) && node.steps.overlaps(steps);
        const bool leaf = node.next == n + 1;
        for (std::size_t i = node.begin; near && leaf && i < node.end; ++i) {
          if (hit(tree.entries[i])) return true;
        }
        n = near ? n + 1 : node.next;
      }
    }
    return false;
  }

  /// How many were added.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Node {
    ByteRange bytes;
    Interval steps;
    std::size_t begin;
    std::size_t end;
    std::size_t next;  ///< The first node that is not below this one. Those below follow it.
  };
  struct Tree {
    std::vector<Rectangle> entries;
    std::vector<Node> nodes;  ///< Parents first.
  };

  static void build(Tree& tree, std::size_t begin, std::size_t end);

  std::vector<Rectangle> recent_;
  std::vector<Tree> trees_;  ///< Each smaller than the one before.
  std::size_t size_ = 0;
};

}  // namespace stowage::layout
