#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/io.hpp"
#include "stowage/planner.hpp"
#include "stowage/stowage.h"
#include "stowage/verify.hpp"
#include "support/generators/annotations.hpp"
#include "support/generators/constrained_graph.hpp"

namespace stowage::testing {
namespace {

template <class T, void (*kFree)(T*)>
struct Free {
  void operator()(T* handle) const { kFree(handle); }
};
template <class T, void (*kFree)(T*)>
using Handle = std::unique_ptr<T, Free<T, kFree>>;
using GraphHandle = Handle<stowage_graph, stowage_graph_free>;
using PlanHandle = Handle<stowage_plan, stowage_plan_free>;
using StatusHandle = Handle<stowage_status, stowage_status_free>;
using TextHandle = Handle<stowage_text, stowage_text_free>;
using BuilderHandle = Handle<stowage_builder, stowage_builder_free>;

template <class T>
T sized() {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}

std::string message(stowage_status* status) {
  const StatusHandle owner(status);
  return stowage_status_message(status);
}

std::string text_of(stowage_text* text) {
  const TextHandle owner(text);
  return {stowage_text_data(text), stowage_text_size(text)};
}

/// A relu that may work in place.
constexpr const char* kReluGraph = R"({"schema":"stowage.graph/1","name":"relu",
 "tensors":[{"name":"x","size":4096,"flags":["input"]},{"name":"y","size":4096,"flags":["output"]}],
 "ops":[{"name":"relu","inputs":[0],"outputs":[1],"in_place":[[0,0]],"workspaces":[{"size":128}]}]})";

GraphHandle graph_from(const std::string& text, const char* name = "relu.json") {
  stowage_graph* graph = nullptr;
  EXPECT_EQ(message(stowage_graph_from_bytes(text.data(), text.size(), name, nullptr, &graph)), "");
  return GraphHandle(graph);
}

PlanHandle plan_of(const GraphHandle& graph, const stowage_plan_options* options = nullptr) {
  stowage_plan* plan = nullptr;
  EXPECT_EQ(message(stowage_plan_make(graph.get(), options, &plan)), "");
  return PlanHandle(plan);
}

stowage_figures figures_of(const PlanHandle& plan) {
  auto figures = sized<stowage_figures>();
  EXPECT_EQ(message(stowage_plan_figures(plan.get(), &figures)), "");
  return figures;
}

// ------------------------------------------------------------------------------ graphs, call by call

/// Rebuilds a description with calls of the builder. Lists live as long as it.
class Rebuilder {
 public:
  explicit Rebuilder(const std::string& name) : builder_(stowage_builder_make(name.c_str())) {}

  void add(const GraphDescription& graph) {
    for (const Memory& memory : graph.memories) add(memory);
    add(graph.tensors, graph.ops);
    for (const Ring& ring : graph.rings)
      stowage_builder_ring(builder_.get(), ring.name.c_str(), ring.size.value(), number(ring.memory));
    for (const ApartTensors& pair : graph.apart) stowage_builder_apart(builder_.get(), number(pair.a), number(pair.b));
  }
  stowage_builder* get() { return builder_.get(); }

 private:
  template <class Id>
  static uint32_t number(Id id) {
    return static_cast<uint32_t>(id.index());
  }
  template <class T, class From, class Convert>
  const T* list(const std::vector<From>& from, Convert convert) {
    auto values = std::make_shared<std::vector<T>>();
    for (const From& each : from) values->push_back(convert(each));
    kept_.push_back(values);
    return values->data();
  }
  template <class Id>
  const uint32_t* numbers(const std::vector<Id>& ids) {
    return list<uint32_t>(ids, [](Id id) { return number(id); });
  }

