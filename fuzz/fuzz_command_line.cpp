#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "fuzz.hpp"
#include "plan/interface/plan_file.hpp"
#include "stowage/io.hpp"
#include "stowage/planner.hpp"
#include "stowage/report.hpp"
#include "stowage/verify.hpp"

/// Mutates valid graph files by their structure: ids, sizes, flags, fields, tensors, ops, bodies. Then does what the
/// command line does with a graph: plan, write, verify, plan again and keep every offset, explain, diff. Whatever the
/// graph, nothing fails that has no business to: a graph that is valid is planned or refused with a sentence, a plan of
/// ours passes `verify`, and can be kept for its own graph.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace stowage::fuzz {
namespace {

using Json = nlohmann::json;
using Random = std::minstd_rand;

// ------------------------------------------------------------------------------------------------------------ mutation

std::size_t below(Random& random, std::size_t count) { return count == 0 ? 0 : random() % count; }

template <class List>
auto& any_of(Random& random, List& list) {
  return list[below(random, list.size())];
}

/// A value somewhere in the document, and the name of the innermost field that it belongs to.
struct Spot {
  Json* value;
  std::string field;
};

void collect(Json& value, const std::string& field, std::vector<Spot>& spots) {
  spots.push_back({&value, field});
  if (value.is_object()) {
    for (auto& [name, member] : value.items()) collect(member, name, spots);
  } else if (value.is_array()) {
    for (Json& element : value) collect(element, field, spots);
  }
}

Json any_position(Random& random, std::size_t count) { return static_cast<std::int64_t>(below(random, count)); }

/// A tensor with some field that it may have.
void vary_tensor(Random& random, Json& tensor, std::size_t tensors) {
  static const std::array<const char*, 9> kFlags = {"input",    "output",    "constant", "variable",  "no_reuse",
                                                    "external", "zero_copy", "reusable", "shape_data"};
  switch (below(random, 6)) {
    case 0:
      tensor["flags"].push_back(any_of(random, kFlags));
      break;
    case 1:
      tensor.erase("flags");
      break;
    case 2:
      tensor["view_of"] = {{"tensor", any_position(random, tensors)}, {"offset", below(random, 3) * 32}};
      break;
    case 3:
      tensor.erase("view_of");
      break;
    case 4:
      tensor["alignment"] = std::int64_t{1} << below(random, 12);
      break;
    default:
      tensor["memory"] = below(random, 2);
  }
}

Json any_pair(Random& random, const Json& op, const char* first, const char* second) {
  const auto count = [&](const char* name) { return op.contains(name) && op[name].is_array() ? op[name].size() : 1; };
  return Json::array({any_position(random, count(first)), any_position(random, count(second))});
}

/// An op with some field that it may have.
void vary_op(Random& random, Json& op, std::size_t tensors, std::size_t position) {
  switch (below(random, 14)) {
    case 0:
      op["inputs"].push_back(any_position(random, tensors));
      break;
    case 1:
      op["outputs"].push_back(any_position(random, tensors));
      break;
    case 2:
      op["in_place"].push_back(any_pair(random, op, "outputs", "inputs"));
      break;
    case 3: {
      Json alias = any_pair(random, op, "outputs", "inputs");
      alias.push_back(below(random, 2) * 32);
      op["alias"].push_back(std::move(alias));
      break;
    }
    case 4:
      op["stream"] = below(random, 3);
      break;
    case 5:
      op["after"].push_back(any_position(random, position));
      break;
    case 6:
      op["batch"] = below(random, 2) == 0 ? "1" : "8";
      break;
    case 7:
      op["contiguous_inputs"] = below(random, 2) == 0 ? "padded" : "packed";
      break;
    case 8:
      op["contiguous_outputs"] = below(random, 2) == 0 ? "padded" : "packed";
      break;
    case 9:
      op["zero_fill"] = {{"outputs", {0}}, {"value", below(random, 2)}};
      break;
    case 10:
      op["workspaces"].push_back(
          {{"size", 1 + below(random, 200)}, {"scope", below(random, 4) == 0 ? "session" : "op"}});
      break;
    case 11:
      op["fixed_address"] = true;
      break;
    case 12:
      op["no_task"] = true;
      break;
    default:
      op["no_reuse"] = true;
  }
}

void vary_number(Random& random, Json& number, const std::string& field) {
  const std::int64_t old = number.is_number_integer() ? number.get<std::int64_t>() : 0;
  const bool is_size = field == "size" || field == "alignment" || field == "max_size" || field == "offset";
  static constexpr std::array<std::int64_t, 9> kSizes = {
      0, 1, 7, 32, 64, 100, 4096, std::int64_t{1} << 40, std::int64_t{1} << 61};
  switch (below(random, 5)) {
    case 0:
      number = old + 1;
      break;
    case 1:
      number = old - 1;
      break;
    case 2:
      number = old * 2;
      break;
    default:
      number = is_size ? any_of(random, kSizes) : static_cast<std::int64_t>(below(random, 12));
  }
}

void vary_list(Random& random, Json& list) {
  const std::size_t count = list.size();
  if (count == 0) return;
  const auto at = [&] { return list.begin() + static_cast<std::ptrdiff_t>(below(random, count)); };
  switch (below(random, 4)) {
    case 0:
      list.erase(at());
      break;
    case 1:
      list.insert(at(), Json(any_of(random, list)));
      break;
    case 2:
      list.push_back(Json(any_of(random, list)));
      break;
    default:
      std::swap(*at(), *at());
  }
}

/// Another value for a spot: of its kind, or that of another spot of the same field.
void vary(Random& random, std::vector<Spot>& spots, std::size_t tensors) {
  Spot& spot = any_of(random, spots);
  if (below(random, 4) == 0) {
    const Spot& other = any_of(random, spots);
    if (other.field == spot.field && other.value != spot.value && other.value->type() == spot.value->type()) {
      *spot.value = Json(*other.value);
      return;
    }
  }
  if (spot.value->is_number()) return vary_number(random, *spot.value, spot.field);
  if (spot.value->is_array()) return vary_list(random, *spot.value);
  if (!spot.value->is_object()) return;
  if (spot.field == "tensors") return vary_tensor(random, *spot.value, tensors);
  if (spot.field == "ops") return vary_op(random, *spot.value, tensors, tensors);
}

/// Appends an op that reads and writes any tensors, some of them new.
void add_op(Random& random, Json& graph) {
  if (!graph.contains("tensors") || !graph["tensors"].is_array()) return;
  Json& tensors = graph["tensors"];
  Json op = {{"name", "new"}, {"inputs", Json::array()}, {"outputs", Json::array()}};
  for (std::size_t i = below(random, 3); i > 0; --i) op["inputs"].push_back(any_position(random, tensors.size()));
  tensors.push_back({{"name", "t"}, {"size", 32 * (1 + below(random, 4))}});
  op["outputs"].push_back(tensors.size() - 1);
  if (!graph.contains("ops") || !graph["ops"].is_array()) graph["ops"] = Json::array();
  Json& ops = graph["ops"];
  ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(below(random, ops.size() + 1)), std::move(op));
}

