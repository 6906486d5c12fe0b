#include "support/generators/random_problem.hpp"

#include <algorithm>
#include <random>

namespace stowage::testing {
namespace {

class Generator {
 public:
  Generator(std::uint64_t seed, const RandomProblemOptions& options) : random_(seed), options_(options) {}

  Problem problem() {
    const std::int64_t count = 1 + below(static_cast<std::int64_t>(options_.max_items));
    for (std::int64_t i = 0; i < count; ++i) problem_.items.push_back(item());
    if (options_.regions && below(3) == 0) add_regions();
    if (options_.pins) add_pins();
    if (options_.streams && below(3) == 0) add_order();
    if (options_.joins && below(3) == 0) add_joins();
    if (options_.apart && below(4) == 0) add_apart();
    return std::move(problem_);
  }

 private:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }

  Item item();
  void add_regions();
  void add_pins();
  void add_order();
  void add_row(const std::vector<std::size_t>& accesses);
  void add_joins();
  void add_apart();

  struct RandomOps {
    std::vector<std::size_t> stream_of;
    std::vector<std::vector<bool>> before;  ///< By op and op.
  };
  [[nodiscard]] RandomOps random_ops(std::size_t count, std::size_t streams);

  RandomOps ops_;
  std::mt19937_64 random_;
  RandomProblemOptions options_;
  Problem problem_;
};

Item Generator::item() {
  Item item;
  item.size = Bytes(below(12) == 0 ? 0 : 1 + below(8));
  item.alignment = Bytes(std::int64_t{1} << std::max<std::int64_t>(0, below(5) - 2));
  Step at(below(6));
  for (std::int64_t p = 0, pieces = options_.pieces && below(3) == 0 ? 1 + below(3) : 1; p < pieces; ++p) {
    const Step end = at + Step(1 + below(4));
    const Bytes lower(p == 0 || item.size == Bytes(0) ? 0 : below(item.size.value()));
    const Bytes upper(p == 0 || item.size == Bytes(0) ? item.size.value()
                                                      : lower.value() + 1 + below((item.size - lower).value()));
    item.pieces.push_back({{at, end}, {lower, upper}});
    at = end + Step(below(3));
  }
  return item;
}

void Generator::add_regions() {
  problem_.regions.clear();
  for (std::int64_t r = 0, count = 1 + below(3); r < count; ++r) {
    Region region{.limit = {}, .paid = below(3) != 0};
    if (below(2) == 0 || !region.paid) region.limit = Bytes(4 + below(12));
    problem_.regions.push_back(region);
  }
  for (Item& item : problem_.items) {
    if (below(3) != 0) continue;
    for (std::uint32_t r = 0; r < problem_.regions.size(); ++r) {
      if (below(2) == 0) item.allowed.push_back(r);
    }
  }
}

void Generator::add_pins() {
  for (Item& item : problem_.items) {
    if (below(8) != 0) continue;
    if (item.allowed.size() != 1 && problem_.regions.size() > 1)
      item.allowed = {static_cast<std::uint32_t>(below(static_cast<std::int64_t>(problem_.regions.size())))};
    item.pinned = Bytes(below(8));
  }
}

/// Ops on streams with random edges; reachability by relaxation.
Generator::RandomOps Generator::random_ops(std::size_t count, std::size_t streams) {
  RandomOps ops{std::vector<std::size_t>(count), std::vector(count, std::vector<bool>(count))};
  std::vector<std::vector<bool>>& before = ops.before;
  for (std::size_t k = 0; k < count; ++k) {
    ops.stream_of[k] = static_cast<std::size_t>(below(static_cast<std::int64_t>(streams)));
    for (std::size_t j = 0; j < k; ++j) before[j][k] = ops.stream_of[j] == ops.stream_of[k] || below(4) == 0;
  }
  for (std::size_t m = 0; m < count; ++m) {
    for (std::size_t a = 0; a < m; ++a) {
      for (std::size_t b = m + 1; b < count; ++b) before[a][b] = before[a][b] || (before[a][m] && before[m][b]);
    }
  }
  return ops;
}

/// Each item is accessed by some of the ops; some items consist of two pieces with accesses of their own.
void Generator::add_order() {
  const std::size_t count = static_cast<std::size_t>(4 + below(8));
  problem_.order.streams = static_cast<std::size_t>(2 + below(2));
  ops_ = random_ops(count, problem_.order.streams);
  const auto some = [&] {
    std::vector<std::size_t> accesses;
    for (std::int64_t i = 0, n = 1 + below(3); i < n; ++i)
      accesses.push_back(static_cast<std::size_t>(below(static_cast<std::int64_t>(count))));
    return accesses;
  };
  const auto life = [](const std::vector<std::size_t>& accesses) {
    const auto [first, last] = std::minmax_element(accesses.begin(), accesses.end());
    return Interval{Step(static_cast<std::int64_t>(*first)), Step(static_cast<std::int64_t>(*last) + 1)};
  };
  std::vector<std::vector<std::size_t>> of_pieces;
  for (Item& item : problem_.items) {
    std::vector<std::size_t> accesses = some();
    if (options_.pieces && item.size > Bytes(1) && below(3) == 0) {
      const Bytes half(item.size.value() / 2);
      const auto row = static_cast<std::uint32_t>(problem_.items.size() + of_pieces.size());
      of_pieces.push_back(accesses);
      of_pieces.push_back(some());
      item.pieces = {{life(accesses), {Bytes(0), half}, row}, {life(of_pieces.back()), {half, item.size}, row + 1}};
      accesses.insert(accesses.end(), of_pieces.back().begin(), of_pieces.back().end());
    } else {
      item.pieces = {{life(accesses), {Bytes(0), item.size}}};
    }
    add_row(accesses);
  }
  for (const std::vector<std::size_t>& accesses : of_pieces) add_row(accesses);
}

/// Thresholds by looking.
void Generator::add_row(const std::vector<std::size_t>& accesses) {
  StreamOrder& order = problem_.order;
  for (std::size_t t = 0; t < order.streams; ++t) {
    Step threshold = kNever;
    for (std::size_t k = ops_.stream_of.size(); k-- > 0;) {
      const bool after_all =
          std::all_of(accesses.begin(), accesses.end(), [&](std::size_t a) { return ops_.before[a][k]; });
      if (ops_.stream_of[k] == t && after_all) threshold = Step(static_cast<std::int64_t>(k));
    }
    Step begins = kNever;
    for (const std::size_t a : accesses) {
      if (ops_.stream_of[a] == t) begins = std::min(begins, Step(static_cast<std::int64_t>(a)));
    }
    order.threshold.push_back(threshold);
    order.first.push_back(begins);
  }
}

void Generator::add_joins() {
  const auto count = static_cast<std::int64_t>(problem_.items.size());
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t a = below(count);
    const std::int64_t b = below(count);
    if (a >= b) continue;
    const Join join{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                    Bytes(below(3) == 0 ? below(9) - 4 : 0)};
    if (is_possible(problem_, join)) problem_.joins.push_back(join);
  }
  std::sort(problem_.joins.begin(), problem_.joins.end());
  problem_.joins.erase(std::unique(problem_.joins.begin(), problem_.joins.end()), problem_.joins.end());
}

