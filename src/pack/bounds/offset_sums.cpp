#include "pack/bounds/offset_sums.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "pack/grain.hpp"
#include "plan/interface/offset_check.hpp"

namespace stowage::pack {
namespace {

constexpr std::size_t kMaxUnits = 4096;

/// A set of offsets up to a target, in units.
class Offsets {
 public:
  explicit Offsets(std::size_t target) : target_(target), words_(target / 64 + 1) {}

  void insert(std::size_t x) { words_[x / 64] |= std::uint64_t{1} << x % 64; }
  /// Adds each offset of the set plus `distance`.
  void add_shifted(std::size_t distance) {
    const std::size_t whole = distance / 64;
    const std::size_t part = distance % 64;
    for (std::size_t w = words_.size(); w-- > whole;) {
      std::uint64_t word = words_[w - whole] << part;
      if (part > 0 && w > whole) word |= words_[w - whole - 1] >> (64 - part);
      words_[w] |= word;
    }
  }
  /// Adds each offset of the set plus 0, 1, … up to `distance`.
  void spread(std::size_t distance) {
    for (std::size_t done = 0; done < distance;) {
      const std::size_t more = std::min(done + 1, distance - done);
      add_shifted(more);
      done += more;
    }
  }
  void intersect(const Offsets& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
  }
  /// The first offset of the set that is at least `x`; above the target when there is none.
  [[nodiscard]] std::size_t next(std::size_t x) const {
    if (x > target_) return target_ + 1;
    std::uint64_t word = words_[x / 64] >> x % 64 << x % 64;
    for (std::size_t w = x / 64;; word = words_[w]) {
      if (word != 0) return std::min(target_ + 1, w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
      if (++w == words_.size()) return target_ + 1;
    }
  }

 private:
  std::size_t target_;
  std::vector<std::uint64_t> words_;
};

class Sums {
 public:
  Sums(const Plain& plain, std::int64_t unit)
      : plain_(plain), unit_(unit), rows_(plain.sections()), found_(plain.count()) {
    for (std::uint32_t i = 0; i < plain.count(); ++i) {
      for (std::uint32_t s = plain.first[i]; s < plain.last[i]; ++s) rows_[s].push_back(i);
    }
  }

  /// The fullest sections in [first, last), at most kOffsetSections.
  [[nodiscard]] std::vector<std::uint32_t> fullest(std::uint32_t first, std::uint32_t last) const {
    std::vector<std::uint32_t> sections(last - first);
    std::iota(sections.begin(), sections.end(), first);
    const std::size_t keep = std::min(kOffsetSections, sections.size());
    const auto fuller = [&](std::uint32_t a, std::uint32_t b) {
      return plain_.total[a] != plain_.total[b] ? plain_.total[a] > plain_.total[b] : a < b;
    };
    std::partial_sort(sections.begin(), sections.begin() + static_cast<std::ptrdiff_t>(keep), sections.end(), fuller);
    sections.resize(keep);
    return sections;
  }

  /// Whether no order of the section's largest items has a peak of at most `target`. Precondition: the target is at
  /// least the live bytes.
  [[nodiscard]] bool refutes(std::uint32_t section, std::size_t target) {
    std::vector<std::uint32_t> items = rows_[section];
    const std::size_t keep = std::min(plan::kOrderedItems, items.size());
    std::partial_sort(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(keep), items.end(),
                      [&](std::uint32_t a, std::uint32_t b) {
                        return plain_.size[a] != plain_.size[b] ? plain_.size[a] > plain_.size[b] : a < b;
                      });
    items.resize(keep);
    std::vector<const Offsets*> offsets;
    for (const std::uint32_t i : items) offsets.push_back(&offsets_of(i, target));
    // Usually the first order tried fits.
    std::size_t top = 0;
    for (std::size_t k = 0; k < keep; ++k) top = offsets[k]->next(top) + units(plain_.size[items[k]]);
    if (top <= target) return false;
    // By set of placed items: the smallest height that they need.
    std::vector<std::size_t> height(std::size_t{1} << keep, target + 1);
    height[0] = 0;
    for (std::size_t set = 1; set < height.size(); ++set) {
      for (std::size_t k = 0; k < keep; ++k) {
        if (!(set >> k & 1U)) continue;
        const std::size_t under = height[set & ~(std::size_t{1} << k)];
        height[set] = std::min(height[set], offsets[k]->next(under) + units(plain_.size[items[k]]));
      }
    }
    return height.back() > target;
  }

 private:
  [[nodiscard]] std::size_t units(std::int64_t bytes) const { return static_cast<std::size_t>(bytes / unit_); }

  /// Cached per target, because full sections have most items in common.
  const Offsets& offsets_of(std::uint32_t i, std::size_t target) {
    if (target != target_) found_.assign(plain_.count(), std::nullopt);
    target_ = target;
    if (!found_[i]) found_[i] = find_offsets(i, target);
    return *found_[i];
  }

  [[nodiscard]] Offsets find_offsets(std::uint32_t i, std::size_t target) const {
    Offsets result(target);
    const std::size_t stride = std::max<std::size_t>(1, units(plain_.alignment[i]));
    for (std::size_t x = 0; x + units(plain_.size[i]) <= target; x += stride) result.insert(x);
    for (const std::uint32_t s : fullest(plain_.first[i], plain_.last[i])) {
      Offsets sums(target);
      sums.insert(0);
      for (const std::uint32_t other : rows_[s]) {
        if (other != i) sums.add_shifted(units(plain_.size[other]));
      }
      sums.spread(target - units(plain_.total[s]));
      result.intersect(sums);
    }
    return result;
  }

  const Plain& plain_;
  std::int64_t unit_;
  std::vector<std::vector<std::uint32_t>> rows_;  ///< By section: its items.
  std::size_t target_ = 0;
  std::vector<std::optional<Offsets>> found_;  ///< By item, for `target_`.
};

/// A step at which all items of the section are live.
Step step_of(const Problem& problem, const Plain& plain, std::uint32_t section) {
  Step step;
  bool any = false;
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    if (section < plain.first[i] || plain.last[i] <= section) continue;
    const Step begin = problem.items[plain.item[i]].pieces.front().when.lower;
    step = any ? std::max(step, begin) : begin;
    any = true;
  }
  return step;
}

}  // namespace

std::optional<Certificate> offset_sums_bound(const Problem& problem, const Plain& plain, Bytes from, Bytes peak) {
  std::optional<Certificate> best;
  if (plain.count() == 0) return best;
  const std::int64_t unit = grain_of(problem);
  const auto least = static_cast<std::size_t>((std::max(from.value(), plain.bound) + unit - 1) / unit);
  const std::size_t most = std::min(kMaxUnits, static_cast<std::size_t>(peak.value() / unit));
  if (least >= most) return best;
  Sums sums(plain, unit);
  std::size_t possible = least;  // everything below is refuted
  for (const std::uint32_t section : sums.fullest(0, plain.sections())) {
    if (possible >= most || !sums.refutes(section, possible)) continue;
    std::size_t refuted = possible;
    for (std::size_t end = most; end - refuted > 1;) {
      const std::size_t middle = refuted + (end - refuted) / 2;
      (sums.refutes(section, middle) ? refuted : end) = middle;
    }
    possible = refuted + 1;
    const Bytes bytes(static_cast<std::int64_t>(possible) * unit);
    best = {Certificate::Argument::offset_sums, bytes, step_of(problem, plain, section), 0};
  }
  return best;
}

}  // namespace stowage::pack
