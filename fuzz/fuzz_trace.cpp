#include <algorithm>
#include <vector>

#include "fuzz.hpp"
#include "stowage/replay.hpp"

/// Any bytes give either a trace, which is consistent and survives writing and reading, or an error with a message.
namespace stowage::fuzz {
namespace {

/// The guarantees of `Trace`: numbers in the order of allocation; frees only of live allocations, with their size.
void expect_in_order(const Trace& trace) {
  std::vector<Bytes> sizes;
  std::vector<bool> live;
  for (const Trace::Event& event : trace.events) {
    if (event.action == Trace::Action::allocate) {
      expect(event.allocation == sizes.size(), "an allocation has another number than its place");
      expect(Bytes(0) <= event.size && event.size <= kMaxBytes, "a size is out of range");
      sizes.push_back(event.size);
      live.push_back(true);
    } else {
      expect(event.allocation < sizes.size() && live[event.allocation], "what is not live is freed");
      expect(event.size == sizes[event.allocation], "a free has another size than its allocation");
      live[event.allocation] = false;
    }
  }
  expect(trace.allocations == sizes.size(), "the number of allocations is another");
}

}  // namespace
}  // namespace stowage::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  const Result<Trace> trace = parse_trace(fuzz::as_text(data, size), "fuzz");
  if (!trace) {
    fuzz::expect_useful(trace.error());
    return 0;
  }
  fuzz::expect_in_order(*trace);
  const Result<Trace> again = parse_trace(trace_to_csv(*trace), "again");
  fuzz::expect(again.has_value() && *again == *trace, "a trace changed on the way through a CSV");
  return 0;
}
