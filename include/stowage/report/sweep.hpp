#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/io.hpp"
#include "stowage/planner.hpp"

/// Tables of many plans: inputs × values of their dims (docs/fleet.md). The Python package writes
/// the same rows. All functions are stateless and thread-safe.
namespace stowage {

/// One input, planned once. What is unknown is absent; of a row with an error, all but the first
/// four.
struct SweepRow {
  std::string input;           ///< As the user names it.
  std::string hash = {};       ///< `content_hash`; empty if the input could not be read.
  std::string dims = "{}";     ///< As of `sweep_dims`.
  std::string options = "{}";  ///< As of `sweep_options`.
  /// Peak, proof, weights and total are absent without an answer, the bound is there anyway.
  std::optional<Bytes> peak = {};
  std::optional<Bytes> bound = {};
  std::optional<bool> proven = {};
  std::optional<Bytes> weights = {};
  std::optional<Bytes> total = {};
  std::string status = {};        ///< "optimal", "feasible", "infeasible", "timed_out"; or empty.
  std::optional<double> ms = {};  ///< That planning took, without reading the input.
  std::string error = {};         ///< On one line; empty: none.

  friend bool operator==(const SweepRow&, const SweepRow&) = default;
};

/// Values of dims as canonical JSON: `{"batch":4,"seq":128}`, sorted by name, without spaces.
[[nodiscard]] STOWAGE_EXPORT std::string sweep_dims(
    const std::map<std::string, std::int64_t>& dims);

/// All other options that differ from the defaults, as canonical JSON with the names that Python
/// uses: sizes in bytes, times in seconds. The default of a sweep is no time limit.
[[nodiscard]] STOWAGE_EXPORT std::string sweep_options(const PlanOptions& options,
                                                       const ImportOptions& import);

/// Fills in the figures of a plan.
STOWAGE_EXPORT void set_figures(SweepRow& row, const Summary& summary);

/// A table with a header (RFC 4180, lines end in a line feed): one column per field of `SweepRow`.
/// What is absent is an empty field.
[[nodiscard]] STOWAGE_EXPORT std::string sweep_to_csv(std::span<const SweepRow> rows);
/// The same as one JSON object per line; what is absent is null.
[[nodiscard]] STOWAGE_EXPORT std::string sweep_to_json_lines(std::span<const SweepRow> rows);

/// Reads what either of them, or the Python package, has written. Only the columns `input`, `dims`,
/// `options` and `peak` must be there; unknown ones are ignored. Fails with `ErrorCode::parse`,
/// naming file and line.
STOWAGE_EXPORT Result<std::vector<SweepRow>> parse_sweep(std::string_view text,
                                                         const std::string& file);

/// What a page of a sweep shows.
struct SweepPage {
  std::string title;
  std::span<const SweepRow> rows;
  std::span<const Bytes> fits = {};  ///< Sizes of memories that rows may fit.
};

/// A self-contained HTML page (docs/page.md): for each input and dim the peak as a curve, and which
/// row fits which size. Returns the same bytes for the same arguments. Fails with `io` if
/// compression runs out of memory.
STOWAGE_EXPORT Result<std::string> sweep_page(const SweepPage& sweep);

}  // namespace stowage
