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

/// Readers and writers of graphs, models and packing problems. Readers take the text, and the
/// file's name for error messages; writers return text. docs/formats.md describes the formats.
///
/// All functions are thread-safe and stateless. Errors name the file, the line or the path inside
/// the file, and the tensor or op.
namespace stowage {

// ----------------------------------------------------------------------------------------- tables

/// A MiniMalloc CSV: the problem, and the table that it was read from, so that it can be written
/// back without loss.
struct CsvProblem {
  Problem problem;  ///< One item per row, one region. A row with an offset is pinned to it.
  std::vector<std::string> ids;                ///< One per row; unique.
  std::vector<std::optional<Bytes>> hints;     ///< One per row; preserved, not used.
  std::vector<std::string> header;             ///< The column names as written.
  std::vector<std::vector<std::string>> rows;  ///< The fields as written.
};

/// Reads columns id (buffer, buffer_id), lower (begin, start), upper (or end, inclusive), size, and
/// optionally alignment, hint, gaps, apart, offset. An offset or hint of -1, or an empty one, means
/// none.
STOWAGE_EXPORT Result<CsvProblem> parse_csv(std::string_view text, const std::string& file);

/// The table with its offset column set; the column is appended if there was none. Precondition:
/// one position per row.
[[nodiscard]] STOWAGE_EXPORT std::string csv_with_offsets(const CsvProblem& table,
                                                          std::span<const Position> positions);

/// Writes a problem as CSV; `ids` has one entry per item. Pieces become gaps with windows. Fails
/// with `ErrorCode::unsupported` on what a CSV cannot express, such as several regions or a stream
/// order.
STOWAGE_EXPORT Result<std::string> problem_to_csv(const Problem& problem,
                                                  std::span<const std::string> ids);
/// The same for a table, with its hints and the standard column names.
STOWAGE_EXPORT Result<std::string> table_to_csv(const CsvProblem& table);

// ----------------------------------------------------------------------------------------- graphs

/// Reads `stowage.graph/1`. Rejects unknown fields and values, naming them, and bodies nested more
/// than 64 deep.
STOWAGE_EXPORT Result<Graph> parse_graph(std::string_view text, const std::string& file);
/// Writes a file that reads back as a graph with an equal description: one tensor or op per line,
/// those of bodies indented after their op.
[[nodiscard]] STOWAGE_EXPORT std::string graph_to_json(const Graph& graph);

// ---------------------------------------------------------------------------------------- formats

/// How a file is read. A format ignores the options that it does not support, except for `dims`.
struct ImportOptions {
  /// The alignment of every memory of a graph, of a model's only memory (default: 64 for ONNX, 16
  /// for TFLite), and of every row of a table without its own alignment.
  std::optional<Bytes> alignment;
  /// Turn view-like ops of a model into views (no_task) where that is always legal.
  bool views = true;
  /// Give element-wise ops of a model in-place pairs where that is always legal.
  bool in_place = true;
  /// Treat what is computed from constants alone as constant too: computed once, before the first
  /// run. Absent: as the runtimes of the format do, which is true for ONNX only.
  std::optional<bool> fold = {};
  std::map<std::string, std::int64_t> dims;  ///< Values of symbolic dimensions, by name.
  /// Shapes of a model's inputs, by name: they say how large the dims are that the file leaves
  /// open, with or without a name. What the file states must agree.
  std::map<std::string, std::vector<std::int64_t>> shapes = {};
  /// Accept files that ask for this many times as much as usual: more objects, larger products such
  /// as batches × ops. Above that, a file is refused with `ErrorCode::unsupported`.
  std::uint32_t limit = 1;
};
enum class ImportOption : std::uint8_t { alignment, views, in_place, fold, dims, shapes };

/// The content of a file: a graph, or a table that is already a packing problem.
using Imported = std::variant<Graph, CsvProblem>;

/// What a file contains, for those who decide how to plan it.
struct FileInfo {
  /// A number, the name of a symbolic dim, or neither if the file does not say it.
  using Dim = std::variant<std::monostate, std::int64_t, std::string>;
  struct Input {
    std::string name;
    std::string dtype;                      ///< Empty if unknown.
    std::optional<std::vector<Dim>> shape;  ///< Absent: not even the number of dims is known.
  };
  /// A reason why there is no plan.
  struct Obstacle {
    std::string where;        ///< The op, input or constant; empty: the whole file.
    std::string reason;       ///< In words.
    std::size_t tensors = 0;  ///< How many tensors have an unknown size because of it.
  };

