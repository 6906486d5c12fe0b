#include <algorithm>

#include <fmt/format.h>

#include "report/difference.hpp"
#include "report/text.hpp"

namespace stowage {
namespace {

using namespace report;  // the module's own parts
using Change = DiffEntry::Change;

constexpr Change kChanges[] = {Change::grew, Change::shrank, Change::appeared, Change::vanished, Change::moved};
constexpr std::size_t kFigure = 14;

std::string signed_text(Bytes bytes, SizeStyle style) {
  return (bytes > Bytes(0) ? "+" : "") + size_text(bytes, style);
}

/// "+12 (+3.1%)"; without the percentage if `before` is 0.
std::string change_text(Bytes before, Bytes after, SizeStyle style) {
  const std::string difference = signed_text(after - before, style);
  if (before == Bytes(0) || before == after) return difference;
  return fmt::format("{} ({}{})", difference, after > before ? "+" : "", percent_text(after - before, before));
}

std::string line(std::string_view label, std::optional<Bytes> before, std::optional<Bytes> after, SizeStyle style) {
  const auto size = [&](std::optional<Bytes> bytes) { return bytes ? size_text(*bytes, style) : "-"; };
  return fmt::format("  {:<24} {:>{}}  {:>{}}  {:>26}\n", clipped(label, 24), size(before), kFigure, size(after),
                     kFigure, change_text(before.value_or(Bytes(0)), after.value_or(Bytes(0)), style));
}

std::string place(const std::string& arena, std::optional<Bytes> offset) {
  return offset ? fmt::format("{} {}", clipped(arena, 12), offset->value()) : std::string();
}

std::string entry_text(const DiffEntry& entry, SizeStyle style) {
  const std::string name = clipped(entry.name, 36);
  if (entry.change == Change::moved) {
    return fmt::format("    {:>{}}  {:<36} {} -> {}\n", size_text(*entry.after, style), kFigure, name,
                       place(entry.arena_before, entry.offset_before), place(entry.arena_after, entry.offset_after));
  }
  const Bytes before = entry.before.value_or(Bytes(0));
  const Bytes after = entry.after.value_or(Bytes(0));
  const bool both = entry.before && entry.after;
  const std::string sizes =
      both ? fmt::format("{} -> {}", size_text(before, style), size_text(after, style)) : std::string();
  std::string text = fmt::format("    {:>{}}  {:<36} {}", signed_text(after - before, style), kFigure, name, sizes);
  text.resize(text.find_last_not_of(' ') + 1);
  return text + '\n';
}

std::string section(const PlanDiff& difference, Change change, SizeStyle sizes, std::size_t top) {
  std::string text;
  std::size_t count = 0;
  Bytes total;
  for (const DiffEntry& entry : difference.details->entries) {
    if (entry.change != change) continue;
    if (count++ < top) text += entry_text(entry, sizes);
    total += change == Change::moved ? *entry.after : entry.after.value_or(Bytes(0)) - entry.before.value_or(Bytes(0));
  }
  if (count == 0) return {};
  if (count > top) text += fmt::format("    {:>{}}  and {} more\n", "", kFigure, count - top);
  const std::string sum = change == Change::moved ? size_text(total, sizes) : signed_text(total, sizes);
  return fmt::format("  {}: {}, {} in all\n", to_string(change), count, sum) + text;
}

std::string verdict(const PlanDiff& difference, SizeStyle style) {
  const std::string change = change_text(difference.peak_before, difference.peak_after, style);
  const Bytes growth = difference.growth();
  if (growth == Bytes(0)) return fmt::format("The peak is the same: {}.", size_text(difference.peak_after, style));
  return fmt::format("The peak {} from {} to {}: {}.", growth > Bytes(0) ? "grew" : "fell",
                     size_text(difference.peak_before, style), size_text(difference.peak_after, style), change);
}

/// "cpu (shared)"; just the name if that says what the arena is for.
std::string arena_label(const ArenaChange& arena) {
  const std::string_view kind = to_string(arena.kind);
  return arena.name.ends_with(kind) ? arena.name : fmt::format("{} ({})", arena.name, kind);
}

std::string count_line(std::string_view label, std::size_t before, std::size_t after) {
  if (before == 0 && after == 0) return {};
  const auto change = static_cast<std::int64_t>(after) - static_cast<std::int64_t>(before);
  return fmt::format("  {:<24} {:>{}}  {:>{}}  {:>26}\n", label, before, kFigure, after, kFigure,
                     change > 0 ? fmt::format("+{}", change) : std::to_string(change));
}

/// What a run costs, as far as there is something of it on a side, and both sides are known.
std::string cost_text(const PlanDiff& difference, SizeStyle style) {
  if (!difference.cost_before || !difference.cost_after) return {};
  const ProgramCost& before = *difference.cost_before;
  const ProgramCost& after = *difference.cost_after;
  std::string text = count_line("waits in a run", before.waits, after.waits);
  text += count_line("fills in a run", before.fills, after.fills);
  if (before.fills + after.fills > 0) text += line("filled in a run", before.filled, after.filled, style);
  text += count_line("copies in a run", before.copies, after.copies);
  if (before.copies + after.copies > 0) text += line("copied in a run", before.copied, after.copied, style);
  return text;
}

}  // namespace

std::string diff_to_text(const PlanDiff& difference, SizeStyle sizes, std::size_t top) {
  std::string text = wrapped({}, verdict(difference, sizes), 0);
  if (!difference.same_graph()) {
    text += wrapped({},
                    fmt::format("The graphs have different names: '{}' and '{}'.", clipped(difference.graph_before, 36),
                                clipped(difference.graph_after, 36)),
                    0);
  }
  if (difference.by_number)
    text += wrapped(
        {}, "A plan file has no names: tensors are compared by number (--graph-a and --graph-b give them names).", 0);
  text += fmt::format("  {:<24} {:>{}}  {:>{}}  {:>26}\n", "", "before", kFigure, "after", kFigure, "change");
  text += line("peak", difference.peak_before, difference.peak_after, sizes);
  text += line("bound", difference.bound_before, difference.bound_after, sizes);
  for (const ArenaChange& arena : difference.details->arenas)
    text += line(arena_label(arena), arena.before, arena.after, sizes);
  text += cost_text(difference, sizes);
  for (const Change change : kChanges) text += section(difference, change, sizes, top);
  return text + fmt::format("  unchanged: {}\n", difference.unchanged);
}

}  // namespace stowage
