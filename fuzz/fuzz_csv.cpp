#include <algorithm>
#include <vector>

#include "fuzz.hpp"
#include "stowage/io.hpp"

/// Any bytes give either a problem, which survives writing and reading, or an error with a message.
namespace stowage::fuzz {
namespace {

/// The positions of the items if each is placed after the previous one.
std::vector<Position> stack(const Problem& problem) {
  std::vector<Position> positions;
  Bytes top;
  for (const Item& item : problem.items) {
    top = align_up(top, item.alignment);
    positions.push_back({0, top});
    top += item.size;
  }
  return positions;
}

void expect_round_trip(const CsvProblem& table) {
  const Result<std::string> text = problem_to_csv(table.problem, table.ids);
  expect(text.has_value(), "a problem from a CSV cannot be written as one");
  const Result<CsvProblem> again = parse_csv(*text, "again");
  expect(again.has_value() && again->ids == table.ids, "a CSV that was written cannot be read");
  expect(problem_to_csv(again->problem, again->ids).value() == *text, "a problem changed on the way through a CSV");
}

void expect_offsets_kept(const CsvProblem& table) {
  const std::vector<Position> positions = stack(table.problem);
  const Result<CsvProblem> again = parse_csv(csv_with_offsets(table, positions), "again");
  if (!again) return;  // pins on top of the sizes may exceed the limit
  expect(again->ids == table.ids, "ids changed when offsets were written");
  for (std::size_t i = 0; i < positions.size(); ++i) {
    expect(again->problem.items[i].pinned == positions[i].offset, "an offset changed when it was written");
  }
}

}  // namespace
}  // namespace stowage::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  const Result<CsvProblem> table = parse_csv(fuzz::as_text(data, size), "fuzz");
  if (!table) {
    fuzz::expect_useful(table.error());
    return 0;
  }
  fuzz::expect_round_trip(*table);
  fuzz::expect_offsets_kept(*table);
  return 0;
}