  std::string_view format;  ///< As `Format::name`.
  std::string name;         ///< Of the graph; may be empty.
  std::map<std::string, std::int64_t> opsets =
      {};  ///< Versions by domain ("ai.onnx", "com.microsoft").
  std::vector<Input> inputs = {};
  std::vector<std::string> dims = {};  ///< All symbolic dims, those of inputs first.
  /// Import options with which the file can be planned, or, if there are obstacles, with which they
  /// were found: those that were given, and a trial value for each dim of an input that the file
  /// leaves open and that was not given.
  std::map<std::string, std::int64_t> dim_values = {};
  std::map<std::string, std::vector<std::int64_t>> shape_values = {};
  Bytes weights{0};                             ///< Of initializers or constants, unaligned.
  std::map<std::string, std::size_t> ops = {};  ///< How many there are of each kind, in bodies too.
  std::vector<Obstacle> unsupported = {};  ///< Empty: `import_bytes` succeeds with these options.
};

/// An entry of `formats()`.
struct Format {
  std::string_view name;         ///< As in error messages, help and docs/formats.md: "onnx".
  std::string_view suffix;       ///< Of file names, before an optional ".gz": ".onnx".
  std::string_view holds;        ///< What its files contain: "model", "graph", "table".
  std::string_view description;  ///< A few words for lists of formats.
  std::span<const ImportOption> options;  ///< The options that it supports.
  /// Whether these bytes look like a file of this format, judged by their beginning. Accepts any
  /// bytes.
  bool (*recognises)(std::string_view bytes);
  Result<Imported> (*parse)(std::string_view bytes, const std::string& file,
                            const ImportOptions& options);
  /// Says what a file contains that `parse` may refuse. Null: what `parse` makes of it says it all.
  Result<FileInfo> (*inspect)(std::string_view bytes, const std::string& file,
                              const ImportOptions& options) = nullptr;
};

/// All formats, in the order in which help lists them.
[[nodiscard]] STOWAGE_EXPORT std::span<const Format> formats();

/// The format of a file, determined by its content or, if no format or several recognise it, by the
/// suffix of its name. If several recognise it and the suffix is none of theirs, the first of
/// `formats`. Null if nothing identifies it.
[[nodiscard]] STOWAGE_EXPORT const Format* find_format(std::string_view bytes,
                                                       std::string_view name);

/// Reads the bytes of a file (as `read_file` returns them) of any format. Fails with
/// `ErrorCode::parse`, listing the formats, when `find_format` returns null, or with
/// `ErrorCode::unsupported`, saying what it is and what to do, for a kind of model that is known
/// but not read (GGUF, PyTorch, safetensors, TensorFlow, Keras, MLIR, Core ML, ONNX text …); with
/// `ErrorCode::unknown_name` for a dimension that the file does not have. Other failures depend on
/// the format:
/// - graph: as `parse_graph`. csv: as `parse_csv`.
/// - onnx (docs/onnx.md): `ErrorCode::parse` on bytes that are not a model, `ErrorCode::invalid` on
///   a model that breaks ONNX's rules (nodes that form a cycle, a function that calls itself),
///   `ErrorCode::unsupported` on values that are not tensors and on unknown sizes, of which the
///   message lists the first ten. External data is never opened.
/// - tflite (docs/tflite.md): the first subgraph, named after the file without folders and
///   suffixes. `ErrorCode::parse` on damaged files; `ErrorCode::unsupported` on tensors of unknown
///   size, naming them.
STOWAGE_EXPORT Result<Imported> import_bytes(std::string_view bytes, const std::string& file,
                                             const ImportOptions& options = {});

/// Says what a file contains, even if it cannot be planned. Fails as `import_bytes` does on files
/// that are of no format, are damaged, or do not have the given dims and inputs. A model that is
/// read but cannot be planned is not an error: `FileInfo::unsupported` says why.
STOWAGE_EXPORT Result<FileInfo> inspect_bytes(std::string_view bytes, const std::string& file,
                                              const ImportOptions& options = {});

/// The bytes of a file, and its name for error messages. The bytes must outlive it.
struct ModelFile {
  std::string_view bytes;
  std::string name;
};

}  // namespace stowage
