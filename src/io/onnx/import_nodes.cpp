#include "io/onnx/import_nodes.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "io/onnx/in_place.hpp"
#include "io/onnx/last_reads.hpp"
#include "io/onnx/operands.hpp"
#include "io/onnx/sort_nodes.hpp"
#include "io/onnx/views.hpp"

namespace stowage::io::onnx {
namespace {

/// Operators whose values are not tensors.
constexpr std::string_view kNoTensors[] = {
    "ConcatFromSequence", "Optional",       "SequenceAt",     "SequenceConstruct", "SequenceEmpty",
    "SequenceErase",      "SequenceInsert", "SequenceLength", "SequenceMap",       "SplitToSequence"};

/// Operators that draw random numbers or talk to other processes.
constexpr std::string_view kVarying[] = {"Bernoulli",     "Multinomial",       "RandomNormal", "RandomNormalLike",
                                         "RandomUniform", "RandomUniformLike", "Recv",         "Sampling",
                                         "Send"};

/// Whether a node computes the same from the same inputs, as far as is known.
bool may_repeat(const Node& node) {
  if (!node.domain.empty() && node.domain != "com.microsoft") return false;
  const bool trains = node.kind.find("Dropout") != std::string::npos && node.inputs.size() > 2;
  return !trains && std::find(std::begin(kVarying), std::end(kVarying), node.kind) == std::end(kVarying);
}

/// Tracks which memory already belongs to an output of the model, directly or through a view.
class OutputMemory {
 public:
  explicit OutputMemory(const Draft& draft) : draft_(draft) {}

  [[nodiscard]] bool has(TensorId root) const {
    return draft_.tensors[root.index()].flags.has(TensorFlag::output) || through_views_.contains(root);
  }
  void add_view(TensorId root) { through_views_.insert(root); }

 private:
  const Draft& draft_;
  std::unordered_set<TensorId> through_views_;  ///< Roots.
};

class NodeImport {
 public:
  explicit NodeImport(Draft& draft) : draft_(draft), outputs_(draft) {}

  Status run() {
    for (const TensorInfo& tensor : draft_.graph().initializers)
      STOWAGE_TRY_STATUS(draft_.define_constant(tensor.name, nullptr));
    for (const Node& node : draft_.graph().nodes) {
      if (node.is("Constant")) {
        STOWAGE_TRY_STATUS(add_constant(node));
      } else if (is_control(node)) {
        STOWAGE_TRY_STATUS(import_control(node, draft_));
      } else {
        STOWAGE_TRY_STATUS(add_node(node));
      }
    }
    return Done{};
  }

 private:
  Status add_constant(const Node& node) {
    if (node.outputs.size() != 1 || node.outputs[0].empty())
      return draft_.state().fault(ErrorCode::invalid, fmt::format("{}: a constant has one output", describe(node)));
    return draft_.define_constant(node.outputs[0], &node);
  }

  Status add_node(const Node& node) {
    if (node.domain.empty() &&
        std::find(std::begin(kNoTensors), std::end(kNoTensors), node.kind) != std::end(kNoTensors))
      return draft_.state().fault(
          ErrorCode::unsupported,
          fmt::format("{}: works on sequences, maps or optional values; only tensors can be planned", describe(node)));
    Op op{.name = node.name, .kind = node.kind};
    op.layer = node.layer;
    op.source = node.source;
    op.recompute = may_repeat(node);
    Operands operands;
    STOWAGE_TRY_STATUS(add_inputs(node, op, operands));
    STOWAGE_TRY_STATUS(add_captures(node, op));
    STOWAGE_TRY_STATUS(add_outputs(node, op, operands));
    add_sharing(node, op, operands);
    draft_.ops.push_back(std::move(op));
    return Done{};
  }

  Status add_inputs(const Node& node, Op& op, Operands& operands) {
    for (const std::string& name : node.inputs) {
      op.inputs.emplace_back();
      operands.inputs.emplace_back();
      if (name.empty()) continue;
      STOWAGE_TRY(const TensorId id, draft_.read(name, &node));
      op.inputs.back() = id;
      operands.inputs.back() = operand(id);
    }
    return Done{};
  }

  /// What the bodies of an operator other than If, Loop and Scan read from outside.
  Status add_captures(const Node& node, Op& op) {
    for (const std::string& name : reads_in_bodies(node)) {
      STOWAGE_TRY(const TensorId id, draft_.read(name, &node));
      op.inputs.emplace_back(id);
    }
    return Done{};
  }

