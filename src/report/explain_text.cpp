#include <algorithm>

#include <fmt/format.h>

#include "report/explanation.hpp"
#include "report/map.hpp"
#include "report/text.hpp"

namespace stowage {
namespace {

using namespace report;  // the module's own parts

constexpr std::size_t kSizeColumns = 14;  // width of a size
constexpr std::size_t kShares = 6;        // kinds and scopes that are listed
constexpr std::size_t kKind = 16;         // width of an op's kind

/// " of layer 'encoder.0' (net.py:12: y = self.relu(x))", as far as it is known.
std::string origin_text(const Peak& peak) {
  std::string text;
  if (!peak.layer.empty()) text += fmt::format(" of layer '{}'", clipped(peak.layer, 60));
  if (!peak.source.empty()) text += fmt::format(" ({})", clipped(peak.source, 120));
  return text;
}

/// Writes one explanation; each function writes one section.
class ExplanationWriter {
 public:
  ExplanationWriter(const Explanation& explanation, SizeStyle style) : explanation_(explanation), style_(style) {}

  [[nodiscard]] std::string run() const {
    std::string text = wrapped({}, explanation_.cause, 0) + '\n' + figures();
    for (const ArenaStory& arena : explanation_.details->arenas) text += '\n' + arena_text(arena);
    text += '\n' + gains() + costs();
    if (explanation_.details->budget) text += '\n' + budget(*explanation_.details->budget);
    text += '\n' + count_text(explanation_.replans, "re-plan", "re-plans");
    if (explanation_.skipped > 0) text += fmt::format(", {} skipped for lack of time", explanation_.skipped);
    return text + ".\n";
  }

 private:
  [[nodiscard]] std::string size(std::optional<Bytes> bytes) const { return bytes ? size_text(*bytes, style_) : "?"; }
  [[nodiscard]] std::string figure(std::string_view label, Bytes bytes, const std::string& meaning = {}) const;
  [[nodiscard]] std::string figures() const;
  [[nodiscard]] std::string arena_text(const ArenaStory& arena) const;
  [[nodiscard]] std::string peaks(const ArenaStory& arena) const;
  [[nodiscard]] std::string holders(const ArenaStory& arena) const;
  [[nodiscard]] std::string shares(std::string_view what, const std::vector<Share>& list, Bytes whole) const;
  [[nodiscard]] std::string gains() const;
  [[nodiscard]] std::string gain_text(const Gain& gain) const;
  [[nodiscard]] std::string alone_text(const Gain& gain) const;
  [[nodiscard]] std::string costs() const;
  [[nodiscard]] std::string budget(const BudgetAnswer& answer) const;
  [[nodiscard]] std::string asked(const Budget& budget) const;