  void add(const Memory& memory) {
    auto info = sized<stowage_memory_info>();
    info.name = memory.name.c_str();
    info.alignment = memory.alignment.value();
    info.max_size = memory.max_size.value_or(Bytes(0)).value();
    info.kind = memory.kind.c_str();
    info.bandwidth = memory.bandwidth.value_or(0);
    stowage_builder_memory(builder_.get(), &info);
  }
  void add(const std::vector<Tensor>& tensors, const std::vector<Op>& ops) {
    for (const Tensor& tensor : tensors) add(tensor);
    for (const Op& op : ops) add(op);
  }
  void add(const Tensor& tensor);
  void add(const Op& op);
  void add_lists(const Op& op, stowage_op_info& info);
  static uint32_t flags_of(const Op& op);
  stowage_body body_of(const Body& body);

  BuilderHandle builder_;
  std::vector<std::shared_ptr<void>> kept_;
  std::deque<Rebuilder> bodies_;
};

void Rebuilder::add(const Tensor& tensor) {
  auto info = sized<stowage_tensor_info>();
  info.name = tensor.name.c_str();
  info.size = tensor.size.value();
  info.alignment = tensor.alignment.value_or(Bytes(0)).value();
  info.memory = number(tensor.memory);
  for (std::uint32_t bit = 1; bit <= STOWAGE_SHAPE_DATA; bit *= 2)
    info.flags |= tensor.flags.has(static_cast<TensorFlag>(bit)) ? bit : 0U;
  if (tensor.view_of) {
    info.is_view = 1;
    info.view_of = number(tensor.view_of->tensor);
    info.view_offset = tensor.view_of->offset.value();
  }
  info.dtype = tensor.dtype.c_str();
  info.shape = tensor.shape.data();
  info.rank = tensor.shape.size();
  info.origin = tensor.origin ? number(*tensor.origin) + 1 : 0;
  stowage_builder_tensor(builder_.get(), &info);
}

uint32_t Rebuilder::flags_of(const Op& op) {
  const auto flag = [](bool set, int bit) { return set ? static_cast<uint32_t>(bit) : 0U; };
  return flag(op.no_task, STOWAGE_NO_TASK) | flag(op.no_reuse, STOWAGE_OP_NO_REUSE) |
         flag(op.fixed_address, STOWAGE_FIXED_ADDRESS) | flag(!op.recompute, STOWAGE_NO_RECOMPUTE) |
         flag(op.contiguous_inputs == Contiguity::padded, STOWAGE_PADDED_INPUTS) |
         flag(op.contiguous_inputs == Contiguity::packed, STOWAGE_PACKED_INPUTS) |
         flag(op.contiguous_outputs == Contiguity::padded, STOWAGE_PADDED_OUTPUTS) |
         flag(op.contiguous_outputs == Contiguity::packed, STOWAGE_PACKED_OUTPUTS) |
         flag(op.control == Control::branch, STOWAGE_BRANCH) | flag(op.control == Control::loop, STOWAGE_LOOP) |
         flag(op.control == Control::call, STOWAGE_CALL);
}

stowage_body Rebuilder::body_of(const Body& body) {
  Rebuilder& content = bodies_.emplace_back("");
  content.add(body.tensors, body.ops);
  stowage_body result{};
  result.content = content.get();
  result.inputs = list<stowage_pair>(
      body.inputs, [](const BodyInput& each) { return stowage_pair{number(each.outer), number(each.inner)}; });
  result.input_count = body.inputs.size();
  result.outputs = list<stowage_pair>(
      body.outputs, [](const BodyOutput& each) { return stowage_pair{number(each.inner), number(each.outer)}; });
  result.output_count = body.outputs.size();
  result.carried = list<stowage_pair>(
      body.carried, [](const Carried& each) { return stowage_pair{number(each.out), number(each.in)}; });
  result.carried_count = body.carried.size();
  return result;
}

