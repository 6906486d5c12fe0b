#include <utility>

#include <fmt/format.h>

#include "io/interface/tflite_plan.hpp"
#include "io/tflite/build.hpp"
#include "io/tflite/copy.hpp"
#include "io/tflite/import.hpp"
#include "io/tflite/metadata.hpp"
#include "io/tflite/plan.hpp"

namespace stowage::io {

using namespace tflite;

Result<PlannedModel> parse_tflite_plan(const ModelFile& model, const ModelFile& copy, const ImportOptions& options) {
  STOWAGE_TRY(const File opened, File::open(model.bytes, model.name));
  STOWAGE_TRY(const ModelInfo info, read_model(opened));
  STOWAGE_TRY(const File planned, File::open(copy.bytes, copy.name));
  STOWAGE_TRY(const OfflinePlan offline, read_plan(planned, info));
  STOWAGE_TRY(const ImportedModel imported,
              import_model(opened, info, {.options = options, .offsets = &offline.offsets}));
  STOWAGE_TRY(Graph graph, build_graph(opened, imported.description));
  Plan plan = plan_at(info, imported, graph, offline);
  return PlannedModel{std::move(graph), std::move(plan)};
}

namespace {

/// In a damaged file, numbers that a copy has to change may overlap other data.
Status check_same(const File& file, const ImportedModel& original, const ModelFile& copy,
                  const ImportOptions& options) {
  const auto describe = [&]() -> Result<GraphDescription> {
    STOWAGE_TRY(const File opened, File::open(copy.bytes, copy.name));
    STOWAGE_TRY(const ModelInfo info, read_model(opened));
    STOWAGE_TRY(ImportedModel again, import_model(opened, info, {.options = options}));
    return std::move(again.description);
  };
  const Result<GraphDescription> again = describe();
  if (again && *again == original.description) return Done{};
  return file.fault(ErrorCode::parse, {}, "damaged: parts of the file overlap, and a copy would be another model");
}

}  // namespace

Result<PlannedCopy> copy_with_plan(const ModelFile& model, const Plan& plan, const ImportOptions& options) {
  STOWAGE_TRY(const File opened, File::open(model.bytes, model.name));
  STOWAGE_TRY(const ModelInfo info, read_model(opened));
  STOWAGE_TRY(const ImportedModel imported, import_model(opened, info, {.options = options}));
  STOWAGE_TRY(const Graph graph, build_graph(opened, imported.description));
  STOWAGE_TRY(const OfflinePlan offline, offsets_of(opened, info, imported, graph, plan));
  STOWAGE_TRY(std::string bytes, with_metadata(opened, entries_of(offline, graph.memory(MemoryId(0)).alignment)));
  STOWAGE_TRY_STATUS(check_same(opened, imported, {bytes, model.name}, options));
  STOWAGE_TRY(PlannedModel read_back, parse_tflite_plan(model, {bytes, model.name}, options));
  return PlannedCopy{std::move(bytes), std::move(read_back)};
}

Result<std::string> copy_without_offsets(const ModelFile& model) {
  STOWAGE_TRY(const File opened, File::open(model.bytes, model.name));
  STOWAGE_TRY(const ModelInfo info, read_model(opened));
  OfflinePlan none{.offsets = {}, .arena = Bytes(0)};
  for (const SubgraphInfo& subgraph : info.subgraphs) none.offsets.emplace_back(subgraph.tensors.size(), kNoOffset);
  return with_metadata(opened, entries_of(none, Bytes(1)));
}

}  // namespace stowage::io
