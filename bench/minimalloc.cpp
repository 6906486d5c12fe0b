#include "minimalloc.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "exit.hpp"
#include "stowage/io.hpp"
#include "subprocess.hpp"

namespace stowage::bench {
namespace {

[[noreturn]] void exit_saying(const std::string& program, std::string_view what) {
  exit_with({ErrorCode::invalid, fmt::format("{}: {}", program, what), {}});
}

/// "Elapsed time 1.234s" on standard error, which it writes whether it has an answer or not.
std::optional<double> elapsed_in(const std::string& errors) {
  constexpr std::string_view kWords = "Elapsed time ";
  const std::size_t at = errors.find(kWords);
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(errors.c_str() + at + kWords.size(), nullptr) * 1e3;
}

/// Its answer, a CSV with offsets in the order of the rows.
std::vector<Position> read_positions(const std::string& file) {
  std::vector<Position> positions;
  for (const Item& item : value_or_exit(parse_csv(value_or_exit(read_file(file)), file)).problem.items) {
    positions.push_back({0, item.pinned.value_or(Bytes(-1))});
  }
  return positions;
}

}  // namespace

PeerRun MiniMalloc::run_file(const std::string& csv, const Problem& problem, Bytes capacity, std::chrono::seconds limit) const {
  constexpr std::chrono::seconds kGrace{10};  // it does not look at the clock all the time
  const TemporaryFolder folder = value_or_exit(TemporaryFolder::make());
  const std::string output = folder.file("output.csv");
  const Ended ended = value_or_exit(run_program({program_, fmt::format("--capacity={}", capacity.value()), "--input=" + csv,
                                                 "--output=" + output, fmt::format("--timeout={}s", limit.count())},
                                                limit + kGrace));
  if (ended.killed) return {.solved = false, .own = ended.wall, .wall = ended.wall};
  const std::optional<double> own = elapsed_in(ended.errors);
  if (!own) exit_saying(program_, "no time on standard error, but: " + ended.errors);
  if (ended.exit_code != 0) return {.solved = false, .own = *own, .wall = ended.wall};
  const std::vector<Position> positions = read_positions(output);
  if (const std::optional<Violation> wrong = validate(problem, positions)) exit_saying(program_, wrong->message);
  if (peak_of(problem, positions) > capacity) exit_saying(program_, "the answer is above the capacity");
  return {.solved = true, .own = *own, .wall = ended.wall};
}

std::optional<PeerRun> MiniMalloc::run(const Problem& problem, Bytes capacity, std::chrono::seconds limit) const {
  const auto is_pinned = [](const Item& item) { return item.pinned.has_value(); };
  if (std::any_of(problem.items.begin(), problem.items.end(), is_pinned)) return std::nullopt;  // it would not keep them
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < problem.items.size(); ++i) ids.push_back(std::to_string(i));
  const Result<std::string> text = problem_to_csv(problem, ids);
  if (!text) return std::nullopt;
  const TemporaryFolder folder = value_or_exit(TemporaryFolder::make());
  const std::string input = folder.file("input.csv");
  if (const Status written = write_file(input, *text); !written) exit_with(written.error());
  return run_file(input, problem, capacity, limit);
}

}  // namespace stowage::bench
