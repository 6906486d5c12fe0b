#include "files/interface/json_writer.hpp"
#include "stowage/verify.hpp"

namespace stowage {

std::string findings_to_json(const std::vector<Finding>& findings, const std::vector<UncheckedClaim>& unchecked) {
  files::OrderedJson list = files::OrderedJson::array();
  for (const Finding& finding : findings)
    list.push_back({{"rule", to_string(finding.rule)}, {"message", finding.message}});
  files::OrderedJson claims = files::OrderedJson::array();
  for (const UncheckedClaim& claim : unchecked) {
    claims.push_back({{"arena", claim.arena.index()},
                      {"lower_bound", claim.lower_bound.value()},
                      {"checked", claim.checked.value()},
                      {"message", claim.message}});
  }
  return files::to_line({{"schema", "stowage.findings/1"},
                         {"valid", findings.empty()},
                         {"findings", list},
                         {"unchecked", claims}}) +
         "\n";
}

}  // namespace stowage
