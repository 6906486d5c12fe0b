#include "pack/index/valley_list.hpp"

#include <algorithm>

namespace stowage::pack {

void ValleyList::reset(std::uint32_t sections) {
  stretches_.assign(std::size_t{sections} + 1, {kNoLevel, sections, 0});
  open(0, sections, 0);
  cursor_ = 0;
}

ValleyList::Valley ValleyList::find() {
  for (;;) {
    const Stretch& here = stretches_[cursor_];
    const std::int64_t left = cursor_ == 0 ? kNoLevel : stretches_[here.previous].level;
    const std::int64_t right = stretches_[here.end].level;
    if (left > here.level && right > here.level) return {here.level, std::min(left, right), cursor_, here.end};
    cursor_ = left < here.level ? here.previous : here.end;
  }
}

/// Makes [begin, end) a stretch. The caller must set its `previous`.
void ValleyList::open(std::uint32_t begin, std::uint32_t end, std::int64_t level) {
  stretches_[begin].level = level;
  stretches_[begin].end = end;
  stretches_[end].previous = begin;
}

void ValleyList::lift(const Valley& valley, std::uint32_t first, std::uint32_t last, std::int64_t level) {
  std::uint32_t end = last;
  if (last < valley.end) {
    open(last, valley.end, valley.level);
    cursor_ = last;
  } else if (stretches_[last].level == level) {
    end = stretches_[last].end;
    stretches_[last].level = kNoLevel;
  }
  if (first > valley.begin) {
    open(valley.begin, first, valley.level);
    open(first, end, level);
    cursor_ = valley.begin;
    return;
  }
  const std::uint32_t left = stretches_[first].previous;
  const bool joins = first > 0 && stretches_[left].level == level;
  if (joins) stretches_[first].level = kNoLevel;
  open(joins ? left : first, end, level);
  if (last == valley.end) cursor_ = joins ? left : first;
}

}  // namespace stowage::pack