void Generator::add_apart() {
  const auto count = static_cast<std::int64_t>(problem_.items.size());
  const auto a = static_cast<std::uint32_t>(below(count));
  const auto b = static_cast<std::uint32_t>(below(count));
  if (a >= b) return;
  const auto some_of = [&](const Item& item) -> std::optional<ByteRange> {
    if (below(2) == 0) return std::nullopt;
    const std::int64_t lower = below(item.size.value() + 1);
    return ByteRange{Bytes(lower), Bytes(lower + below(item.size.value() - lower + 1))};
  };
  const std::optional<ByteRange> of_a = some_of(problem_.items[a]);
  problem_.apart = {{a, b, of_a, some_of(problem_.items[b])}};
}

}  // namespace

Problem random_problem(std::uint64_t seed, const RandomProblemOptions& options) {
  return Generator(seed, options).problem();
}

Problem cut_rectangle(std::uint64_t seed, const CutRectangle& whole) {
  std::mt19937_64 random(seed);
  const auto between = [&](std::int64_t lower, std::int64_t upper) {
    return lower + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(upper - lower - 1));
  };
  std::vector<Piece> rectangles = {{{Step(0), Step(whole.steps)}, {Bytes(0), Bytes(whole.bytes)}}};
  for (int cut = 0; cut < whole.cuts; ++cut) {
    Piece& chosen = rectangles[random() % rectangles.size()];
    Piece other = chosen;
    if (random() % 2 == 0 && chosen.when.length() > Step(1)) {
      chosen.when.upper = other.when.lower = Step(between(chosen.when.lower.value(), chosen.when.upper.value()));
    } else if (chosen.bytes.length() > Bytes(1)) {
      chosen.bytes.upper = other.bytes.lower = Bytes(between(chosen.bytes.lower.value(), chosen.bytes.upper.value()));
    } else {
      continue;
    }
    rectangles.push_back(other);
  }
  Problem problem;
  for (const Piece& each : rectangles) {
    const std::int64_t offset = each.bytes.lower.value();
    const std::int64_t low_bit = offset == 0 ? 4 : std::min<std::int64_t>(4, offset & -offset);
    const Bytes size = each.bytes.length();
    problem.items.push_back({.pieces = {{each.when, {Bytes(0), size}}}, .size = size});
    if (random() % 2 == 0) problem.items.back().alignment = Bytes(low_bit);
  }
  return problem;
}

}  // namespace stowage::testing