/// Kept apart, or moved: pairs of the root.
void add_apart(Random& random, Json& graph) {
  if (!graph.contains("tensors")) return;
  const std::size_t count = graph["tensors"].size();
  graph["apart"].push_back(Json::array({any_position(random, count), any_position(random, count)}));
}

void mutate(Random& random, Json& graph) {
  for (std::size_t rounds = 1 + below(random, 4); rounds > 0; --rounds) {
    std::vector<Spot> spots;
    collect(graph, "", spots);
    const std::size_t tensors = graph.contains("tensors") && graph["tensors"].is_array() ? graph["tensors"].size() : 0;
    switch (below(random, 16)) {
      case 0:
        add_op(random, graph);
        break;
      case 1:
        add_apart(random, graph);
        break;
      case 2:  // options are drawn from the name
        graph["name"] = std::to_string(below(random, 4096));
        break;
      case 3:
      case 4:
      case 5: {  // fields of some op or tensor
        const bool ops = below(random, 2) == 0;
        std::erase_if(spots, [&](const Spot& spot) {
          return spot.field != (ops ? "ops" : "tensors") || !spot.value->is_object();
        });
        if (!spots.empty()) vary(random, spots, tensors);
        break;
      }
      default:
        vary(random, spots, tensors);
    }
  }
}

