#include "minimalloc.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "stowage/io.hpp"
#include "subprocess.hpp"

namespace stowage::bench {
namespace {

/// Parses "Elapsed time 1.234s" on standard error, which it prints whether it has an answer or not.
std::optional<double> elapsed_in(const std::string& errors) {
  constexpr std::string_view kWords = "Elapsed time ";
  const std::size_t at = errors.find(kWords);
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(errors.c_str() + at + kWords.size(), nullptr) * 1e3;
}

/// Reads its answer, a CSV with offsets in the order of the rows.
Result<std::vector<Position>> read_positions(const std::string& file) {
  STOWAGE_TRY(const std::string text, read_file(file));
  STOWAGE_TRY(const CsvProblem table, parse_csv(text, file));
  std::vector<Position> positions;
  for (const Item& item : table.problem.items) positions.push_back({0, item.pinned.value_or(Bytes(-1))});
  return positions;
}

}  // namespace

Result<PeerRun> MiniMalloc::run_file(const std::string& csv, const Problem& problem, Bytes capacity,
                                     std::chrono::seconds limit) const {
  constexpr std::chrono::seconds kGrace{10};  // because it does not check the clock continuously
  const auto wrong = [&](const std::string& what) { return Error{ErrorCode::invalid, program_ + ": " + what, {}}; };
  STOWAGE_TRY(const TemporaryFolder folder, TemporaryFolder::make());
  const std::string output = folder.file("output.csv");
  STOWAGE_TRY(const Ended ended,
              run_program({program_, fmt::format("--capacity={}", capacity.value()), "--input=" + csv,
                           "--output=" + output, fmt::format("--timeout={}s", limit.count())},
                          limit + kGrace));
  if (ended.killed) return PeerRun{.solved = false, .own = ended.wall, .wall = ended.wall};
  const std::optional<double> own = elapsed_in(ended.errors);
  if (!own) return wrong("no elapsed time on standard error, but '" + ended.errors + "'");
  if (ended.exit_code != 0) return PeerRun{.solved = false, .own = *own, .wall = ended.wall};
  STOWAGE_TRY(const std::vector<Position> positions, read_positions(output));
  if (const std::optional<Violation> violation = validate(problem, positions)) return wrong(violation->message);
  if (peak_of(problem, positions) > capacity) return wrong("the answer is above the capacity");
  return PeerRun{.solved = true, .own = *own, .wall = ended.wall};
}

Result<std::optional<PeerRun>> MiniMalloc::run(const Problem& problem, Bytes capacity,
                                               std::chrono::seconds limit) const {
  using Nothing = std::optional<PeerRun>;
  const auto is_pinned = [](const Item& item) { return item.pinned.has_value(); };
  if (std::any_of(problem.items.begin(), problem.items.end(), is_pinned)) return Nothing();  // it would move them
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < problem.items.size(); ++i) ids.push_back(std::to_string(i));
  const Result<std::string> text = problem_to_csv(problem, ids);
  if (!text) return Nothing();
  STOWAGE_TRY(const TemporaryFolder folder, TemporaryFolder::make());
  const std::string input = folder.file("input.csv");
  STOWAGE_TRY_STATUS(write_file(input, text.value()));
  STOWAGE_TRY(const PeerRun run, run_file(input, problem, capacity, limit));
  return std::optional(run);
}

}  // namespace stowage::bench
