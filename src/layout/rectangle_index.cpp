#include "layout/rectangle_index.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace stowage::layout {
namespace {

using Rectangle = RectangleIndex::Rectangle;

constexpr std::size_t kRecent = 16;
constexpr std::size_t kLeaf = 4;

template <class T>
void extend(Range<T>& hull, const Range<T>& range) {
  hull = {std::min(hull.lower, range.lower), std::max(hull.upper, range.upper)};
}

/// Twice the middle, as a double, which cannot overflow.
template <class T>
double middle(const Range<T>& range) {
  return static_cast<double>(range.lower.value()) + static_cast<double>(range.upper.value());
}

/// The distance between the lowest and the highest middle.
template <class Side>
double spread(std::span<const Rectangle> entries, Side side) {
  const auto [least, most] =
      std::minmax_element(entries.begin(), entries.end(),
                          [&](const Rectangle& a, const Rectangle& b) { return middle(a.*side) < middle(b.*side); });
  return middle((*most).*side) - middle((*least).*side);
}

template <class Side>
void halve(std::span<Rectangle> entries, Side side) {
  std::nth_element(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(entries.size() / 2), entries.end(),
                   [&](const Rectangle& a, const Rectangle& b) { return middle(a.*side) < middle(b.*side); });
}

}  // namespace

void RectangleIndex::add(const Rectangle& entry) {
  if (entry.bytes.empty() || entry.steps.empty()) return;
  ++size_;
  recent_.push_back(entry);
  if (recent_.size() < kRecent) return;
  Tree tree{std::exchange(recent_, {}), {}};
  while (!trees_.empty() && trees_.back().entries.size() <= tree.entries.size()) {
    tree.entries.insert(tree.entries.end(), trees_.back().entries.begin(), trees_.back().entries.end());
    trees_.pop_back();
  }
  build(tree, 0, tree.entries.size());
  trees_.push_back(std::move(tree));
}

void RectangleIndex::build(Tree& tree, std::size_t begin, std::size_t end) {
  const std::size_t self = tree.nodes.size();
  const std::span<Rectangle> entries = std::span(tree.entries).subspan(begin, end - begin);
  Node node{entries.front().bytes, entries.front().steps, begin, end, 0};
  for (const Rectangle& entry : entries) {
    extend(node.bytes, entry.bytes);
    extend(node.steps, entry.steps);
  }
  tree.nodes.push_back(node);
  if (entries.size() > kLeaf) {
    const Node& whole = tree.nodes.front();
    const double bytes = spread(entries, &Rectangle::bytes) * static_cast<double>(whole.steps.length().value());
    const double steps = spread(entries, &Rectangle::steps) * static_cast<double>(whole.bytes.length().value());
    bytes >= steps ? halve(entries, &Rectangle::bytes) : halve(entries, &Rectangle::steps);
    build(tree, begin, begin + entries.size() / 2);
    build(tree, begin + entries.size() / 2, end);
  }
  tree.nodes[self].next = tree.nodes.size();
}

}  // namespace stowage::layout
