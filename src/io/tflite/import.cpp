#include "io/tflite/import.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "io/tflite/npu.hpp"
#include "io/tflite/tflm_kernels.hpp"
#include "io/tflite/unsized.hpp"

namespace stowage::io::tflite {
namespace {

constexpr std::size_t kMaxDepth = 64;  // as for any graph
// Tensors and ops that the graph may have in addition to those of the model, for subgraphs that are run several times.
constexpr std::size_t kAllowance = std::size_t{1} << 16;
constexpr Bytes kDefaultAlignment{16};  // of TFLM's arena

/// A scope of the graph under construction.
struct Draft {
  BodyPath path;
  std::vector<Tensor> tensors = {};
  std::vector<Op> ops = {};
};

/// A subgraph imported into a scope.
struct Instance {
  std::uint32_t subgraph;
  std::size_t base;                   ///< The first of its tensors in the scope.
  std::vector<bool> kept_apart = {};  ///< Tensors that must not become views; empty: none.
};

class Importer {
 public:
  Importer(const File& file, const ModelInfo& model, const ImportRules& rules)
      : file_(file), model_(model), rules_(rules) {
    left_ = kAllowance;
    result_.places.resize(model.subgraphs.size());
    for (std::size_t s = 0; s < model.subgraphs.size(); ++s) {
      result_.places[s].resize(model.subgraphs[s].tensors.size());
      left_ += entries(model.subgraphs[s]);
    }
  }

  Result<ImportedModel> run() {
    Draft root;
    STOWAGE_TRY(const Instance main, add_tensors(root, 0));
    for (const std::uint32_t input : info(main).inputs) root.tensors[input].flags |= TensorFlag::input;
    for (const std::uint32_t output : info(main).outputs) root.tensors[output].flags |= TensorFlag::output;
    lay_out_npu(root);
    STOWAGE_TRY_STATUS(add_operators(root, main));
    STOWAGE_TRY_STATUS(check_sizes());
    result_.description.memories.push_back(
        {.name = "arena", .alignment = rules_.options.alignment.value_or(kDefaultAlignment)});
    result_.description.tensors = std::move(root.tensors);
    result_.description.ops = std::move(root.ops);
    return std::move(result_);
  }

 private:
  [[nodiscard]] static std::size_t entries(const SubgraphInfo& subgraph) {
    return 1 + subgraph.tensors.size() + subgraph.operators.size();
  }
  [[nodiscard]] const SubgraphInfo& info(const Instance& instance) const { return model_.subgraphs[instance.subgraph]; }
  [[nodiscard]] const TensorInfo& info(std::uint32_t subgraph, std::uint32_t tensor) const {
    return model_.subgraphs[subgraph].tensors[tensor];
  }
  [[nodiscard]] static TensorId at(const Instance& instance, std::uint32_t tensor) {
    return TensorId(instance.base + tensor);
  }

  [[nodiscard]] Error fail(const Instance& instance, std::size_t op, const std::string& message) const {
    return file_.fault(ErrorCode::parse, fmt::format("subgraphs[{}].operators[{}]", instance.subgraph, op),
                       fmt::format("{} {}", info(instance).operators[op].kind, message));
  }

  /// Whether two tensors may share an address, if the graph has a reason for it.
  [[nodiscard]] bool may_share(std::uint32_t subgraph_a, std::uint32_t a, std::uint32_t subgraph_b,
                               std::uint32_t b) const {
    if (!rules_.offsets) return true;
    const std::int32_t offset = (*rules_.offsets)[subgraph_a][a];
    return offset >= 0 && offset == (*rules_.offsets)[subgraph_b][b];
  }
  [[nodiscard]] bool is_placed_at_run_time(std::uint32_t subgraph, std::uint32_t tensor) const {
    return rules_.offsets && (*rules_.offsets)[subgraph][tensor] < 0 &&
           info(subgraph, tensor).holding == Holding::computed &&
           info(subgraph, tensor).size.value_or(Bytes(0)) > Bytes(0);
  }

