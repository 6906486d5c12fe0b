#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/files.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

/// Formats of files that hold what is to be planned. Readers take the text and the file's name as
/// the user gave it, which only appears in errors; writers return text. docs/formats.md describes
/// the formats.
///
/// All functions are thread-safe and keep nothing. Errors name the file, the line or the path
/// inside it, and the tensor or op.
namespace stowage {

// ----------------------------------------------------------------------------------------- tables

/// A MiniMalloc CSV: the problem, and the table it came from, so that it can be written again with
/// nothing lost.
struct CsvProblem {
  Problem problem;  ///< One item per row, one region; a row with an offset is pinned there.
  std::vector<std::string> ids;                ///< Of each row; unique.
  std::vector<std::optional<Bytes>> hints;     ///< Of each row; carried along, used by nobody yet.
  std::vector<std::string> header;             ///< The columns as they were named.
  std::vector<std::vector<std::string>> rows;  ///< The fields as they were written.
};

/// Reads columns id (buffer, buffer_id), lower (begin, start), upper (or end, inclusive), size, and
/// optionally alignment, hint, gaps, offset. An offset or hint that is -1 or empty means none.
STOWAGE_EXPORT Result<CsvProblem> parse_csv(std::string_view text, const std::string& file);

/// The table's rows as they were, with the offset column set (added at the end where there was
/// none). Precondition: one position per row.
[[nodiscard]] STOWAGE_EXPORT std::string csv_with_offsets(const CsvProblem& table,
                                                          std::span<const Position> positions);

/// Any problem that a CSV can express: one region, no stream order. Pieces become gaps with
/// windows. `ids` has one entry per item. Fails with `ErrorCode::unsupported` otherwise, naming
/// what a CSV cannot express.
STOWAGE_EXPORT Result<std::string> problem_to_csv(const Problem& problem,
                                                  std::span<const std::string> ids);
/// The same for a table, with its hints: the usual column names, whatever they were.
STOWAGE_EXPORT Result<std::string> table_to_csv(const CsvProblem& table);

// ----------------------------------------------------------------------------------------- graphs

/// Reads `stowage.graph/1`. Refuses, by name, unknown fields and values; bodies nested more than 64
/// deep.
STOWAGE_EXPORT Result<Graph> parse_graph(std::string_view text, const std::string& file);
/// The file that reads back as a graph of equal description: one tensor or op per line, those of
/// bodies indented behind their op.
[[nodiscard]] STOWAGE_EXPORT std::string graph_to_json(const Graph& graph);

// ---------------------------------------------------------------------------------------- formats

/// How a file is read. A format that does not take an option ignores it, except for `dims`.
struct ImportOptions {
  /// Of every memory of a graph, of the one memory of a model (default: 64 for ONNX, 16 for
  /// TFLite), of every row of a table that has no alignment of its own.
  std::optional<Bytes> alignment;
  bool views = true;     ///< View-like ops of a model become views (no_task) where always legal.
  bool in_place = true;  ///< Element-wise ops of a model list in-place pairs where always legal.
  std::map<std::string, std::int64_t> dims;  ///< Values of symbolic dims, by name.
};
enum class ImportOption : std::uint8_t { alignment, views, in_place, dims };

/// What a file holds: a graph, or a table that is a packing problem already.
using Imported = std::variant<Graph, CsvProblem>;

/// One line of the table of formats. The command line, its help and its errors read that table.
struct Format {
  std::string_view name;         ///< What errors and help call it, and `docs/formats.md`: "onnx".
  std::string_view suffix;       ///< Of file names, before any ".gz": ".onnx".
  std::string_view holds;        ///< What a file of it is, for people: "model", "graph", "table".
  std::string_view description;  ///< A few words for lists of formats.
  std::span<const ImportOption> options;  ///< Those that make a difference.
  /// Whether these bytes are a file of this format, as far as their beginning tells. Any bytes may
  /// come; they need not be well-formed.
  bool (*recognises)(std::string_view bytes);
  Result<Imported> (*parse)(std::string_view bytes, const std::string& file,
                            const ImportOptions& options);
};

/// All formats, in the order in which help lists them.
[[nodiscard]] STOWAGE_EXPORT std::span<const Format> formats();

/// The format of a file, by its content; where that does not tell, or several formats recognise it,
/// by the suffix of its name. Null where neither tells.
[[nodiscard]] STOWAGE_EXPORT const Format* find_format(std::string_view bytes,
                                                       std::string_view name);

/// Reads a file of any format, its content being what `read_file` returns for `file`. Fails with
/// `ErrorCode::parse` where `find_format` finds none, and lists those there are; with
/// `ErrorCode::unknown_name` for a dim that the file does not have. Otherwise fails as the format
/// does:
/// - graph: as `parse_graph`. csv: as `parse_csv`.
/// - onnx (docs/onnx.md): `ErrorCode::parse` on bytes that are not a model, `ErrorCode::invalid` on
/// a
///   model that breaks ONNX's rules (nodes that are not sorted, a function that calls itself),
///   `ErrorCode::unsupported` on values that are not tensors and on sizes that cannot be found out,
///   of which the message lists the first ten. External data is never opened.
/// - tflite (docs/tflite.md): what the first subgraph runs, under the file's name without folders
/// and
///   suffixes. `ErrorCode::parse` on damaged files; `ErrorCode::unsupported`, by name, on tensors
///   whose size the file does not tell.
STOWAGE_EXPORT Result<Imported> import_bytes(std::string_view bytes, const std::string& file,
                                             const ImportOptions& options = {});

/// The bytes of a file, and its name as the user gave it, which only appears in errors. The bytes
/// must outlive it.
struct ModelFile {
  std::string_view bytes;
  std::string name;
};

}  // namespace stowage
