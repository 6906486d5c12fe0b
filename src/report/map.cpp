#include "report/map.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace stowage::report {
namespace {

constexpr std::size_t kLetters = 26;
constexpr std::size_t kLabel = 11;  // width of the row labels of a map over time
constexpr std::size_t kColumns = 80;
constexpr std::size_t kCells = kColumns - kLabel - 1;
constexpr std::size_t kRows = 16;

/// The middle of cell `i` of `count` in `whole`.
std::int64_t middle(std::int64_t whole, std::size_t i, std::size_t count) {
  const long double share = (static_cast<long double>(i) + 0.5L) / static_cast<long double>(count);
  return std::min(whole - 1, static_cast<std::int64_t>(share * static_cast<long double>(whole)));
}

std::map<std::size_t, char> letters_at(const BindingPeak& peak, std::size_t top) {
  std::map<std::size_t, char> letters;
  for (std::size_t rank = 0; rank < peak.held.size() && rank < top; ++rank)
    letters[peak.held[rank].item] = letter_of(rank);
  return letters;
}

/// The bytes that are occupied at a step, as the letters of their holders.
struct StepColumn {
  std::vector<std::pair<ByteRange, char>> blocks;

  [[nodiscard]] char at(Bytes offset) const {
    for (const auto& [bytes, letter] : blocks) {
      if (bytes.contains(offset)) return letter;
    }
    return '.';
  }
};

StepColumn column_at(const PlacedArena& arena, Step step, const std::map<std::size_t, char>& letters) {
  StepColumn column;
  for (std::size_t i = 0; i < arena.items.size(); ++i) {
    const auto letter = letters.find(i);
    for (const Piece& block : arena.items[i].blocks) {
      if (block.when.contains(step))
        column.blocks.emplace_back(block.bytes, letter == letters.end() ? '#' : letter->second);
    }
  }
  return column;
}

/// All items of a set, whatever their lifetimes.
StepColumn column_of(const PlacedArena& arena, const BindingPeak& peak, const std::map<std::size_t, char>& letters) {
  StepColumn column;
  for (const Held& held : peak.held) {
    for (const Piece& block : arena.items[held.item].blocks) {
      const auto letter = letters.find(held.item);
      column.blocks.emplace_back(block.bytes, letter == letters.end() ? '#' : letter->second);
    }
  }
  return column;
}

/// The fullest step of each column; the peak's own step in the column that contains it.
std::vector<Step> sampled_steps(const std::vector<Level>& levels, Step horizon, Step peak, std::size_t columns) {
  std::vector<Step> steps;
  std::size_t level = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    const auto edge = [&](std::size_t i) {
      return Step(static_cast<std::int64_t>(static_cast<long double>(horizon.value()) * static_cast<long double>(i) /
                                            static_cast<long double>(columns)));
    };
    const Interval part{edge(c), std::max(edge(c + 1), edge(c) + Step(1))};
    while (level + 1 < levels.size() && levels[level].steps.upper <= part.lower) ++level;
    Step best = part.lower;
    Bytes most(-1);
    for (std::size_t l = level; l < levels.size() && levels[l].steps.lower < part.upper; ++l) {
      if (levels[l].live <= most) continue;
      most = levels[l].live;
      best = std::max(part.lower, levels[l].steps.lower);
    }
    steps.push_back(part.contains(peak) ? peak : best);
  }
  return steps;
}

}  // namespace

char letter_of(std::size_t rank) { return rank < kLetters ? static_cast<char>('A' + rank) : '#'; }

std::vector<std::string> map_at(const PlacedArena& arena, Bytes size, const BindingPeak& peak, std::size_t top) {
  if (size <= Bytes(0)) return {};
  const std::map<std::size_t, char> letters = letters_at(peak, top);
  const StepColumn column = arena.concurrent() ? column_of(arena, peak, letters) : column_at(arena, peak.at, letters);
  std::string cells;
  for (std::size_t c = 0; c < kColumns - 2; ++c) cells += column.at(Bytes(middle(size.value(), c, kColumns - 2)));
  const std::string end = to_human(size);
  const std::size_t gap = kColumns - 1 - end.size();
  return {"|" + cells + "|", fmt::format("0{:>{}}{}", "", gap, end)};
}

std::vector<std::string> map_over_time(const Scene& scene, const PlacedArena& arena, const BindingPeak& peak,
                                       std::size_t top) {
  const Bytes size = scene.plan().arenas[arena.number.index()].size;
  const Step horizon = scene.liveness().timeline.horizon();
  if (size <= Bytes(0)) return {};
  const std::map<std::size_t, char> letters = letters_at(peak, top);
  const std::size_t columns = std::min(kCells, static_cast<std::size_t>(horizon.value()));
  const std::vector<Step> steps = sampled_steps(live_levels(arena, horizon), horizon, peak.at, columns);
  std::vector<std::string> rows(kRows);
  std::string marks;
  for (const Step step : steps) {
    const StepColumn column = column_at(arena, step, letters);
    for (std::size_t r = 0; r < kRows; ++r) rows[r] += column.at(Bytes(middle(size.value(), kRows - 1 - r, kRows)));
    marks += step == peak.at ? '^' : ' ';
  }
  std::vector<std::string> lines;
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::string label = r == 0 ? to_human(size) : r + 1 == kRows ? "0" : "";
    lines.push_back(fmt::format("{:>{}}|{}", label, kLabel - 1, rows[r]));
  }
  lines.push_back(
      fmt::format("{:>{}} {} peak at step {}", "", kLabel - 1, marks.substr(0, marks.find('^') + 1), peak.at.value()));
  if (lines.back().size() > kColumns) lines.back() = fmt::format("{:>{}} {}", "", kLabel - 1, marks);
  return lines;
}

}  // namespace stowage::report
