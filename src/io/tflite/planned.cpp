#include <utility>

#include <fmt/format.h>

#include "io/tflite/import.hpp"
#include "io/tflite/metadata.hpp"
#include "io/tflite/parse.hpp"
#include "io/tflite/plan.hpp"
#include "stowage/io.hpp"
#include "stowage/verify.hpp"

namespace stowage {

using namespace io::tflite;

Result<PlannedModel> parse_tflite_plan(const ModelFile& model, const ModelFile& copy, const ImportOptions& options) {
  STOWAGE_TRY(const File opened, File::open(model.bytes, model.name));
  STOWAGE_TRY(const ModelInfo info, read_model(opened));
  STOWAGE_TRY(const File planned, File::open(copy.bytes, copy.name));
  STOWAGE_TRY(const OfflinePlan offline, read_plan(planned, info));
  STOWAGE_TRY(const Imported imported, import_model(opened, info, {.options = options, .offsets = &offline.offsets}));
  STOWAGE_TRY(Graph graph, build_graph(opened, imported.description));
  Plan plan = plan_at(info, imported, graph, offline);
  return PlannedModel{std::move(graph), std::move(plan)};
}

namespace {

/// In a damaged file numbers that a copy has to change may lie in the middle of something else.
Status check_same(const File& file, const Imported& original, const ModelFile& copy, const ImportOptions& options) {
  const auto describe = [&]() -> Result<GraphDescription> {
    STOWAGE_TRY(const File opened, File::open(copy.bytes, copy.name));
    STOWAGE_TRY(const ModelInfo info, read_model(opened));
    STOWAGE_TRY(Imported again, import_model(opened, info, {.options = options}));
    return std::move(again.description);
  };
  const Result<GraphDescription> again = describe();
  if (again && *again == original.description) return Done{};
  return file.fault(ErrorCode::parse, {}, "damaged: parts of the file overlap, so that a copy would be another model");
}

}  // namespace

Result<std::string> tflite_with_plan(const ModelFile& model, const Plan& plan, const ImportOptions& options) {
  STOWAGE_TRY(const File opened, File::open(model.bytes, model.name));
  STOWAGE_TRY(const ModelInfo info, read_model(opened));
  STOWAGE_TRY(const Imported imported, import_model(opened, info, {.options = options}));
  STOWAGE_TRY(const Graph graph, build_graph(opened, imported.description));
  STOWAGE_TRY(const OfflinePlan offline, offsets_of(opened, info, imported, graph, plan));
  STOWAGE_TRY(std::string copy, with_metadata(opened, entries_of(offline, graph.memory(MemoryId(0)).alignment)));
  STOWAGE_TRY_STATUS(check_same(opened, imported, {copy, model.name}, options));
  // TFLM checks nothing, so that a plan which would go wrong there must not leave here.
  STOWAGE_TRY(const PlannedModel again, parse_tflite_plan(model, {copy, model.name}, options));
  const std::vector<Finding> findings = verify(again.graph, again.plan, {.max_findings = 1});
  if (findings.empty()) return copy;
  return opened.fault(ErrorCode::unsupported, {}, "TFLM cannot run with this plan: " + findings[0].message);
}

}  // namespace stowage
