#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "errors.hpp"
#include "graph.hpp"
#include "solving.hpp"
#include "stowage/plan/plan_file.hpp"
#include "stowage/planner.hpp"
#include "stowage/report.hpp"
#include "stowage/verify.hpp"
#include "waiting.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowage::python {
namespace {

struct PyOptions {
  PlanOptions options;
};

struct PyPlan {
  Planned planned;
  Summary summary;
  bool interrupted = false;
  bool made_here = true;  ///< Not read from a file.
  std::vector<std::int64_t> offsets = {};
  std::vector<std::int64_t> arenas = {};
};

void fill_arrays(PyPlan& plan) {
  const std::size_t tensors = plan.planned.graph.tensors().size();
  plan.offsets.assign(tensors, -1);
  plan.arenas.assign(tensors, -1);
  if (!plan.planned.plan) return;
  for (const Placement& each : plan.planned.plan->placements) {
    plan.offsets[each.tensor.index()] = each.offset.value();
    plan.arenas[each.tensor.index()] = static_cast<std::int64_t>(each.arena.index());
  }
}

const Plan& answer_of(const PyPlan& plan) {
  if (!plan.planned.plan) throw Raised{{ErrorCode::invalid, "planning found no answer, so there is no plan", {}}};
  return *plan.planned.plan;
}

PyPlan made(Planned planned, bool interrupted) {
  PyPlan plan{.planned = std::move(planned), .summary = {}, .interrupted = interrupted};
  plan.summary = summarize(plan.planned);
  fill_arrays(plan);
  return plan;
}

Plan previous_in(const PyGraph& graph, const PyPlan& previous) {
  const std::string text = plan_to_json(previous.planned.graph, answer_of(previous));
  return known_part(graph.graph, *or_raise(parse_plan_file(text, "the previous plan")));
}

PyPlan plan_graph(const PyGraph& graph, const PyOptions& given, const PyPlan* previous, nb::handle progress) {
  std::stop_source stop;
  News news;
  PlanOptions options = given.options;
  if (previous) options.previous = previous_in(graph, *previous);
  options.stop = stop.get_token();
  options.on_better = [&](const PlanProgress& better) {
    news.put({std::string(better.arena), better.peak, better.lower_bound});
  };
  auto [planned, interrupted] =
      run_interruptibly([&] { return or_raise(plan(graph.graph, options)); }, stop, news, progress);
  return made(std::move(planned), interrupted);
}

PyPlan read_plan(const PyGraph& graph, const std::string& text, const std::string& file, const PyOptions& options) {
  Planned planned{.graph = graph.graph, .options = options.options};
  planned.plan = or_raise(parse_plan(text, file, graph.graph));
  planned.lower_bound = planned.plan->lower_bound();
  planned.status = planned.plan->proven_optimal() ? SolveStatus::optimal : SolveStatus::feasible;
  PyPlan plan = made(std::move(planned), false);
  plan.made_here = false;
  return plan;
}

/// The same plan with everything that pages need: one that was read from a file is planned again, in its place.
Planned with_record(const PyPlan& plan) {
  answer_of(plan);
  if (plan.made_here) return plan.planned;
  PlanOptions options = plan.planned.options;
  options.previous = plan.planned.plan;
  options.keep_offsets = true;
  return or_raise(stowage::plan(plan.planned.graph, options));
}

std::string html_of(const PyPlan& plan, const std::string& label, double explain_seconds) {
  const nb::gil_scoped_release release;
  const detail::CheckGuard guard;
  const Planned planned = with_record(plan);
  if (!planned.has_answer()) throw Raised{{ErrorCode::unsupported, "there is no plan to show", {}}};
  const PlanScene scene(planned);
  std::optional<Explanation> explanation;
  if (explain_seconds > 0) {
    explanation = explain(
        scene,
        {.plan = planned.options, .budget = planned.options.capacity, .time_limit = duration_of(explain_seconds)});
  }
  return or_raise(plan_page(
      scene,
      {.label = label, .capacity = planned.options.capacity, .explanation = explanation ? &*explanation : nullptr}));
}

std::tuple<std::string, std::string> explain_graph(const PyGraph& graph, const PyOptions& options,
                                                   std::optional<std::int64_t> capacity,
                                                   std::optional<double> time_limit) {
  const nb::gil_scoped_release release;
  const detail::CheckGuard guard;
  ExplainOptions explaining{.plan = options.options, .time_limit = duration_of(time_limit)};
  if (capacity) explaining.budget = Bytes(*capacity);
  const Explanation explanation = or_raise(explain(graph.graph, explaining));
  return {explanation_to_text(explanation, SizeStyle::human), explanation_to_json(explanation)};
}

VerifyOptions rules_of(const PlanOptions& options) {
  return {.keep_inputs = options.keep_inputs,
          .base = options.base,
          .region_limit = options.region_limit,
          .batch_start = options.batch_start};
}

std::string findings_of(const PyPlan& plan) {
  const Plan& content = answer_of(plan);
  const nb::gil_scoped_release release;
  const detail::CheckGuard guard;
  const VerifyOptions rules = rules_of(plan.planned.options);
  const std::vector<Finding> findings = verify(plan.planned.graph, content, rules);
  return findings_to_json(findings, findings.empty() ? unchecked_claims(plan.planned.graph, content, rules)
                                                     : std::vector<UncheckedClaim>{});
}

std::optional<Bytes> bytes(std::optional<std::int64_t> value) {
  return value ? std::optional(Bytes(*value)) : std::nullopt;
}

/// Options by name; `choice` throws for a word that is none of the two.
bool choice(const std::string& word, const char* usual, const char* other, const char* option) {
  if (word != usual && word != other)
    throw Raised{{ErrorCode::unknown_name,
                  std::string(option) + " is '" + usual + "' or '" + other + "', not '" + word + "'",
                  {}}};
  return word == other;
}

PyOptions make_options(bool in_place, bool keep_inputs, bool no_reuse, const std::string& zero_fill,
                       const std::string& base, const std::string& batch_start, const std::string& padding,
                       std::optional<std::int64_t> region_limit, std::int64_t fuse_inputs_up_to,
                       std::optional<std::int64_t> capacity, std::optional<std::int64_t> capacity_total,
                       const std::string& solver, std::optional<double> time_limit, std::uint32_t threads,
                       std::uint64_t seed, std::optional<std::uint64_t> node_budget, bool memory_priority,
                       bool extra_copies, bool keep_offsets) {
  return {
      {.in_place = in_place,
       .keep_inputs = keep_inputs,
       .extra_copies = extra_copies,
       .no_reuse = no_reuse,
       .zero_fill = choice(zero_fill, "central", "separate", "zero_fill") ? FillPolicy::separate : FillPolicy::central,
       .base = choice(base, "fixed", "refreshable", "base") ? AddressBase::refreshable : AddressBase::fixed,
       .batch_start = choice(batch_start, "free", "same", "batch_start") ? BatchStart::same : BatchStart::free,
       .padding = choice(padding, "own", "none", "padding") ? Padding::none : Padding::own,
       .region_limit = bytes(region_limit),
       .fuse_inputs_up_to = Bytes(fuse_inputs_up_to),
       .capacity = bytes(capacity),
       .capacity_total = bytes(capacity_total),
       .solver = solver,
       .time_limit = duration_of(time_limit),
       .threads = std::max(1U, threads),
       .seed = seed,
       .node_budget = node_budget,
       .memory_priority = memory_priority,
       .keep_offsets = keep_offsets}};
}

void bind_figures(nb::class_<PyPlan>& plan) {
  plan.def_prop_ro("graph", [](const PyPlan& self) { return PyGraph{self.planned.graph}; })
      .def_prop_ro("peak", [](const PyPlan& self) { return self.summary.peak.value(); })
      .def_prop_ro("bound", [](const PyPlan& self) { return self.summary.lower_bound.value(); })
      .def_prop_ro("proven", [](const PyPlan& self) { return self.summary.proven_optimal; })
      .def_prop_ro("fits", [](const PyPlan& self) { return self.planned.has_answer(); })
      .def_prop_ro("weights", [](const PyPlan& self) { return self.summary.weights.value(); })
      .def_prop_ro("total", [](const PyPlan& self) { return self.summary.total.value(); })
      .def_prop_ro("status", [](const PyPlan& self) { return std::string(to_string(self.planned.status)); })
      .def_prop_ro("solver", [](const PyPlan& self) { return self.planned.solver; })
      .def_prop_ro("shortage",
                   [](const PyPlan& self) { return self.made_here ? shortage_text(self.planned) : std::string(); })
      .def_ro("interrupted", &PyPlan::interrupted)
      .def_prop_ro(
          "offsets", [](nb::handle self) { return view_of(nb::cast<const PyPlan&>(self).offsets, self); },
          nb::sig("def offsets(self) -> numpy.typing.NDArray[numpy.int64]"))
      .def_prop_ro(
          "arena_of", [](nb::handle self) { return view_of(nb::cast<const PyPlan&>(self).arenas, self); },
          nb::sig("def arena_of(self) -> numpy.typing.NDArray[numpy.int64]"))
      .def_prop_ro("summary_json", [](const PyPlan& self) { return summary_to_json(self.summary); });
}

}  // namespace

