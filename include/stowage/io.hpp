#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/files.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

/// Files in and out. Every `parse_*` takes the text and the file's name as the user gave it, which only appears in errors; every
/// `*_to_json` / `to_csv` returns text. docs/formats.md describes the formats.
///
/// All functions are thread-safe and keep nothing. Errors name the file, the line or the path inside it, and the tensor or op.
namespace stowage {

// ---------------------------------------------------------------------------------------------------------------- graph

/// Reads `stowage.graph/1`. Refuses, by name, unknown fields and values; bodies nested more than 64 deep.
Result<Graph> parse_graph(std::string_view text, const std::string& file);
/// The file that reads back as a graph of equal description: a tensor or op a line, those of bodies indented behind their op.
[[nodiscard]] std::string graph_to_json(const Graph& graph);

// --------------------------------------------------------------------------------------------------------------- models

/// How a model file becomes a Graph.
struct ImportOptions {
  std::optional<Bytes> alignment;            ///< Of the graph's one memory; default 64 (ONNX), 16 (TFLite).
  bool views = true;                         ///< View-like ops become views (no_task) where that is always legal.
  bool in_place = true;                      ///< Element-wise ops list in-place pairs where that is always legal.
  std::map<std::string, std::int64_t> dims;  ///< Values of symbolic dims, by name.
};

/// Reads an ONNX model; docs/onnx.md tells what becomes what. External data is never opened. Fails with `ErrorCode::parse` on
/// bytes that are no model, `ErrorCode::invalid` on one that breaks ONNX's rules (nodes that are not sorted, a function that
/// calls itself), `ErrorCode::unsupported` on values that are no tensors and on sizes that cannot be found out, of which the
/// message lists the first ten, `ErrorCode::unknown_name` on a name in `dims` that the model does not have.
Result<Graph> parse_onnx(std::string_view bytes, const std::string& file, const ImportOptions& options = {});

/// Reads a TFLite model: what its first subgraph runs (docs/tflite.md). The graph has the file's name, less folders and
/// extensions. Fails with `ErrorCode::parse` on damaged files; with `ErrorCode::unsupported`, by name, on tensors whose size the
/// file does not tell; with `ErrorCode::unknown_name` when `dims` names anything, for dims have no names here.
Result<Graph> parse_tflite(std::string_view bytes, const std::string& file, const ImportOptions& options = {});

/// The bytes of a file, and its name as the user gave it, which only appears in errors. The bytes must outlive it.
struct ModelFile {
  std::string_view bytes;
  std::string name;
};

/// A copy of a TFLite model with the plan as TFLM's offline memory plan (metadata `OfflineMemoryAllocation`); one that is there
/// is replaced, everything else is as it was. `plan` is a plan of `parse_tflite` with the same options. Fails with
/// `ErrorCode::unsupported`, saying why, where TFLM could not run with it: the copy is read back and verified before it is
/// returned.
Result<std::string> tflite_with_plan(const ModelFile& model, const Plan& plan, const ImportOptions& options = {});

/// A model as the offline memory plan of a copy runs it, for `verify`.
struct PlannedModel {
  Graph graph;  ///< Views and the like only where the offsets are equal; what TFLM places at run time is external.
  Plan plan;    ///< With the copies that TFLM does at the ends of subgraphs.
};

/// Reads the offline memory plan of `copy` as a plan for `model`. Fails on damaged files, where there is no plan, and on one of
/// another version or for another number of subgraphs or tensors. Checks the form only; `verify` judges the content.
Result<PlannedModel> parse_tflite_plan(const ModelFile& model, const ModelFile& copy, const ImportOptions& options = {});

// ----------------------------------------------------------------------------------------------------------------- plan

/// A C header: the size and alignment of the arena, and the offset of every tensor, named in a comment. A tensor that does not
/// lie in the arena has -1. Fails with `ErrorCode::unsupported` for a plan that needs more than offsets into one arena.
Result<std::string> plan_to_header(const Graph& graph, const Plan& plan);

// ------------------------------------------------------------------------------------------------------------------ csv

/// A MiniMalloc CSV: the problem, and the table it came from, so that it can be written again with nothing lost.
struct CsvProblem {
  Problem problem;                             ///< One item a row, one region; a row with an offset is pinned there.
  std::vector<std::string> ids;                ///< Of each row; unique.
  std::vector<std::optional<Bytes>> hints;     ///< Of each row; carried along, used by nobody yet.
  std::vector<std::string> header;             ///< The columns as they were named.
  std::vector<std::vector<std::string>> rows;  ///< The fields as they were written.
};

/// Reads columns id (buffer, buffer_id), lower (begin, start), upper (or end, inclusive), size, and optionally alignment, hint,
/// gaps, offset. An offset, hint of -1 or an empty one means none.
Result<CsvProblem> parse_csv(std::string_view text, const std::string& file);

/// The table's rows as they were, with the offset column set (added at the end where there was none).
/// Precondition: one position a row.
[[nodiscard]] std::string csv_with_offsets(const CsvProblem& table, std::span<const Position> positions);

/// Any problem that a CSV can express: one region, no stream order. Pieces become gaps with windows. `ids` has one entry an item.
/// Fails with `ErrorCode::unsupported` otherwise, naming what stands in the way.
Result<std::string> problem_to_csv(const Problem& problem, std::span<const std::string> ids);
/// The same for a table, with its hints: the usual column names, whatever they were.
Result<std::string> table_to_csv(const CsvProblem& table);

}  // namespace stowage