  Result<Instance> add_tensors(Draft& draft, std::uint32_t subgraph) {
    const SubgraphInfo& from = model_.subgraphs[subgraph];
    if (entries(from) > left_)
      return file_.fault(ErrorCode::parse, fmt::format("subgraphs[{}]", subgraph),
                         "subgraphs run each other so often that the graph would be many times larger than the model");
    left_ -= entries(from);
    const Instance instance{subgraph, draft.tensors.size()};
    for (std::uint32_t t = 0; t < from.tensors.size(); ++t) {
      const TensorInfo& tensor = from.tensors[t];
      Tensor& added = draft.tensors.emplace_back(Tensor{
          .name = tensor.name, .size = tensor.size.value_or(Bytes(0)), .dtype = tensor.dtype, .shape = tensor.shape});
      if (tensor.holding == Holding::constant) added.flags |= TensorFlag::constant;
      if (tensor.holding == Holding::variable) added.flags |= TensorFlag::variable;
      if (is_placed_at_run_time(subgraph, t)) added.flags |= TensorFlag::external;
      result_.places[subgraph][t].push_back({draft.path, at(instance, t)});
    }
    return instance;
  }

  /// An NPU's scratch memory is there from the beginning; what its program expects inside lies there.
  void lay_out_npu(Draft& root) {
    const NpuMemory npu = npu_memory(file_, model_);
    if (npu.scratch.empty()) return;
    has_npu_ = true;
    for (const std::uint32_t tensor : npu.scratch) {
      root.tensors[tensor].flags |= TensorFlag::input;
      root.tensors[tensor].flags |= TensorFlag::no_reuse;
    }
    for (std::size_t t = 0; t < npu.inside.size(); ++t) {
      if (npu.inside[t]) root.tensors[t].view_of = ViewOf{TensorId(*npu.whole), *npu.inside[t]};
    }
  }

  // -------------------------------------------------------------------------------------------------------- operators

  Status add_operators(Draft& draft, const Instance& instance) {
    running_.push_back(instance.subgraph);
    for (std::size_t k = 0; k < info(instance).operators.size(); ++k)
      STOWAGE_TRY_STATUS(add_operator(draft, instance, k));
    running_.pop_back();
    return Done{};
  }

  Status add_operator(Draft& draft, const Instance& instance, std::size_t k) {
    const OperatorInfo& from = info(instance).operators[k];
    Op op{.name =
              from.outputs.empty() ? fmt::format("{}_{}", from.kind, k) : info(instance.subgraph, from.outputs[0]).name,
          .kind = from.kind};
    for (const std::optional<std::uint32_t>& input : from.inputs)
      op.inputs.push_back(input ? std::optional(at(instance, *input)) : std::nullopt);
    for (const std::uint32_t output : from.outputs) op.outputs.push_back(at(instance, output));
    if (from.flow != Flow::none) return add_control(draft, instance, k, std::move(op));
    if (is_view(instance, from)) {
      draft.tensors[op.outputs[0].index()].view_of = ViewOf{*op.inputs[0], Bytes(0)};
      op.no_task = true;
    } else if (rules_.options.in_place && !has_npu_) {
      op.in_place = in_place_pairs(instance, from);
    }
    if (!op.no_task && !rules_.offsets) op.workspaces = scratch_of(instance, from);
    draft.ops.push_back(std::move(op));
    return Done{};
  }

  /// The scratch buffers that TFLM's kernel has, as far as they are known.
  [[nodiscard]] std::vector<Workspace> scratch_of(const Instance& instance, const OperatorInfo& op) const {
    std::vector<Workspace> workspaces;
    const std::optional<KernelMemory> memory = kernel_memory(info(instance), op);
    if (!memory) return workspaces;
    for (const std::int64_t bytes : memory->scratch) {
      if (bytes > 0) workspaces.push_back({.size = Bytes(bytes)});
    }
    return workspaces;
  }

  /// A view is always legal here: both tensors have the same bytes, only this operator writes the output, and the
  /// output
  /// shares memory with nothing else.
  [[nodiscard]] bool is_view(const Instance& instance, const OperatorInfo& op) const {
    if (!op.traits.view_like || !rules_.options.views || has_npu_ || op.inputs.empty() || !op.inputs[0] ||
        op.outputs.size() != 1)
      return false;
    const std::uint32_t from = *op.inputs[0];
    const std::uint32_t to = op.outputs[0];
    const std::vector<std::uint32_t>& arguments = info(instance).inputs;
    return is_same_memory(instance, from, to) && (instance.kept_apart.empty() || !instance.kept_apart[to]) &&
           std::find(arguments.begin(), arguments.end(), to) == arguments.end() &&
           may_share(instance.subgraph, from, instance.subgraph, to);
  }

