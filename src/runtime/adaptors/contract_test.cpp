#include "support/runtime/contract.hpp"

#include <sstream>

#include "stowage/runtime/adaptors.hpp"
#include "stowage/runtime/pmr.hpp"
#include "support/runtime/plain_allocator.hpp"

/// Every adaptor over the test allocator, two stacks of adaptors, and the test allocator itself, to check the test's
/// own foundation.
namespace stowage::runtime {
namespace {

/// Owns the objects that the allocator under test wraps.
template <class Below, class Make>
AllocatorKind over(std::string name, Make make) {
  return {std::move(name), [make] {
            const auto below = std::make_shared<Below>();
            return Subject{below, make(*below)};
          }};
}

struct Tower {
  TestAllocator heap;
  std::ostringstream out;
  LockAdaptor lock{heap};
  StatisticsAdaptor inner{lock};
  LogAdaptor log{inner, out};
  LimitAdaptor limit{log, Bytes(std::int64_t{1} << 30)};
  FailureAdaptor failure{limit, {}};
};

struct RoundTrip {
  TestAllocator heap;
  PmrResource resource{heap};
};

struct Logged {
  TestAllocator heap;
  std::ostringstream out;
};

const AllocatorKind kKinds[] = {
    {"test", [] { return Subject{{}, std::make_shared<TestAllocator>()}; }},
    over<TestAllocator>("statistics", [](Allocator& below) { return std::make_shared<StatisticsAdaptor>(below); }),
    over<TestAllocator>("limit",
                        [](Allocator& below) { return std::make_shared<LimitAdaptor>(below, Bytes(1 << 30)); }),
    over<Logged>("log", [](Logged& below) { return std::make_shared<LogAdaptor>(below.heap, below.out); }),
    over<TestAllocator>("failure",
                        [](Allocator& below) { return std::make_shared<FailureAdaptor>(below, FailureOptions{}); }),
    over<TestAllocator>("failure_callback",
                        [](Allocator& below) {
                          return std::make_shared<FailureCallbackAdaptor>(
                              below, [](Bytes, StreamId, const Error&) { return false; });
                        }),
    over<TestAllocator>("lock", [](Allocator& below) { return std::make_shared<LockAdaptor>(below); }),
    over<TestResource>("pmr", [](TestResource& below) { return std::make_shared<PmrAllocator>(below); }),
    over<TestResource>("pmr_alignment_4096",
                       [](TestResource& below) {
                         return std::make_shared<PmrAllocator>(below, PmrAllocatorOptions{.alignment = Bytes(4096)});
                       }),
    over<RoundTrip>("pmr_over_pmr", [](RoundTrip& below) { return std::make_shared<PmrAllocator>(below.resource); }),
    over<Tower>("tower", [](Tower& below) { return std::make_shared<StatisticsAdaptor>(below.failure); }),
};

INSTANTIATE_TEST_SUITE_P(Adaptors, AllocatorContract, ::testing::ValuesIn(kKinds), kind_name);

}  // namespace
}  // namespace stowage::runtime