void Rebuilder::add_lists(const Op& op, stowage_op_info& info) {
  info.inputs =
      list<uint32_t>(op.inputs, [](const std::optional<TensorId>& id) { return id ? number(*id) : STOWAGE_NONE; });
  info.input_count = op.inputs.size();
  info.outputs = numbers(op.outputs);
  info.output_count = op.outputs.size();
  info.in_place = list<stowage_in_place>(
      op.in_place, [](const InPlacePair& pair) { return stowage_in_place{pair.output, pair.input}; });
  info.in_place_count = op.in_place.size();
  info.aliases = list<stowage_alias>(
      op.aliases, [](const Alias& alias) { return stowage_alias{alias.output, alias.input, alias.offset.value()}; });
  info.alias_count = op.aliases.size();
  info.workspaces = list<stowage_workspace>(op.workspaces, [](const Workspace& workspace) {
    return stowage_workspace{
        workspace.size.value(),     workspace.alignment.value_or(Bytes(0)).value(),     number(workspace.memory),
        workspace.no_reuse ? 1 : 0, workspace.scope == WorkspaceScope::session ? 1 : 0, 0};
  });
  info.workspace_count = op.workspaces.size();
  info.after = numbers(op.after);
  info.after_count = op.after.size();
  info.filled_outputs = op.zero_fill.outputs.data();
  info.filled_output_count = op.zero_fill.outputs.size();
  info.filled_workspaces = op.zero_fill.workspaces.data();
  info.filled_workspace_count = op.zero_fill.workspaces.size();
  info.bodies = list<stowage_body>(op.bodies, [this](const Body& body) { return body_of(body); });
  info.body_count = op.bodies.size();
}

void Rebuilder::add(const Op& op) {
  auto info = sized<stowage_op_info>();
  info.name = op.name.c_str();
  info.kind = op.kind.c_str();
  info.flags = flags_of(op);
  info.stream = number(op.stream);
  info.fill_value = op.zero_fill.value;
  info.prefetch = op.prefetch ? number(*op.prefetch) + 1 : 0;
  info.batch = op.batch.c_str();
  info.backend = op.backend.c_str();
  info.layer = op.layer.c_str();
  info.source = op.source.c_str();
  info.trip_count = op.trip_count.value_or(0);
  info.has_cost = op.cost ? 1 : 0;
  info.cost = op.cost.value_or(0);
  info.has_flops = op.flops ? 1 : 0;
  info.flops = op.flops.value_or(0);
  info.origin = op.origin ? number(*op.origin) + 1 : 0;
  add_lists(op, info);
  stowage_builder_op(builder_.get(), &info);
}

TEST(CBuilderProperty, BuildsEveryGraphThatTheCppLibraryBuilds) {
  std::size_t with_bodies = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    GraphDescription description = constrained_graph(seed).description();
    annotate(description, seed);
    const Result<Graph> expected = Graph::build(description);
    ASSERT_TRUE(expected);
    Rebuilder rebuilder(description.name);
    rebuilder.add(description);
    stowage_graph* made = nullptr;
    ASSERT_EQ(message(stowage_builder_build(rebuilder.get(), &made)), "") << "seed " << seed;
    const GraphHandle graph(made);
    stowage_text* json = nullptr;
    ASSERT_EQ(message(stowage_graph_to_json(made, &json)), "");
    ASSERT_EQ(text_of(json), graph_to_json(*expected)) << "seed " << seed;
    with_bodies += expected->has_bodies() ? 1U : 0U;
  }
  EXPECT_GT(with_bodies, 20U);
}

TEST(CBuilder, ReportsTheFirstMistake) {
  const BuilderHandle builder(stowage_builder_make("g"));
  auto tensor = sized<stowage_tensor_info>();
  tensor.name = "x";
  tensor.flags = 1U << 20;
  EXPECT_EQ(stowage_builder_tensor(builder.get(), &tensor), STOWAGE_NONE);
  EXPECT_EQ(stowage_builder_op(builder.get(), nullptr), STOWAGE_NONE);
  stowage_graph* graph = nullptr;
  EXPECT_EQ(message(stowage_builder_build(builder.get(), &graph)), "tensor 0: a flag of a tensor is unknown");
  EXPECT_EQ(graph, nullptr);
}

