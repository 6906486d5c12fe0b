#include "sweep_baseline.hpp"

#include <map>
#include <tuple>

#include <fmt/format.h>

#include "output.hpp"

namespace stowage::cli {
namespace {

using RowKey = std::tuple<std::string_view, std::string_view, std::string_view>;

RowKey key_of(const SweepRow& row) { return {row.input, row.dims, row.options}; }

std::string row_name(const SweepRow& row) {
  std::string name = row.input;
  if (row.dims != "{}") name += " " + row.dims;
  if (row.options != "{}") name += " " + row.options;
  return name;
}

std::string change_line(const ChangedRow& row) {
  const Bytes before = *row.before->peak;
  if (!row.now->peak) {
    return fmt::format("{}: {} bytes before, now {}", row_name(*row.now), before.value(),
                       row.now->error.empty() ? row.now->status : row.now->error);
  }
  const Bytes now = *row.now->peak;
  const std::string share = before == Bytes(0)
                                ? ""
                                : fmt::format(" ({:+.2f}%)", 100.0 * static_cast<double>((now - before).value()) /
                                                                 static_cast<double>(before.value()));
  return fmt::format("{}: from {} to {} bytes{}", row_name(*row.now), before.value(), now.value(), share);
}

std::string change_lines(std::string_view title, const std::vector<ChangedRow>& rows) {
  std::string text;
  for (const ChangedRow& row : rows) text += fmt::format("  {:<8} {}\n", title, change_line(row));
  return text;
}

}  // namespace

SweepChanges compare_sweeps(std::span<const SweepRow> before, std::span<const SweepRow> now) {
  std::map<RowKey, const SweepRow*> earlier;
  for (const SweepRow& row : before) earlier[key_of(row)] = &row;
  SweepChanges changes;
  for (const SweepRow& row : now) {
    const auto found = earlier.find(key_of(row));
    if (found == earlier.end()) {
      ++changes.added;
      continue;
    }
    const SweepRow& old = *found->second;
    earlier.erase(found);
    if (row.peak == old.peak || !old.peak) {
      ++changes.same;
    } else {
      auto& list = !row.peak ? changes.lost : *row.peak > *old.peak ? changes.grew : changes.shrank;
      list.push_back({&old, &row});
    }
  }
  changes.missing = earlier.size();
  return changes;
}

std::string changes_text(const SweepChanges& changes) {
  return change_lines("grew", changes.grew) + change_lines("lost", changes.lost) +
         change_lines("shrank", changes.shrank) +
         fmt::format("  {} as before, {} new, {} only in the baseline\n", counted(changes.same, "row"), changes.added,
                     changes.missing);
}

std::string beyond_limit(const SweepChanges& changes, const GrowthLimit& limit) {
  std::string text;
  for (const ChangedRow& row : changes.grew) {
    if (limit.exceeded(*row.before->peak, *row.now->peak)) text += "\n  " + change_line(row);
  }
  for (const ChangedRow& row : changes.lost) text += "\n  " + change_line(row);
  return text;
}

}  // namespace stowage::cli
