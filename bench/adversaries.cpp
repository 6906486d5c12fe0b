#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "generate_problems.hpp"

/// How each heuristic is misled.
///
/// **Online best fit** does not know how long an item will live. Robson's adversary lets it fill memory with small
/// items, keeps one in each window of twice their size, and requests items of the window's size, for which no gap is
/// large enough; and so on. Half of the live bytes are renewed in each round and are placed on top of everything else:
/// after r rounds the peak is 1 + r / 2 times the bound.
///
/// **A fixed order** is misled by four items in a row that overlap only their neighbours, a–b–c–d. Two levels are
/// enough, unless a and d come first: then both are placed at the bottom, b on a, and c, which overlaps b and d, on top
/// of all. That exceeds the bound by half. In each family below, only the order that the family targets begins with a
/// and d.
///
/// **The skyline** knows the remaining items, but looks no further than the next one. Problems without gaps punish any
/// mistake; these few were found by trial.
namespace stowage::bench {
namespace {

Item make_item(std::int64_t begin, std::int64_t end, std::int64_t size) {
  return {.pieces = {{{Step(begin), Step(end)}, {Bytes(0), Bytes(size)}}}, .size = Bytes(size)};
}

/// Plays Robson's game. It knows where best fit will place each item: always on top.
class Robson {
 public:
  explicit Robson(std::int64_t window_bytes) : half_(window_bytes) {}

  Problem play(std::int64_t rounds) {
    ask(2 * half_, 1);
    for (std::int64_t round = 1; round <= rounds; ++round) {
      end_all_but(std::int64_t{1} << round);
      ask(half_ >> round, std::int64_t{1} << round);
    }
    end_all_but(0);
    return std::move(problem_);
  }

 private:
  static constexpr std::int64_t kUnit = 1024;

  struct Live {
    std::size_t item;
    std::int64_t offset;
  };

  void ask(std::int64_t count, std::int64_t size) {
    for (std::int64_t i = 0; i < count; ++i) {
      live_.push_back({problem_.items.size(), top_});
      problem_.items.push_back(make_item(now_++, 0, size * kUnit));
      top_ += size;
    }
  }

  /// In each window, only an item that begins at its start survives; without windows, none does.
  void end_all_but(std::int64_t window) {
    std::erase_if(live_, [&](const Live& live) {
      if (window > 0 && live.offset % window == 0) return false;
      problem_.items[live.item].pieces.front().when.upper = Step(now_);
      return true;
    });
  }

  std::int64_t half_;  ///< Of the bound.
  Problem problem_;
  std::vector<Live> live_;
  std::int64_t top_ = 0;
  std::int64_t now_ = 0;
};

struct Shape {
  std::int64_t life;
  std::int64_t size;
};
using FourInARow = std::array<Shape, 4>;

/// By size a and d are first; by life and by area the order is a to d, and d is placed above c.
constexpr FourInARow kAgainstSize = {{{40, 103}, {30, 102}, {20, 101}, {10, 103}}};
/// By life a and d are first, by size and by area b.
constexpr FourInARow kAgainstLife = {{{103, 100}, {102, 110}, {101, 100}, {103, 100}}};
/// By area a and d are first, by size b, by life c.
constexpr FourInARow kAgainstArea = {{{100, 100}, {90, 105}, {105, 90}, {100, 100}}};

/// `copies` of the row, one after the other.
Problem repeat(const FourInARow& shapes, std::size_t copies) {
  constexpr std::int64_t kUnit = 1024;
  Problem problem;
  std::int64_t now = 0;
  for (std::size_t copy = 0; copy < copies; ++copy) {
    for (const Shape& shape : shapes) {
      problem.items.push_back(make_item(now, now + shape.life, shape.size * kUnit));
      now += shape.life - 1;  // the next item overlaps this one in its last step
    }
    ++now;
  }
  return problem;
}

/// `copies` of small problems without gaps, one after the other. A solver that misses one of them misses all.
Problem tight_row(std::size_t copies) {
  constexpr std::size_t kItems = 60;
  constexpr std::array<std::uint64_t, 3> kSeeds = {133, 517, 539};
  Problem problem;
  Step now;
  for (std::size_t copy = 0; copy < copies; ++copy) {
    Step end;
    for (Item& item : make_tight(kItems, kSeeds[copy % kSeeds.size()]).items) {
      Interval& when = item.pieces.front().when;
      when = {now + when.lower, now + when.upper};
      end = std::max(end, when.upper);
      problem.items.push_back(std::move(item));
    }
    now = end;
  }
  return problem;
}

}  // namespace

std::vector<Adversary> make_adversaries(std::size_t size) {
  constexpr std::int64_t kRounds = 4;
  const auto scale = static_cast<std::int64_t>(size);
  std::vector<Adversary> adversaries = {
      {"against_online", Robson(scale << kRounds).play(kRounds), {"online_best_fit"}},
      {"against_size", repeat(kAgainstSize, size), {"first_fit_by_size", "best_fit_by_size", "blocks"}},
      {"against_life", repeat(kAgainstLife, size), {"first_fit_by_life", "best_fit_by_life"}},
      {"against_area", repeat(kAgainstArea, size), {"first_fit_by_area", "blocks"}},
      {"against_skyline", tight_row(size), {"skyline"}},
  };
  for (Adversary& each : adversaries) each.name += fmt::format("_{}", each.problem.items.size());
  return adversaries;
}

}  // namespace stowage::bench
