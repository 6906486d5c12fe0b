#include "files/interface/json_writer.hpp"
#include "stowage/verify.hpp"

namespace stowage {

std::string findings_to_json(const std::vector<Finding>& findings) {
  files::OrderedJson list = files::OrderedJson::array();
  for (const Finding& finding : findings)
    list.push_back({{"rule", to_string(finding.rule)}, {"message", finding.message}});
  return files::to_line({{"schema", "stowage.findings/1"}, {"valid", findings.empty()}, {"findings", list}}) + "\n";
}

}  // namespace stowage