  [[nodiscard]] bool is_same_memory(const Instance& instance, std::uint32_t from, std::uint32_t to) const {
    const TensorInfo& input = info(instance.subgraph, from);
    const TensorInfo& output = info(instance.subgraph, to);
    return from != to && input.size && input.size == output.size && input.dtype == output.dtype &&
           input.holding == Holding::computed && output.holding == Holding::computed;
  }

  [[nodiscard]] std::vector<InPlacePair> in_place_pairs(const Instance& instance, const OperatorInfo& op) const {
    std::vector<InPlacePair> pairs;
    if (op.outputs.size() != 1) return pairs;
    const TensorInfo& output = info(instance.subgraph, op.outputs[0]);
    const auto add = [&](std::uint32_t i) {
      if (i >= op.inputs.size() || !op.inputs[i]) return;
      const TensorInfo& input = info(instance.subgraph, *op.inputs[i]);
      const bool fits = input.holding == Holding::computed && input.size && input.size == output.size;
      if (fits && (op.traits.view_like || input.shape == output.shape)) pairs.push_back({0, i});
    };
    if (op.traits.view_like) add(0);
    for (std::uint32_t i = op.traits.element_wise.lower; i < op.traits.element_wise.upper; ++i) add(i);
    return pairs;
  }

  // ----------------------------------------------------------------------------------------------------------- bodies

  Status add_control(Draft& draft, const Instance& outer, std::size_t k, Op op) {
    const OperatorInfo& from = info(outer).operators[k];
    if (running_.size() > kMaxDepth) return fail(outer, k, fmt::format("is nested more than {} deep", kMaxDepth));
    for (const std::uint32_t subgraph : from.subgraphs) {
      if (std::find(running_.begin(), running_.end(), subgraph) != running_.end())
        return fail(outer, k, fmt::format("runs subgraph {}, which is already running", subgraph));
      STOWAGE_TRY_STATUS(check_arguments(outer, k, subgraph));
    }
    BodyPath path = draft.path;
    path.push_back(static_cast<std::uint32_t>(draft.ops.size()));
    path.push_back(0);
    if (from.flow == Flow::loop) {
      op.control = Control::loop;
      STOWAGE_TRY(Body body, loop_body(std::move(path), outer, k));
      op.bodies.push_back(std::move(body));
    } else {
      op.control = from.flow == Flow::call ? Control::call : Control::branch;
      for (std::uint32_t b = 0; b < from.subgraphs.size(); ++b) {
        path.back() = b;
        STOWAGE_TRY(Body body, plain_body(path, outer, k, from.subgraphs[b]));
        op.bodies.push_back(std::move(body));
      }
    }
    draft.ops.push_back(std::move(op));
    return Done{};
  }

  /// The inputs that become arguments.
  [[nodiscard]] static std::size_t first_argument(const OperatorInfo& op) { return op.flow == Flow::branch ? 1 : 0; }

  Status check_arguments(const Instance& outer, std::size_t k, std::uint32_t subgraph) const {
    const OperatorInfo& op = info(outer).operators[k];
    const SubgraphInfo& inner = model_.subgraphs[subgraph];
    const bool is_condition = op.flow == Flow::loop && subgraph == op.subgraphs[0];
    const std::size_t results = is_condition ? 1 : op.outputs.size();
    if (op.inputs.size() != inner.inputs.size() + first_argument(op) || inner.outputs.size() != results)
      return fail(
          outer, k,
          fmt::format("has {} inputs and {} outputs, which do not fit subgraph {} with {} inputs and {} outputs",
                      op.inputs.size(), op.outputs.size(), subgraph, inner.inputs.size(), inner.outputs.size()));
    if (std::find(op.inputs.begin(), op.inputs.end(), std::nullopt) != op.inputs.end())
      return fail(outer, k, "omits an input, but a subgraph needs all of them");
    std::vector<bool> argument(inner.tensors.size());
    for (const std::uint32_t input : inner.inputs) {
      if (argument[input] || inner.tensors[input].holding != Holding::computed)
        return fail(outer, k, fmt::format("gives tensor {} of subgraph {} a second value", input, subgraph));
      argument[input] = true;
    }
    for (const OperatorInfo& writer : inner.operators) {
      for (const std::uint32_t output : writer.outputs) {
        if (argument[output])
          return fail(outer, k, fmt::format("runs subgraph {}, where {} writes an argument", subgraph, writer.kind));
      }
    }
    if (op.flow == Flow::loop && op.inputs.size() != op.outputs.size())
      return fail(outer, k, "is a loop, but has different numbers of inputs and outputs");
    return check_boundary(outer, k, subgraph);
  }