  const Explanation& explanation_;
  SizeStyle style_;
};

std::string ExplanationWriter::figure(std::string_view label, Bytes bytes, const std::string& meaning) const {
  const std::string line = fmt::format("  {:<10} {:>{}}", label, size(bytes), kSizeColumns);
  return meaning.empty() ? line + '\n' : wrapped(line + "   ", meaning, line.size() + 3);
}

std::string ExplanationWriter::figures() const {
  const Summary& summary = explanation_.summary;
  const std::string verdict =
      summary.proven_optimal
          ? fmt::format("smallest possible (proven): no placement of these tensors in this order of ops is smaller{}",
                        summary.bound_rests_on_options ? " with these options" : "")
          : fmt::format("{} above the bound; the smallest possible peak is in between",
                        percent_text(summary.peak - summary.lower_bound, summary.lower_bound));
  std::string text =
      figure("peak", summary.peak, verdict) + figure("bound", summary.lower_bound) +
      figure("naive", summary.naive,
             fmt::format("without any reuse; the peak is {} of it", percent_text(summary.peak, summary.naive)));
  text += figure("weights", summary.weights, "constants and variables, which keep their places");
  if (summary.folded > Bytes(0))
    text += figure("folded", summary.folded, "of the weights are computed from others once, before the first run");
  text += figure("total", summary.total, "weights + peak");
  if (const std::optional<LargestOp>& op = explanation_.details->largest_op) {
    text += figure("largest op", op->bytes,
                   fmt::format("inputs, outputs and workspaces of op '{}' ({}, step {}) alone", clipped(op->name, 40),
                               clipped(op->kind, kKind), op->step.value()));
  }
  return text;
}

std::string ExplanationWriter::peaks(const ArenaStory& arena) const {
  if (arena.concurrent) return {};
  std::string text = fmt::format("  {:>13}  {:>{}}  {}\n", "steps", "live", kSizeColumns, "fullest at op");
  for (const Peak& peak : arena.peaks) {
    text += fmt::format("  {:>13}  {:>{}}  {} ({}, step {})\n", steps_text(peak.steps), size(peak.live), kSizeColumns,
                        clipped(peak.op, 36), clipped(peak.kind, kKind), peak.at.value());
  }
  if (arena.peak_count > arena.peaks.size())
    text += fmt::format("  {:>13}  {:>{}}  and {} more\n", "", "", kSizeColumns, arena.peak_count - arena.peaks.size());
  return text;
}

std::string ExplanationWriter::holders(const ArenaStory& arena) const {
  const Peak& peak = arena.peaks[arena.fullest];
  std::string text =
      arena.concurrent
          ? "  The heaviest set of holders that ops on several streams may need at the same time:\n"
          : wrapped("  ",
                    fmt::format("At step {}, op '{}'{}, {} needed:", peak.at.value(), clipped(peak.op, 40),
                                origin_text(peak), count_text(peak.holder_count, "holder is", "holders are")),
                    4);
  text += fmt::format("    {:>{}}  {:>6}  {:>{}}  {:>11}  {:<{}}  {}\n", "bytes", kSizeColumns, "share", "gain if gone",
                      kSizeColumns, "steps", "op kind", kKind, "name");
  for (std::size_t h = 0; h < peak.holders.size(); ++h) {
    const Holder& holder = peak.holders[h];
    text += fmt::format("  {} {:>{}}  {:>6}  {:>{}}  {:>11}  {:<{}}  {}\n", letter_of(h), size(holder.bytes),
                        kSizeColumns, percent_text(holder.bytes, arena.size), size(holder.gain), kSizeColumns,
                        steps_text(holder.life), clipped(holder.kind, kKind), kKind, name_text(holder, 26));
  }
  if (std::any_of(peak.holders.begin(), peak.holders.end(), [](const Holder& each) { return each.beside > 0; }))
    text += fmt::format("    {:>{}}  (+N: N more are contiguous with it and move with it)\n", "", kSizeColumns);
  if (peak.holder_count > peak.holders.size())
    text += fmt::format("    {:>{}}  and {} more\n", "", kSizeColumns, peak.holder_count - peak.holders.size());
  return text;
}

std::string ExplanationWriter::shares(std::string_view what, const std::vector<Share>& list, Bytes whole) const {
  if (list.size() < 2) return {};  // adds nothing to the list of holders
  std::string text = fmt::format("  By {}:\n", what);
  for (std::size_t i = 0; i < list.size() && i < kShares; ++i) {
    const std::string word =
        list[i].word.empty() ? fmt::format("no {}", what.substr(what.rfind(' ') + 1)) : clipped(list[i].word, 50);
    text += fmt::format("    {:>{}}  {:>6}  {} ({})\n", size(list[i].bytes), kSizeColumns,
                        percent_text(list[i].bytes, whole), word, list[i].holders);
  }
  if (list.size() > kShares)
    text += fmt::format("    {:>{}}  {:>6}  and {} more\n", "", kSizeColumns, "", list.size() - kShares);
  return text;
}

std::string ExplanationWriter::arena_text(const ArenaStory& arena) const {
  std::string title =
      fmt::format("Arena '{}' ({}), {}", clipped(arena.name, 40), to_string(arena.kind), size(arena.size));
  if (arena.kind == ArenaKind::ring) return title + ": a prefetch ring of fixed size\n";
  if (arena.peaks.empty()) return title + '\n';
  if (!arena.concurrent) {
    title +=
        fmt::format(": {} (live bytes within {:g}% of the most)",
                    count_text(arena.peak_count, "binding peak", "binding peaks"), 100 * explanation_.details->within);
  }
  std::string text = wrapped({}, title, 2) + peaks(arena) + holders(arena);
  const Peak& peak = arena.peaks[arena.fullest];
  text += shares("op kind", peak.by_kind, arena.size) + shares("layer", peak.by_scope, arena.size);
  text += "  Its bytes at the peak (. is free, # is any other holder):\n";
  for (const std::string& line : arena.map_at_peak) text += "  " + line + '\n';
  text += "  Its bytes over time, offsets upwards, steps to the right:\n";
  for (const std::string& line : arena.map_of_time) text += "  " + line + '\n';
  return text;
}

/// "x alone gains nothing, y alone gains 4096"; shorter where all are alike.
std::string ExplanationWriter::alone_text(const Gain& gain) const {
  if (gain.holders.size() < 2) return {};
  const bool tried =
      std::all_of(gain.alone.begin(), gain.alone.end(), [](const auto& each) { return each.has_value(); });
  if (!tried) return gain.smallest ? "; none can be left out" : "";
  const bool nothing =
      std::all_of(gain.alone.begin(), gain.alone.end(), [](const auto& each) { return *each == Bytes(0); });
  if (nothing) return "; none of them alone gains anything";
  Bytes sum;
  for (const std::optional<Bytes>& each : gain.alone) sum += *each;
  if (sum == gain.gain) return "; their gains are independent";
  std::string text;
  for (std::size_t h = 0; h < gain.holders.size(); ++h) {
    const std::string figure = *gain.alone[h] == Bytes(0) ? "nothing" : size(gain.alone[h]);
    text += fmt::format("{}{} alone gains {}", h == 0 ? "; " : ", ", name_text(gain.holders[h], 40), figure);
  }
  return text;
}

std::string ExplanationWriter::gain_text(const Gain& gain) const {
  std::string text = gain.holders.size() == 1 ? "" : fmt::format("{} holders: ", gain.holders.size());
  text += families_text(gain.holders) + alone_text(gain);
  if (!gain.then.empty()) text += fmt::format("; then '{}' binds", clipped(gain.then, 40));
  if (!gain.smallest) text += "; a subset might suffice";
  if (!gain.proven) text += "; not proven";
  return wrapped(fmt::format("    {:>{}}  ", size(gain.gain), kSizeColumns), text, kSizeColumns + 8);
}

std::string ExplanationWriter::gains() const {
  if (explanation_.details->gains.empty()) {
    return wrapped(
        {},
        "What would lower the peak: nothing was found. Removing a family of holders at the binding peaks, together "
        "with the other holders that keep the peak up, gains nothing.",
        2);
  }
  std::string text = "What would lower the peak (planned again with these at size 0):\n";
  text += fmt::format("    {:>{}}  if gone\n", "gain", kSizeColumns);
  for (const Gain& gain : explanation_.details->gains) text += gain_text(gain);
  return text;
}

std::string ExplanationWriter::costs() const {
  if (explanation_.details->costs.empty()) return {};
  std::string text = "\nWhat constraints cost (planned again without each; below 0 it saves memory):\n";
  text += fmt::format("    {:>{}}  {:<26}  {}\n", "cost", kSizeColumns, "constraint", "planned instead");
  for (const Cost& cost : explanation_.details->costs) {
    const char* const note = !cost.cost ? " (no plan)" : !cost.proven ? " (not proven)" : "";
    text +=
        fmt::format("    {:>{}}  {:<26}  {}{}\n", size(cost.cost), kSizeColumns, cost.constraint, cost.without, note);
  }
  return text;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

/// "Capacity 64 MiB, total capacity 80 MiB".
std::string ExplanationWriter::asked(const Budget& budget) const {
  std::string text = budget.peak ? "Capacity " + size(*budget.peak) : "";
  if (budget.total) text += fmt::format("{} capacity {}", budget.peak ? ", total" : "Total", size(*budget.total));
  return text;
}

std::string ExplanationWriter::budget(const BudgetAnswer& answer) const {
  if (answer.fits) return asked(answer.asked) + ": fits as it is.\n";
  std::string text = asked(answer.asked) + ": does not fit.\n";
  if (!answer.constraints.empty()) {
    text += wrapped("  ", "Dropping a constraint: each of these suffices: " + joined(answer.constraints) + ".", 4);
  } else if (!answer.together.empty()) {
    text += wrapped("  ",
                    fmt::format("Dropping constraints: none suffices alone, but without {} it takes {}.",
                                joined(answer.together), size(answer.together_peak)),
                    4);
  } else {
    text +=
        answer.together_peak
            ? wrapped(
                  "  ",
                  fmt::format(
                      "Dropping constraints: none suffices; without all those that cost anything it still takes {}.",
                      size(answer.together_peak)),
                  4)
            : "  Dropping constraints: none suffices.\n";
  }
  if (const std::optional<LargestOp>& op = explanation_.details->largest_op; op && op->bytes > answer.most) {
    text += wrapped("  ",
                    fmt::format("Op '{}' alone needs {}: no plan fits unless the op is split or its tensors shrink.",
                                clipped(op->name, 40), size(op->bytes)),
                    4);
  }
  if (!answer.shrink) return text + wrapped("  ", "Shrinking tensors: nothing was found; " + answer.reason + ".", 4);
  const Gain& shrink = *answer.shrink;
  return text +
         wrapped("  ",
                 fmt::format("Shrinking tensors: it fits ({}) without {}{}: {}.", size(shrink.peak),
                             shrink.smallest ? "" : "at most ", count_text(shrink.holders.size(), "holder", "holders"),
                             families_text(shrink.holders)),
                 4);
}

}  // namespace

std::string explanation_to_text(const Explanation& explanation, SizeStyle sizes) {
  return ExplanationWriter(explanation, sizes).run();
}

}  // namespace stowage