TEST(CBuilder, AnErrorNamesTheOpAndTheTensor) {
  const BuilderHandle builder(stowage_builder_make("g"));
  auto op = sized<stowage_op_info>();
  op.name = "mul";
  const uint32_t nowhere = 5;
  op.inputs = &nowhere;
  op.input_count = 1;
  EXPECT_EQ(stowage_builder_op(builder.get(), &op), 0U);
  stowage_graph* graph = nullptr;
  stowage_status* const status = stowage_builder_build(builder.get(), &graph);
  const StatusHandle owner(status);
  EXPECT_EQ(stowage_status_code(status), STOWAGE_INVALID);
  EXPECT_NE(std::string(stowage_status_message(status)).find("mul"), std::string::npos)
      << stowage_status_message(status);
}

// --------------------------------------------------------------------------------------------- graphs

TEST(CGraph, ErrorsSayWhereTheyAre) {
  const std::string text = "{\"schema\":\"stowage.graph/1\",\n\"tensors\":[{\"name\":\"x\",\"size\":-1}],\"ops\":[]}";
  stowage_graph* graph = nullptr;
  stowage_status* const status = stowage_graph_from_bytes(text.data(), text.size(), "bad.json", nullptr, &graph);
  const StatusHandle owner(status);
  EXPECT_NE(stowage_status_code(status), STOWAGE_OK);
  EXPECT_STREQ(stowage_status_file(status), "bad.json");
  EXPECT_NE(std::string(stowage_status_message(status)).find("tensors[0]"), std::string::npos)
      << stowage_status_message(status);
  EXPECT_EQ(graph, nullptr);
}

TEST(CGraph, AMissingFileIsAnIoError) {
  stowage_graph* graph = nullptr;
  stowage_status* const status = stowage_graph_from_file("/nowhere/model.onnx", nullptr, &graph);
  const StatusHandle owner(status);
  EXPECT_EQ(stowage_status_code(status), STOWAGE_IO);
}

TEST(CGraph, ATableIsForStowagePack) {
  const std::string table = "id,lower,upper,size\na,0,2,100\n";
  stowage_graph* graph = nullptr;
  stowage_status* const status = stowage_graph_from_bytes(table.data(), table.size(), "t.csv", nullptr, &graph);
  const StatusHandle owner(status);
  EXPECT_EQ(stowage_status_code(status), STOWAGE_UNSUPPORTED);
  EXPECT_NE(std::string(stowage_status_message(status)).find("stowage_pack"), std::string::npos);
}

TEST(CGraph, HandlesThatAreNullAreNotUsed) {
  EXPECT_EQ(stowage_graph_tensor_count(nullptr), 0U);
  EXPECT_EQ(stowage_graph_tensor_name(nullptr, 0), nullptr);
  EXPECT_EQ(stowage_plan_offsets(nullptr, nullptr), nullptr);
  EXPECT_EQ(message(stowage_plan_make(nullptr, nullptr, nullptr)), "graph is NULL");
  stowage_graph_free(nullptr);
  stowage_plan_free(nullptr);
  stowage_status_free(nullptr);
  stowage_text_free(nullptr);
  stowage_builder_free(nullptr);
  stowage_device_free(nullptr);
  stowage_allocator_free(nullptr);
}

// ---------------------------------------------------------------------------------------------- plans

TEST(CPlan, HasTheFiguresAndOffsetsOfTheCppPlan) {
  const GraphHandle graph = graph_from(kReluGraph);
  const PlanHandle plan = plan_of(graph);
  const stowage_figures figures = figures_of(plan);
  EXPECT_EQ(figures.peak, 4096 + 128);
  EXPECT_EQ(figures.proven, 1);
  EXPECT_EQ(figures.outcome, STOWAGE_OPTIMAL);
  size_t count = 0;
  const int64_t* const offsets = stowage_plan_offsets(plan.get(), &count);
  ASSERT_EQ(count, 2U);
  EXPECT_EQ(offsets[0], offsets[1]);
  uint32_t arena = 7;
  EXPECT_GE(stowage_plan_workspace(plan.get(), 0, 0, &arena, nullptr), 0);
  EXPECT_EQ(arena, stowage_plan_arenas(plan.get(), nullptr)[0]);
  EXPECT_EQ(stowage_plan_workspace(plan.get(), 0, 1, nullptr, nullptr), -1);
  auto info = sized<stowage_arena>();
  ASSERT_EQ(message(stowage_plan_arena(plan.get(), arena, &info)), "");
  EXPECT_STREQ(info.kind, "shared");
  EXPECT_EQ(stowage_plan_region_size(plan.get(), arena, 0), info.size);
}