  /// If offsets are given, arguments and results must have one.
  Status check_boundary(const Instance& outer, std::size_t k, std::uint32_t subgraph) const {
    const OperatorInfo& op = info(outer).operators[k];
    const SubgraphInfo& inner = model_.subgraphs[subgraph];
    bool found = false;
    for (const std::uint32_t t : inner.inputs) found = found || is_placed_at_run_time(subgraph, t);
    for (const std::uint32_t t : inner.outputs) found = found || is_placed_at_run_time(subgraph, t);
    for (const std::uint32_t t : op.outputs) found = found || is_placed_at_run_time(outer.subgraph, t);
    for (std::size_t i = first_argument(op); i < op.inputs.size(); ++i)
      found = found || is_placed_at_run_time(outer.subgraph, *op.inputs[i]);
    if (!found) return Done{};
    Error error =
        fail(outer, k, "has an argument or result that is placed at run time, so the plan cannot be verified");
    error.code = ErrorCode::unsupported;
    return error;
  }

  /// The body of a branch or a call.
  Result<Body> plain_body(const BodyPath& path, const Instance& outer, std::size_t k, std::uint32_t subgraph) {
    const OperatorInfo& op = info(outer).operators[k];
    Draft draft{path};
    Body body;
    STOWAGE_TRY(const Instance inner, add_tensors(draft, subgraph));
    Op arguments{.name = fmt::format("{}_{}/arguments", op.kind, k), .kind = "ARGUMENTS"};
    for (std::size_t i = 0; i < info(inner).inputs.size(); ++i) {
      const std::uint32_t from = *op.inputs[i + first_argument(op)];
      const std::uint32_t to = info(inner).inputs[i];
      const bool by_value =
          info(outer.subgraph, from).holding != Holding::computed || !may_share(outer.subgraph, from, subgraph, to);
      if (by_value) {
        arguments.outputs.push_back(at(inner, to));
      } else {
        body.inputs.push_back({at(outer, from), at(inner, to)});
      }
    }
    if (!arguments.outputs.empty()) draft.ops.push_back(std::move(arguments));
    STOWAGE_TRY_STATUS(add_operators(draft, inner));
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
      body.outputs.push_back({at(inner, info(inner).outputs[i]), at(outer, op.outputs[i])});
    return finish(std::move(body), std::move(draft));
  }

  static Body finish(Body body, Draft draft) {
    body.tensors = std::move(draft.tensors);
    body.ops = std::move(draft.ops);
    return body;
  }

  /// The body of a WHILE: see the header.
  Result<Body> loop_body(BodyPath path, const Instance& outer, std::size_t k) {
    const OperatorInfo& op = info(outer).operators[k];
    Draft draft{std::move(path)};
    Body body;
    STOWAGE_TRY(Instance inner, add_tensors(draft, op.subgraphs[1]));
    STOWAGE_TRY(const Instance condition, add_tensors(draft, op.subgraphs[0]));
    inner.kept_apart.resize(info(inner).tensors.size());
    for (const std::uint32_t output : info(inner).outputs) inner.kept_apart[output] = true;
    STOWAGE_TRY_STATUS(pass_to_condition(draft, inner, condition, outer, k));
    STOWAGE_TRY_STATUS(add_operators(draft, condition));
    add_test(draft, inner, condition, fmt::format("{}_{}", op.kind, k));
    STOWAGE_TRY_STATUS(add_operators(draft, inner));
    carry(draft, body, inner);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const TensorId argument = at(inner, info(inner).inputs[i]);
      body.inputs.push_back({at(outer, *op.inputs[i]), argument});
      body.outputs.push_back({argument, at(outer, op.outputs[i])});
    }
    return finish(std::move(body), std::move(draft));
  }