void bind_plan(nb::module_& module) {
  nb::class_<PyOptions>(module, "Options")
      .def(nb::new_([](bool in_place, bool keep_inputs, bool no_reuse, const std::string& zero_fill,
                       const std::string& base, const std::string& batch_start, const std::string& padding,
                       std::optional<std::int64_t> region_limit, std::int64_t fuse_inputs_up_to,
                       std::optional<std::int64_t> capacity, std::optional<std::int64_t> capacity_total,
                       const std::string& solver, std::optional<double> time_limit, std::uint32_t threads,
                       std::uint64_t seed, std::optional<std::uint64_t> node_budget, bool memory_priority,
                       bool extra_copies, bool keep_offsets) {
             return make_options(in_place, keep_inputs, no_reuse, zero_fill, base, batch_start, padding, region_limit,
                                 fuse_inputs_up_to, capacity, capacity_total, solver, time_limit, threads, seed,
                                 node_budget, memory_priority, extra_copies, keep_offsets);
           }),
           nb::kw_only(), "in_place"_a, "keep_inputs"_a, "no_reuse"_a, "zero_fill"_a, "base"_a, "batch_start"_a,
           "padding"_a, "region_limit"_a.none(), "fuse_inputs_up_to"_a, "capacity"_a.none(), "capacity_total"_a.none(),
           "solver"_a, "time_limit"_a.none(), "threads"_a, "seed"_a, "node_budget"_a.none(), "memory_priority"_a,
           "extra_copies"_a, "keep_offsets"_a);
  nb::class_<PyPlan> plan(module, "Plan", "Where every tensor of a graph lies.");
  bind_figures(plan);
  plan.def("to_json", [](const PyPlan& self) { return plan_to_json(self.planned.graph, answer_of(self)); })
      .def("findings_json", findings_of)
      .def("html", html_of, "label"_a, "explain_seconds"_a)
      .def(
          "same_placement",
          [](const PyPlan& self, const PyPlan& other) {
            return self.planned.plan == other.planned.plan && self.planned.status == other.planned.status &&
                   self.planned.graph.description() == other.planned.graph.description();
          },
          "other"_a);
  module.def("plan_graph", plan_graph, "graph"_a, "options"_a, "previous"_a.none(), "progress"_a.none());
  module.def("read_plan", read_plan, "graph"_a, "text"_a, "file"_a, "options"_a);
  module.def("explain_graph", explain_graph, "graph"_a, "options"_a, "capacity"_a.none(), "time_limit"_a.none());
}

}  // namespace stowage::python