TEST(CPlanProperty, WritesTheFileThatTheCppLibraryWrites) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph graph = constrained_graph(seed);
    auto options = sized<stowage_plan_options>();
    options.time_limit = -1;
    options.node_budget = 2000;
    options.refreshable_base = 1;
    const GraphHandle handle = graph_from(graph_to_json(graph));
    stowage_plan* made = nullptr;
    const std::string failure = message(stowage_plan_make(handle.get(), &options, &made));
    const PlanHandle plan(made);
    const Result<Planned> expected =
        stowage::plan(graph, {.base = AddressBase::refreshable, .time_limit = {}, .node_budget = 2000});
    ASSERT_EQ(failure.empty(), expected.has_value()) << "seed " << seed << failure;
    if (!expected || !expected->plan) continue;
    stowage_text* bytes = nullptr;
    ASSERT_EQ(message(stowage_plan_to_bytes(made, &bytes)), "");
    ASSERT_EQ(text_of(bytes), plan_to_json(graph, *expected->plan)) << "seed " << seed;
    size_t findings = 9;
    ASSERT_EQ(message(stowage_verify(handle.get(), made, &options, &findings, nullptr)), "");
    EXPECT_EQ(findings, 0U) << "seed " << seed;
  }
}

TEST(CPlan, ACapacityThatIsTooSmallIsAnOutcome) {
  auto options = sized<stowage_plan_options>();
  options.capacity = 1000;
  const PlanHandle plan = plan_of(graph_from(kReluGraph), &options);
  EXPECT_EQ(figures_of(plan).outcome, STOWAGE_INFEASIBLE);
  stowage_text* text = nullptr;
  ASSERT_EQ(message(stowage_plan_shortage(plan.get(), &text)), "");
  EXPECT_NE(text_of(text), "");
}

TEST(CPlan, ComesBackFromItsBytes) {
  const GraphHandle graph = graph_from(kReluGraph);
  const PlanHandle plan = plan_of(graph);
  stowage_text* bytes = nullptr;
  ASSERT_EQ(message(stowage_plan_to_bytes(plan.get(), &bytes)), "");
  const std::string file = text_of(bytes);
  stowage_plan* read = nullptr;
  ASSERT_EQ(message(stowage_plan_from_bytes(graph.get(), file.data(), file.size(), "relu.plan", &read)), "");
  const PlanHandle again(read);
  EXPECT_EQ(figures_of(again).peak, figures_of(plan).peak);
  EXPECT_EQ(figures_of(again).naive, -1);
  stowage_text* html = nullptr;
  stowage_status* const status = stowage_page(read, "relu", &html);
  const StatusHandle owner(status);
  EXPECT_EQ(stowage_status_code(status), STOWAGE_UNSUPPORTED);
}

TEST(CPlan, VerifyFindsWhatIsWrong) {
  const GraphHandle graph = graph_from(kReluGraph);
  const PlanHandle plan = plan_of(graph);
  stowage_text* bytes = nullptr;
  ASSERT_EQ(message(stowage_plan_to_bytes(plan.get(), &bytes)), "");
  std::string file = text_of(bytes);
  const std::string right = "\"size\":4096";
  ASSERT_NE(file.find(right), std::string::npos);
  file.replace(file.find(right), right.size(), "\"size\":4095");
  stowage_plan* read = nullptr;
  ASSERT_EQ(message(stowage_plan_from_bytes(graph.get(), file.data(), file.size(), "relu.plan", &read)), "");
  const PlanHandle broken(read);
  size_t count = 0;
  stowage_text* json = nullptr;
  ASSERT_EQ(message(stowage_verify(graph.get(), read, nullptr, &count, &json)), "");
  EXPECT_GE(count, 1U);
  EXPECT_NE(text_of(json).find("size"), std::string::npos);
}

