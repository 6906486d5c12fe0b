#pragma once

#include <span>

#include "layout/interface/analysis.hpp"
#include "report/page_data.hpp"
#include "stowage/graph.hpp"
#include "stowage/io.hpp"
#include "stowage/report/page.hpp"

/// Fills the data of a page from graphs and plans.
namespace stowage::report {

/// Fills steps, ops, tensors (except for their holders) and reads.
void add_graph(PlanData& data, const Graph& graph, const Analysis& analysis);
/// The step at which a workspace's op runs first.
[[nodiscard]] std::int64_t step_of(const Timeline& timeline, OpId op);
[[nodiscard]] PageArena page_arena(const Arena& arena, std::string memory);
/// The kind of a tensor's holder if no op wrote it: "constant", "variable", "input", or empty.
[[nodiscard]] std::string_view kind_of_given(const Tensor& tensor);

/// The data of a plan made by `plan`.
[[nodiscard]] PlanData planned_data(const PlanScene& of);
/// The data of a plan from a file, which may be wrong. Only the options that the analysis depends on matter.
[[nodiscard]] PlanData foreign_data(const DiffSide& side, const PlanOptions& options);
[[nodiscard]] PlanData table_data(const CsvProblem& table, std::span<const Position> positions, const Summary& summary);

}  // namespace stowage::report