  Status pass_to_condition(Draft& draft, const Instance& body, const Instance& condition, const Instance& outer,
                           std::size_t k) const {
    Op arguments{.name = fmt::format("{}_{}/arguments", info(outer).operators[k].kind, k), .kind = "ARGUMENTS"};
    for (std::size_t i = 0; i < info(body).inputs.size(); ++i) {
      const std::uint32_t from = info(body).inputs[i];
      const std::uint32_t to = info(condition).inputs[i];
      if (draft.tensors[at(body, from).index()].size != draft.tensors[at(condition, to).index()].size)
        return fail(outer, k, fmt::format("has a condition and a body that disagree about the size of argument {}", i));
      if (may_share(body.subgraph, from, condition.subgraph, to)) {
        draft.tensors[at(condition, to).index()].view_of = ViewOf{at(body, from), Bytes(0)};
      } else {
        arguments.inputs.emplace_back(at(body, from));
        arguments.outputs.push_back(at(condition, to));
      }
    }
    if (!arguments.outputs.empty()) draft.ops.push_back(std::move(arguments));
    return Done{};
  }

  void add_test(Draft& draft, const Instance& body, const Instance& condition, const std::string& name) const {
    Op test{.name = name + "/test", .kind = "WHILE_TEST", .inputs = {at(condition, info(condition).outputs[0])}};
    for (const std::uint32_t argument : info(body).inputs) test.inputs.emplace_back(at(body, argument));
    draft.ops.push_back(std::move(test));
  }

  /// The results become the arguments of the next iteration. A result that no operator of the body writes is copied
  /// first, unless it is the same argument: results could otherwise need to exchange places.
  void carry(Draft& draft, Body& body, const Instance& inner) const {
    std::vector<bool> written(info(inner).tensors.size());
    for (const OperatorInfo& op : info(inner).operators) {
      for (const std::uint32_t output : op.outputs)
        written[output] = info(inner).tensors[output].holding == Holding::computed;
    }
    for (std::size_t i = 0; i < info(inner).outputs.size(); ++i) {
      const std::uint32_t out = info(inner).outputs[i];
      const TensorId in = at(inner, info(inner).inputs[i]);
      TensorId carried = at(inner, out);
      if (carried != in && !written[out]) {
        const Tensor original = draft.tensors[carried.index()];
        const TensorId copy(draft.tensors.size());
        draft.tensors.push_back({.name = original.name + "/carried",
                                 .size = original.size,
                                 .dtype = original.dtype,
                                 .shape = original.shape});
        draft.ops.push_back(
            {.name = original.name + "/carried", .kind = "COPY", .inputs = {carried}, .outputs = {copy}});
        carried = copy;
      }
      body.carried.push_back({carried, in});
    }
  }

  // ------------------------------------------------------------------------------------------------------------ sizes

  /// Checks the sizes of all tensors that the graph accesses.
  Status check_sizes() const {
    std::vector<bool> reached(model_.subgraphs.size());
    reached[0] = true;
    for (std::size_t s = 0; s < reached.size(); ++s) {
      if (!result_.places[s].empty() && !result_.places[s][0].empty()) reached[s] = true;
    }
    if (const std::optional<std::string> complaint = unsized_tensors(model_, reached))
      return file_.fault(ErrorCode::unsupported, {}, *complaint);
    return Done{};
  }

  const File& file_;
  const ModelInfo& model_;
  const ImportRules& rules_;
  ImportedModel result_;
  std::vector<std::uint32_t> running_;  ///< The subgraphs being imported, from the first to the current one.
  bool has_npu_ = false;                ///< Tensors lie where an NPU's program expects them.
  std::size_t left_ = 0;                ///< Tensors and ops that may still be added.
};

}  // namespace

Result<ImportedModel> import_model(const File& file, const ModelInfo& model, const ImportRules& rules) {
  return Importer(file, model, rules).run();
}

}  // namespace stowage::io::tflite