TEST(CPlan, KeepsWhatAnEarlierPlanPlaced) {
  const GraphHandle graph = graph_from(kReluGraph);
  const PlanHandle first = plan_of(graph);
  auto options = sized<stowage_plan_options>();
  options.previous = first.get();
  options.keep_offsets = 1;
  const PlanHandle second = plan_of(graph, &options);
  EXPECT_EQ(stowage_plan_offsets(second.get(), nullptr)[0], stowage_plan_offsets(first.get(), nullptr)[0]);
}

TEST(CPlan, ExplainsAndShowsItself) {
  const GraphHandle graph = graph_from(kReluGraph);
  stowage_text* json = nullptr;
  ASSERT_EQ(message(stowage_explain(graph.get(), nullptr, 0, 0, &json)), "");
  EXPECT_NE(text_of(json).find("stowage.explain/1"), std::string::npos);
  stowage_text* html = nullptr;
  ASSERT_EQ(message(stowage_page(plan_of(graph).get(), "relu", &html)), "");
  EXPECT_EQ(text_of(html).find("<!"), 0U);
}

// ----------------------------------------------------------------------------------------- allocators

TEST(CAllocator, AllocatesOnTheHostAndCounts) {
  stowage_device* device = nullptr;
  ASSERT_EQ(message(stowage_device_open("cpu", 0, 0, &device)), "");
  stowage_allocator* caching = nullptr;
  stowage_allocator* streams = nullptr;
  ASSERT_EQ(message(stowage_caching_allocator_make(device, nullptr, &caching)), "");
  ASSERT_EQ(message(stowage_stream_allocator_make(device, nullptr, &streams)), "");
  stowage_device_free(device);  // the allocators keep it
  for (stowage_allocator* const allocator : {caching, streams}) {
    void* address = nullptr;
    ASSERT_EQ(message(stowage_allocate(allocator, 1'000'000, 0, &address)), "");
    ASSERT_NE(address, nullptr);
    static_cast<char*>(address)[999'999] = 1;
    auto stats = sized<stowage_allocator_stats>();
    ASSERT_EQ(message(stowage_allocator_figures(allocator, &stats)), "");
    EXPECT_GE(stats.reserved, 1'000'000);
    EXPECT_EQ(stats.live, 1U);
    stowage_free(allocator, address, 1'000'000, 0);
    EXPECT_GT(stowage_trim(allocator), 0);
    stowage_allocator_free(allocator);
  }
}

TEST(CAllocator, RefusesWhatItCannotServe) {
  stowage_device* device = nullptr;
  stowage_status* status = stowage_device_open("abacus", 0, 0, &device);
  EXPECT_EQ(stowage_status_code(status), STOWAGE_UNKNOWN_NAME);
  stowage_status_free(status);
  ASSERT_EQ(message(stowage_device_open("cpu", 0, 0, &device)), "");
  auto options = sized<stowage_allocator_options>();
  options.alignment = 100;
  stowage_allocator* allocator = nullptr;
  EXPECT_NE(message(stowage_caching_allocator_make(device, &options, &allocator)), "");
  options.alignment = 0;
  options.limit = 4 << 20;
  ASSERT_EQ(message(stowage_caching_allocator_make(device, &options, &allocator)), "");
  void* address = nullptr;
  status = stowage_allocate(allocator, 64 << 20, 0, &address);
  EXPECT_EQ(stowage_status_code(status), STOWAGE_OUT_OF_MEMORY);
  EXPECT_EQ(address, nullptr);
  stowage_status_free(status);
  stowage_allocator_free(allocator);
  stowage_device_free(device);
}

}  // namespace
}  // namespace stowage::testing
