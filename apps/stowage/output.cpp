#include "output.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>

#include <fmt/format.h>
#include <unistd.h>

#include "commands.hpp"
#include "stowage/base/printable.hpp"
#include "terminal.hpp"

namespace stowage::cli {
namespace {

bool on_terminal() {
  static const bool terminal = isatty(STDOUT_FILENO) != 0;
  return terminal;
}

bool wants_colour() {
  static const bool wanted = [] {
    const char* const no_colour = std::getenv("NO_COLOR");
    const char* const term = std::getenv("TERM");
    return on_terminal() && !(no_colour && *no_colour) && term && std::string_view(term) != "dumb";
  }();
  return wanted;
}

const char* code_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::good:
      return "32";
    case Tone::warning:
      return "33";
    case Tone::bad:
      return "31";
    case Tone::dim:
      return "2";
    case Tone::strong:
      return "1";
  }
  return "";
}

/// Stands for the beginning of a colour code in texts that are not printed yet: control characters in them, which may
/// come from a file, are escaped. No file can hold it, because it is another one in each process.
const std::string& colour_mark() {
  static const std::string mark = [] {
    std::random_device random;
    return fmt::format("[colour {:08x}{:08x} ", random(), random());
  }();
  return mark;
}

/// With the marks replaced by what a terminal understands.
std::string coloured(std::string text) {
  if (!wants_colour()) return text;
  std::size_t at = 0;
  while ((at = text.find(colour_mark(), at)) != std::string::npos) text.replace(at, colour_mark().size(), "\033[");
  return text;
}

void write(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) fail(Error{ErrorCode::io, "cannot write to standard output", {}});
}

std::string percent(Bytes part, Bytes whole) {
  if (whole == Bytes(0)) return "0%";
  return fmt::format("{:.1f}%", 100.0 * static_cast<double>(part.value()) / static_cast<double>(whole.value()));
}

/// "cpu (shared)"; just the name if that says what the arena is for.
std::string arena_label(const Summary::ArenaLine& arena) {
  return arena.name.ends_with(arena.kind) ? arena.name : fmt::format("{} ({})", arena.name, arena.kind);
}

std::string verdict(const Summary& summary) {
  if (summary.proven_optimal)
    return toned(Tone::good, "smallest possible (proven)") +
           (summary.bound_rests_on_options ? " with these options" : "");
  const std::string share = percent(summary.peak - summary.lower_bound, summary.lower_bound);
  return toned(Tone::warning, (share == "0.0%" ? "less than 0.1%" : share) + " above the bound");
}

/// What the peak leaves out.
std::string weights_text(const Summary& summary) {
  std::string text =
      fmt::format("  weights{:>14}   constants and variables, which keep their places\n", size_text(summary.weights));
  if (summary.folded > Bytes(0))
    text += fmt::format("  folded {:>14}   of the weights are computed from others once, before the first run\n",
                        size_text(summary.folded));
  return text + fmt::format("  total  {:>14}   weights + peak\n", size_text(summary.total));
}

}  // namespace

std::string toned(Tone tone, std::string_view text) {
  if (!wants_colour() || tone == Tone::plain) return std::string(text);
  return fmt::format("{0}{1}m{2}{0}0m", colour_mark(), code_of(tone), text);
}

std::string size_text(Bytes bytes) { return on_terminal() ? to_human(bytes) : std::to_string(bytes.value()); }

SizeStyle size_style() { return on_terminal() ? SizeStyle::human : SizeStyle::bytes; }

std::string summary_text(const Summary& summary) {
  std::string text =
      toned(Tone::strong, summary.name.empty() ? "graph without a name" : printable(summary.name)) + ": ";
  if (summary.ops > 0) text += counted(summary.ops, "op") + ", " + counted(summary.tensors, "tensor") + ", ";
  text += counted(summary.items, "item") + "\n";
  text += fmt::format("  peak   {:>14}   {}\n", size_text(summary.peak), verdict(summary));
  text += fmt::format("  bound  {:>14}\n", size_text(summary.lower_bound));
  text += fmt::format("  naive  {:>14}   the peak is {} of it\n", size_text(summary.naive),
                      percent(summary.peak, summary.naive));
  if (summary.ops > 0) text += weights_text(summary);
  if (summary.ops > 0)
    text += fmt::format("  padding{:>14}   {}\n", to_string(summary.padding),
                        summary.padding == Padding::own ? "up to its alignment, a tensor's bytes are its own"
                                                        : "sizes are exact, only offsets are aligned");
  for (const Summary::ArenaLine& arena : summary.arenas) {
    if (arena.kind == "persistent" && arena.size == summary.weights) continue;  // in its own line
    text += fmt::format("  arena  {:>14}   {}\n", size_text(arena.size), arena_label(arena));
  }
  if (!summary.strategy.empty())
    text += fmt::format("  tried  {:>14}   the best is '{}'\n", counted(summary.strategies, "plan"), summary.strategy);
  return text + fmt::format("  solver {:>14}   {}\n", fmt::format("{:.2f} ms", summary.solve_ms),
                            toned(Tone::dim, summary.solver));
}

std::string counted(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

void print(std::string_view text) {
  const std::string safe = coloured(printable_lines(text));
  write(on_terminal() ? fitted(safe, terminal_columns(STDOUT_FILENO)) : safe);
}

void print_data(std::string_view text) { write(printable_lines(text)); }

bool errors_on_terminal() { return isatty(STDERR_FILENO) != 0; }

void fail(const Error& error) { end_with(kError, to_string(error)); }

void end_with(int code, std::string_view message) {
  if (!message.empty()) fmt::print(stderr, "stowage: {}\n", printable_lines(message));
  throw CLI::RuntimeError(code);
}

}  // namespace stowage::cli
