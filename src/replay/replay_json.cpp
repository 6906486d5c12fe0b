#include <string>

#include "files/interface/json_writer.hpp"
#include "stowage/replay.hpp"

namespace stowage {

std::string replay_to_json(const ReplayReport& report) {
  const files::OrderedJson json{{"schema", "stowage.replay/1"},
                                {"allocator", report.allocator},
                                {"device", report.device},
                                {"events", report.events},
                                {"peak_requested_bytes", report.peak_requested.value()},
                                {"peak_reserved_bytes", report.peak_reserved.value()},
                                {"waste", report.waste()},
                                {"ns_per_event", report.ns_per_event},
                                {"failures", report.failures},
                                {"creates", report.creates},
                                {"maps", report.maps},
                                {"unmaps", report.unmaps},
                                {"access_calls", report.access_calls},
                                {"event_waits", report.event_waits}};
  return files::to_line(json) + "\n";
}

}  // namespace stowage
