#include "pack/skyline.hpp"
#include "pack/solver.hpp"

namespace stowage::pack {
namespace {

/// Above this sum of the items' widths in sections the flat arrays grow too large.
constexpr std::uint64_t kMaxWidths = 8'000'000;

std::uint64_t sum_of_widths(const Plain& plain) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < plain.count(); ++i) sum += plain.last[i] - plain.first[i];
  return sum;
}

}  // namespace

/// Every priority until one reaches the bound. Plain problems only.
void solve_skyline(Bench& bench) {
  const Plain* const plain = bench.plain();
  if (!plain || sum_of_widths(*plain) > kMaxWidths) return;
  Skyline skyline(*plain);
  std::vector<std::int64_t> offsets;
  for (const Priority priority : kPriorities) {
    if (bench.finished() && bench.peak() <= kMaxBytes) return;
    const std::int64_t limit = bench.peak().value() - 1;
    if (skyline.run(priorities(*plain, priority), limit, offsets) <= limit)
      bench.offer(plain->positions(bench.problem(), offsets), "skyline");
  }
}

}  // namespace stowage::pack
