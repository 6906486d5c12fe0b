#pragma once

#include <cstdint>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::layout {

/// An index of rectangles in bytes × steps that finds those that overlap a given one.
///
/// A forest of balanced trees whose nodes store the bounding box of everything below them. New rectangles go into a
/// short list; when the list is full, it becomes a tree, merged with all trees that are not larger. So a rectangle is
/// sorted again O(log n) times, whatever the order of insertion. A node is split along the side on which its rectangles
/// are spread most, relative to the whole tree, so that many rectangles at one offset are separated by time, and many
/// at one time by offset. Rejected: sorting by offset or by time alone, because the parts of one large group are all
/// needed at the same time, and everything that loops hand over lies at one offset.
///
/// Adding takes O(log² n) amortised, a search O(log² n + answers) if few rectangles overlap
/// each other. Not thread-safe.
class RectangleIndex {
 public:
  struct Rectangle {
    ByteRange bytes;
    Interval steps;
    std::uint32_t id;
  };

  /// An empty rectangle overlaps nothing and is not stored.
  void add(const Rectangle& entry);

  /// Calls `f(const Rectangle&)` for entries that overlap the given rectangle until it returns
  /// true; returns whether it did.
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

  /// The number of rectangles stored.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Node {
    ByteRange bytes;
    Interval steps;
    std::size_t begin;
    std::size_t end;
    std::size_t next;  ///< The first node that is not in this subtree. The nodes of the subtree come directly after it.
  };
  struct Tree {
    std::vector<Rectangle> entries;
    std::vector<Node> nodes;  ///< Parents first.
  };

  static void build(Tree& tree, std::size_t begin, std::size_t end);

  std::vector<Rectangle> recent_;
  std::vector<Tree> trees_;  ///< Each smaller than the previous one.
  std::size_t size_ = 0;
};

}  // namespace stowage::layout
