#include "stowage/pack.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "errors.hpp"
#include "graph.hpp"
#include "solving.hpp"
#include "waiting.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowage::python {
namespace {

using Numbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Offsets for items, in their order.
struct Packing {
  std::vector<std::int64_t> offsets;
  SolveOutcome outcome;
  bool interrupted = false;
};

/// The arrays of a problem.
struct Arrays {
  Numbers lower, upper, size;
  std::optional<Numbers> alignment, fixed;
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>> joins;
  std::vector<std::tuple<std::uint32_t, std::uint32_t>> apart;
};

[[noreturn]] void refuse(const std::string& why) { throw Raised{{ErrorCode::invalid, why, {}}}; }

void check_length(const Numbers& values, std::size_t count, const char* name) {
  if (values.shape(0) != count)
    refuse(std::string(name) + " has " + std::to_string(values.shape(0)) + " values, sizes " + std::to_string(count));
}

void check_pair(std::uint32_t a, std::uint32_t b, std::size_t count) {
  if (a >= count || b >= count || a == b)
    refuse("(" + std::to_string(a) + ", " + std::to_string(b) + ") is not a pair of two of the " +
           std::to_string(count) + " items");
}

template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

void add_pairs(const Arrays& arrays, Problem& problem) {
  const std::size_t count = problem.items.size();
  for (const auto& [a, b, distance] : arrays.joins) {
    check_pair(a, b, count);
    problem.joins.push_back(a < b ? Join{a, b, Bytes(distance)} : Join{b, a, Bytes(-distance)});
  }
  for (const auto& [a, b] : arrays.apart) {
    check_pair(a, b, count);
    problem.apart.push_back({std::min(a, b), std::max(a, b)});
  }
  sort_unique(problem.joins);
  sort_unique(problem.apart);
}

Problem problem_of(const Arrays& arrays) {
  const std::size_t count = arrays.size.shape(0);
  check_length(arrays.lower, count, "lower");
  check_length(arrays.upper, count, "upper");
  if (arrays.alignment) check_length(*arrays.alignment, count, "alignments");
  if (arrays.fixed) check_length(*arrays.fixed, count, "fixed");
  Problem problem;
  problem.items.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    const Bytes size(arrays.size.data()[k]);
    const Interval when{Step(arrays.lower.data()[k]), Step(arrays.upper.data()[k])};
    Item item{.pieces = {{when, {Bytes(0), size}}}, .size = size};
    if (arrays.alignment) item.alignment = Bytes(arrays.alignment->data()[k]);
    if (arrays.fixed && arrays.fixed->data()[k] != -1) item.pinned = Bytes(arrays.fixed->data()[k]);
    problem.items.push_back(std::move(item));
  }
  add_pairs(arrays, problem);
  return problem;
}

Packing solved(Problem problem, std::optional<std::int64_t> capacity, const SearchArguments& search,
               nb::handle progress) {
  if (capacity) problem.capacity = Bytes(*capacity);
  std::stop_source stop;
  News news;
  SolveOptions options{.solver = search.solver,
                       .threads = std::max(1U, search.threads),
                       .seed = search.seed,
                       .node_budget = search.node_budget,
                       .stop = stop.get_token()};
  if (const auto limit = duration_of(search.time_limit)) options.deadline = std::chrono::steady_clock::now() + *limit;
  options.on_better = [&](const SolveOutcome& better) { news.put({"items", better.peak, better.bound.bytes}); };
  auto [outcome, interrupted] =
      run_interruptibly([&] { return or_raise(solve(problem, options)); }, stop, news, progress);
  Packing packing{std::vector<std::int64_t>(problem.items.size(), -1), std::move(outcome), interrupted};
  for (std::size_t k = 0; k < packing.outcome.positions.size(); ++k)
    packing.offsets[k] = packing.outcome.positions[k].offset.value();
  return packing;
}

std::string csv_of(const Packing& packing, const PyTable& table) {
  if (!packing.outcome.has_answer()) refuse("there is no answer to write");
  return csv_with_offsets(table.table, packing.outcome.positions);
}

bool is_proven(const Packing& packing) {
  return packing.outcome.has_answer() && packing.outcome.peak == packing.outcome.bound.bytes;
}

}  // namespace

void bind_pack(nb::module_& module) {
  nb::class_<Packing>(module, "Packing", "Offsets for items.")
      .def_prop_ro(
          "offsets", [](nb::handle self) { return view_of(nb::cast<const Packing&>(self).offsets, self); },
          nb::sig("def offsets(self) -> numpy.typing.NDArray[numpy.int64]"))
      .def_prop_ro("peak", [](const Packing& self) { return self.outcome.peak.value(); })
      .def_prop_ro("bound", [](const Packing& self) { return self.outcome.bound.bytes.value(); })
      .def_prop_ro("proven", is_proven)
      .def_prop_ro("status", [](const Packing& self) { return std::string(to_string(self.outcome.status)); })
      .def_prop_ro("solver", [](const Packing& self) { return self.outcome.solver; })
      .def_ro("interrupted", &Packing::interrupted);
  module.def(
      "pack",
      [](Numbers lower, Numbers upper, Numbers sizes, std::optional<Numbers> alignments, std::optional<Numbers> fixed,
         std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>> joins,
         std::vector<std::tuple<std::uint32_t, std::uint32_t>> apart, std::optional<std::int64_t> capacity,
         const std::string& solver, std::optional<double> time_limit, std::uint32_t threads, std::uint64_t seed,
         std::optional<std::uint64_t> node_budget, nb::object progress) {
        Arrays arrays{std::move(lower), std::move(upper), std::move(sizes), std::move(alignments),
                      std::move(fixed), std::move(joins), std::move(apart)};
        return solved(problem_of(arrays), capacity, {solver, time_limit, threads, seed, node_budget}, progress);
      },
      "lower"_a, "upper"_a, "sizes"_a, "alignments"_a.none(), "fixed"_a.none(), "joins"_a, "apart"_a,
      "capacity"_a.none(), "solver"_a, "time_limit"_a.none(), "threads"_a, "seed"_a, "node_budget"_a.none(),
      "progress"_a.none());
  module.def(
      "pack_table",
      [](const PyTable& table, std::optional<std::int64_t> capacity, const std::string& solver,
         std::optional<double> time_limit, std::uint32_t threads, std::uint64_t seed,
         std::optional<std::uint64_t> node_budget, nb::object progress) {
        return solved(table.table.problem, capacity, {solver, time_limit, threads, seed, node_budget}, progress);
      },
      "table"_a, "capacity"_a.none(), "solver"_a, "time_limit"_a.none(), "threads"_a, "seed"_a, "node_budget"_a.none(),
      "progress"_a.none());
  module.def(
      "table_with_offsets", [](const PyTable& table, const Packing& packing) { return csv_of(packing, table); },
      "table"_a, "packing"_a, "The table with its offset column set.");
}

}  // namespace stowage::python
