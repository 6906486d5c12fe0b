#pragma once

#include <string>
#include <string_view>

#include "stowage/base.hpp"
#include "stowage/planner.hpp"
#include "stowage/report/explain.hpp"

/// Human-readable text: units and colour on a terminal, plain numbers elsewhere.
namespace stowage::cli {

enum class Tone : std::uint8_t { plain, good, warning, bad, dim, strong };

/// `text` in colour if standard output is a terminal that supports it (not with NO_COLOR or TERM=dumb).
[[nodiscard]] std::string toned(Tone tone, std::string_view text);

/// "1.25 MiB" on a terminal, "1310720" elsewhere.
[[nodiscard]] std::string size_text(Bytes bytes);

/// The same choice for reports.
[[nodiscard]] SizeStyle size_style();

/// Name, peak, bound and naive, arenas, solver: what `plan` prints without --json.
[[nodiscard]] std::string summary_text(const Summary& summary);

/// Whether standard error is a terminal, so that advice is useful.
[[nodiscard]] bool errors_on_terminal();

/// Prints text for people: on a terminal, lines that do not fit are wrapped, except for pictures.
void print(std::string_view text);
/// Prints text for programs, such as JSON, as it is, with control characters escaped too.
void print_data(std::string_view text);

/// `word` with its number: "1 op", "2 ops".
[[nodiscard]] std::string counted(std::size_t count, std::string_view word);

/// Prints "stowage: error" to standard error and ends the command with exit code 1.
[[noreturn]] void fail(const Error& error);
/// Ends the command with `code`, after printing `message`, if any, to standard error.
[[noreturn]] void end_with(int code, std::string_view message = {});

/// The value, or `fail`.
template <class T>
T or_fail(Result<T> result) {
  if (!result) fail(result.error());
  return std::move(result).value();
}

/// The value, or `fail` with an error that also names the file.
template <class T>
T or_fail_in(const std::string& file, Result<T> result) {
  if (result) return std::move(result).value();
  Error error = result.error();
  if (error.where.file.empty()) error.where.file = file;
  fail(error);
}

}  // namespace stowage::cli
