#include "support/generators/dump_graph.hpp"

#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "graph/interface/flags.hpp"

namespace stowage::testing {
namespace {

class Dump {
 public:
  [[nodiscard]] std::string of(const GraphDescription& graph) {
    out_ << "graph '" << graph.name << "'\n";
    for (const Memory& memory : graph.memories) {
      out_ << "  memory " << memory.name << " (" << memory.kind << ") alignment " << memory.alignment.value();
      if (memory.max_size) out_ << " at most " << memory.max_size->value();
      out_ << "\n";
    }
    for (const Ring& ring : graph.rings)
      out_ << "  ring " << ring.name << ": " << ring.size.value() << " in " << ring.memory.index() << "\n";
    scope(graph.tensors, graph.ops, "  ");
    for (const ApartTensors& pair : graph.apart)
      out_ << "  apart " << pair.a.index() << " and " << pair.b.index() << "\n";
    return out_.str();
  }

 private:
  void scope(const std::vector<Tensor>& tensors, const std::vector<Op>& ops, const std::string& indent) {
    for (std::size_t i = 0; i < tensors.size(); ++i) tensor(tensors[i], i, indent);
    for (std::size_t i = 0; i < ops.size(); ++i) op(ops[i], i, indent);
  }

  void tensor(const Tensor& tensor, std::size_t index, const std::string& indent) {
    out_ << indent << "tensor " << index << ": " << tensor.size.value() << " in " << tensor.memory.index();
    if (tensor.alignment) out_ << " aligned " << tensor.alignment->value();
    if (tensor.view_of) out_ << " = " << tensor.view_of->tensor.index() << "+" << tensor.view_of->offset.value();
    for (const NamedTensorFlag& flag : kTensorFlags) {
      if (tensor.flags.has(flag.value)) out_ << " " << flag.name;
    }
    out_ << "\n";
  }

  void op(const Op& op, std::size_t index, const std::string& indent) {
    out_ << indent << "op " << index << " " << op.kind << " s" << op.stream.index() << ": (";
    for (const std::optional<TensorId>& input : op.inputs)
      out_ << (input ? std::to_string(input->index()) : "-") << " ";
    out_ << ") -> (";
    for (const TensorId output : op.outputs) out_ << output.index() << " ";
    out_ << ")";
    for (const InPlacePair& pair : op.in_place) out_ << " in_place " << pair.output << "<" << pair.input;
    for (const Alias& alias : op.aliases)
      out_ << " alias " << alias.output << "=" << alias.input << "+" << alias.offset.value();
    for (const OpId after : op.after) out_ << " after " << after.index();
    for (const Workspace& workspace : op.workspaces) {
      out_ << " workspace " << workspace.size.value() << " in " << workspace.memory.index();
      if (workspace.alignment) out_ << " aligned " << workspace.alignment->value();
      out_ << (workspace.scope == WorkspaceScope::session ? " session" : "") << (workspace.no_reuse ? " no_reuse" : "");
    }
    rules(op);
    out_ << "\n";
    for (const Body& body : op.bodies) this->body(body, indent);
  }

  void rules(const Op& op) {
    const auto contiguity = [](Contiguity kind) { return kind == Contiguity::padded ? " padded" : " packed"; };
    if (op.contiguous_inputs != Contiguity::none) out_ << contiguity(op.contiguous_inputs) << " inputs";
    if (op.contiguous_outputs != Contiguity::none) out_ << contiguity(op.contiguous_outputs) << " outputs";
    for (const std::uint32_t output : op.zero_fill.outputs) out_ << " fill output " << output;
    for (const std::uint32_t workspace : op.zero_fill.workspaces) out_ << " fill workspace " << workspace;
    if (!op.zero_fill.empty()) out_ << " with " << int{op.zero_fill.value};
    for (const NamedOpFlag& flag : kOpFlags) {
      if (op.*flag.field) out_ << " " << flag.name;
    }
    if (!op.batch.empty()) out_ << " [" << op.batch << "]";
    if (op.prefetch) out_ << " prefetch " << op.prefetch->index();
    if (op.trip_count) out_ << " " << *op.trip_count << " times";
    constexpr std::string_view kControls[] = {"", " branch", " loop", " call"};
    out_ << kControls[static_cast<std::size_t>(op.control)];
  }

  void body(const Body& body, const std::string& indent) {
    out_ << indent << "  body";
    for (const BodyInput& pair : body.inputs) out_ << " in " << pair.outer.index() << ">" << pair.inner.index();
    for (const BodyOutput& pair : body.outputs) out_ << " out " << pair.inner.index() << ">" << pair.outer.index();
    for (const Carried& pair : body.carried) out_ << " carried " << pair.out.index() << ">" << pair.in.index();
    out_ << "\n";
    scope(body.tensors, body.ops, indent + "    ");
  }

  std::ostringstream out_;
};

}  // namespace

std::string dump_graph(const Graph& graph) { return Dump().of(graph.description()); }

}  // namespace stowage::testing
