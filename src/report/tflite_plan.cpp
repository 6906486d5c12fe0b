#include "io/interface/tflite_plan.hpp"

#include <string>
#include <utility>
#include <vector>

#include "io/interface/tflm.hpp"
#include "stowage/report/export.hpp"

namespace stowage {

Result<TflmMemory> tflm_memory(const ModelFile& model, const Plan& plan, const ImportOptions& options) {
  STOWAGE_TRY(const io::TflmNeed planned, io::tflm_need(model, &plan, options));
  STOWAGE_TRY(const io::TflmNeed own, io::tflm_need(model, nullptr, options));
  return TflmMemory{
      .head = planned.head, .tail = planned.tail, .arena = planned.arena, .own_head = own.head, .own_arena = own.arena};
}

std::string_view tflm_version() { return io::kTflmVersion; }

Result<std::string> tflite_with_plan(const ModelFile& model, const Plan& plan, const ImportOptions& options) {
  STOWAGE_TRY(io::PlannedCopy copy, io::copy_with_plan(model, plan, options));
  // TFLM checks no offset, so an unsafe plan must be refused here.
  const std::vector<Finding> findings = verify(copy.read_back.graph, copy.read_back.plan, {.max_findings = 1});
  if (!findings.empty())
    return Error{ErrorCode::unsupported,
                 "TFLM cannot run with this plan: " + findings[0].message,
                 {.file = model.name, .line = {}, .path = {}}};
  const Result<TflmMemory> memory = tflm_memory(model, plan, options);
  if (!memory || memory->head <= memory->own_head) return std::move(copy.bytes);
  return io::copy_without_offsets(model);
}

Result<std::vector<Finding>> verify_tflite(const ModelFile& model, const ModelFile& copy, const ImportOptions& import,
                                           const VerifyOptions& options) {
  STOWAGE_TRY(const io::PlannedModel planned, io::parse_tflite_plan(model, copy, import));
  return verify(planned.graph, planned.plan, options);
}

}  // namespace stowage