  Status add_outputs(const Node& node, Op& op, Operands& operands) {
    for (const std::string& name : node.outputs) {
      operands.outputs.emplace_back();
      if (name.empty()) continue;
      STOWAGE_TRY(const TensorId id, draft_.define(name, TensorFlags(), &node));
      op.outputs.push_back(id);
      operands.outputs.back() = operand(id);
    }
    return Done{};
  }

  [[nodiscard]] Operand operand(TensorId id) const { return {&draft_.facts(id), draft_.tensors[id.index()].size}; }

  void add_sharing(const Node& node, Op& op, const Operands& operands) {
    const ImportOptions& options = draft_.state().options;
    const std::vector<View> views = options.views ? find_views(node, operands) : std::vector<View>();
    if (!views.empty() && may_lie_there(views, op, operands) && costs_nothing(views, node, op, operands)) {
      for (const View& view : views) make_view(output(op, operands, view.output), *op.inputs[view.input], view.offset);
      op.no_task = true;
    } else if (options.in_place) {
      op.in_place = find_in_place(node, operands);  // concerns first outputs only, which are never omitted
    }
  }

  /// Makes the tensor a view of the root of `base`.
  void make_view(TensorId id, TensorId base, Bytes offset) {
    const ViewOf place = root_of(base);
    draft_.tensors[id.index()].view_of = ViewOf{place.tensor, place.offset + offset};
    if (draft_.tensors[id.index()].flags.has(TensorFlag::output)) outputs_.add_view(place.tensor);
  }

  [[nodiscard]] ViewOf root_of(TensorId id) const {
    return draft_.tensors[id.index()].view_of.value_or(ViewOf{id, Bytes(0)});
  }

  /// The tensor of output `position` of the node; the op lists only outputs that are not omitted.
  [[nodiscard]] static TensorId output(const Op& op, const Operands& operands, std::size_t position) {
    const auto end = operands.outputs.begin() + static_cast<std::ptrdiff_t>(position);
    const auto before = std::count_if(operands.outputs.begin(), end, [](const auto& each) { return each.has_value(); });
    return op.outputs[static_cast<std::size_t>(before)];
  }

  /// Parts must be aligned like any tensor. An output of the model is a buffer that the caller receives, so it must not
  /// share memory with an input, a weight or another output.
  [[nodiscard]] bool may_lie_there(const std::vector<View>& views, const Op& op, const Operands& operands) const {
    std::size_t model_outputs = 0;
    for (const View& view : views) {
      if (!is_aligned(view.offset, draft_.state().alignment)) return false;
      if (!draft_.tensors[output(op, operands, view.output).index()].flags.has(TensorFlag::output)) continue;
      const TensorId root = root_of(*op.inputs[view.input]).tensor;
      const bool outside = draft_.tensors[root.index()].flags.any_of(kOwnAddress | TensorFlag::input);
      if (outside || outputs_.has(root) || ++model_outputs > 1) return false;
    }
    return true;
  }

  /// A view of a part keeps the whole live, unlike a copy. It costs nothing if the whole is a constant or is needed as
  /// long anyway: because of a later read, or because all parts together are the whole and the same node reads them
  /// last.
  [[nodiscard]] bool costs_nothing(const std::vector<View>& views, const Node& node, const Op& op,
                                   const Operands& operands) {
    const std::uint32_t input = views.front().input;
    const Bytes whole = operands.input(input)->size;
    if (operands.output(views.front().output)->size == whole) return true;
    if (draft_.tensors[root_of(*op.inputs[input]).tensor.index()].flags.has(TensorFlag::constant)) return true;
    if (!last_reads_) last_reads_.emplace(draft_.graph());
    std::ptrdiff_t end = -1;
    for (const View& view : views) end = std::max(end, last_reads_->find(node.outputs[view.output]).at_most);
    if (end <= last_reads_->find(node.inputs[input]).at_least) return true;
    Bytes covered;
    for (const View& view : views) {
      if (last_reads_->find(node.outputs[view.output]).at_least != end) return false;
      covered += operands.output(view.output)->size;
    }
    return covered == whole;
  }

  Draft& draft_;
  OutputMemory outputs_;
  std::optional<LastReads> last_reads_ = {};  ///< Computed on first use.
};

}  // namespace

Status import_nodes(Draft& draft) { return NodeImport(draft).run(); }

}  // namespace stowage::io::onnx