std::size_t copy_out(const std::string& text, std::uint8_t* data, std::size_t max_size) {
  if (text.size() > max_size) return 0;
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

// ---------------------------------------------------------------------------------------------------- the command line

constexpr std::size_t kSmall = 120;  // planning must not slow down the search for inputs

std::size_t extent_of(const std::vector<Op>& ops) {
  std::size_t entries = 0;
  for (const Op& op : ops) {
    entries += 1 + op.inputs.size() + op.outputs.size() + op.workspaces.size() + op.in_place.size();
    for (const Body& body : op.bodies) entries += body.tensors.size() + extent_of(body.ops);
  }
  return entries;
}

bool is_small(const Graph& graph) {
  const GraphDescription description = graph.description();
  return description.tensors.size() + extent_of(description.ops) <= kSmall;
}

PlanOptions options_for(const Graph& graph) {
  PlanOptions options{.time_limit = std::chrono::seconds(1), .node_budget = 500};
  std::size_t draw = std::hash<std::string>()(graph.name());
  const auto sometimes = [&draw](std::size_t share) {
    const bool yes = draw % share == 0;
    draw /= share;
    return yes;
  };
  if (sometimes(3)) options.zero_fill = FillPolicy::separate;
  if (sometimes(3)) options.base = AddressBase::refreshable;
  if (sometimes(4)) options.batch_start = BatchStart::same;
  if (sometimes(4)) options.padding = Padding::none;
  if (sometimes(4)) options.keep_inputs = true;
  if (sometimes(4)) options.region_limit = Bytes(128);
  if (sometimes(4)) options.fuse_inputs_up_to = Bytes(64);
  if (sometimes(5)) options.in_place = false;
  if (sometimes(5)) options.memory_priority = true;
  if (sometimes(9)) options.no_reuse = true;
  return options;
}

void expect_verified(const Graph& graph, const PlanFile& file, const PlanOptions& options) {
  const VerifyOptions verifying{.keep_inputs = options.keep_inputs,
                                .base = options.base,
                                .region_limit = options.region_limit,
                                .batch_start = options.batch_start};
  for (const Finding& finding : verify(graph, file, verifying)) expect(false, finding.message);
}

/// `plan --previous PLAN --keep-offsets` of the same graph.
void expect_kept(const Graph& graph, const Planned& planned, const PlanFile& file) {
  // Kept offsets and all sizes together must stay within 2^62.
  constexpr Bytes kLarge{std::int64_t{1} << 55};
  if (planned.naive > kLarge || planned.plan->peak() > kLarge) return;
  PlanOptions options = planned.options;
  options.previous = known_part(graph, file);
  options.keep_offsets = true;
  options.memory_priority = false;
  const Result<Planned> again = plan(graph, options);
  if (!again) expect(false, "a plan cannot be kept for its own graph: " + again.error().message);
  expect(again->plan.has_value(), "a plan was not kept for its own graph");
  expect(!diff_to_text(diff(planned, *again), SizeStyle::human).empty(), "a diff without text");
  expect(Json::accept(diff_to_json(diff(planned, file))), "a diff that is not JSON");
}

void explain_all(const PlanScene& scene, const PlanOptions& options) {
  const ExplainOptions explaining{.plan = options,
                                  .within = 0.1,
                                  .budget = Bytes(scene.planned().plan->peak().value() / 2),
                                  .time_limit = std::chrono::milliseconds(200)};
  const Explanation explanation = explain(scene, explaining);
  expect(!explanation_to_text(explanation, SizeStyle::human).empty(), "an explanation without text");
  expect(Json::accept(explanation_to_json(explanation)), "an explanation that is not JSON");
  expect(plan_page(scene, {"fuzz", {}, &explanation}).has_value(), "no page");
  expect(Json::accept(timeline_to_trace(scene)), "a timeline that is not JSON");
  expect(!timeline_to_snapshot(scene).empty(), "no snapshot");
}

}  // namespace
}  // namespace stowage::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  using namespace stowage::fuzz;
  Random random(seed + 1);
  Json graph = Json::parse(as_text(data, size), nullptr, false);
  if (!graph.is_object() || below(random, 64) == 0) return LLVMFuzzerMutate(data, size, max_size);
  mutate(random, graph);
  const std::size_t written = copy_out(graph.dump(-1, ' ', false, Json::error_handler_t::replace), data, max_size);
  return written == 0 ? size : written;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  const Result<Graph> graph = parse_graph(fuzz::as_text(data, size), "fuzz");
  if (!graph) {
    fuzz::expect_useful(graph.error());
    return -1;  // not worth keeping
  }
  if (!fuzz::is_small(*graph)) return -1;
  const PlanOptions options = fuzz::options_for(*graph);
  const Result<Planned> planned = plan(*graph, options);
  if (!planned) {
    fuzz::expect(!planned.error().message.empty(), "an error without a message");
    return 0;
  }
  fuzz::expect(!summary_to_json(summarize(*planned)).empty(), "no summary");
  if (!planned->plan) return 0;
  const Result<std::shared_ptr<const PlanFile>> file = parse_plan_file(plan_to_json(*graph, *planned->plan), "plan");
  fuzz::expect(file.has_value(), "a plan that was written cannot be read");
  fuzz::expect_verified(*graph, **file, planned->options);
  fuzz::expect_kept(*graph, *planned, **file);
  if (planned->has_answer()) fuzz::explain_all(PlanScene(*planned), planned->options);
  return 0;
}
