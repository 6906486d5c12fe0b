#include "io/interface/tflite_plan.hpp"

#include <string>
#include <utility>
#include <vector>

#include "stowage/report/export.hpp"

namespace stowage {

Result<std::string> tflite_with_plan(const ModelFile& model, const Plan& plan, const ImportOptions& options) {
  STOWAGE_TRY(io::PlannedCopy copy, io::copy_with_plan(model, plan, options));
  // TFLM checks no offset, so an unsafe plan must be refused here.
  const std::vector<Finding> findings = verify(copy.read_back.graph, copy.read_back.plan, {.max_findings = 1});
  if (findings.empty()) return std::move(copy.bytes);
  return Error{ErrorCode::unsupported,
               "TFLM cannot run with this plan: " + findings[0].message,
               {.file = model.name, .line = {}, .path = {}}};
}

Result<std::vector<Finding>> verify_tflite(const ModelFile& model, const ModelFile& copy, const ImportOptions& import,
                                           const VerifyOptions& options) {
  STOWAGE_TRY(const io::PlannedModel planned, io::parse_tflite_plan(model, copy, import));
  return verify(planned.graph, planned.plan, options);
}

}  // namespace stowage
