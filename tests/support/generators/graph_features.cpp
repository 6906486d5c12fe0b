#include "support/generators/graph_features.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "support/generators/constrained_graph.hpp"
#include "support/judges/shadow/families.hpp"
#include "support/judges/shadow/groups.hpp"

namespace stowage::testing {
namespace {

class Features {
 public:
  explicit Features(const Graph& graph) : graph_(graph), families_(find_families(graph, Bytes(1))) {}

  [[nodiscard]] std::set<std::string> find() {
    tensors();
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      op(OpId(k));
      groups(OpId(k));
    }
    chains();
    for (std::size_t s = 1; s < graph_.scopes().size(); ++s) body(ScopeId(s));
    whole();
    return std::move(found_);
  }

 private:
  void mark(const char* feature, bool is = true) {
    if (is) found_.insert(feature);
  }

  void tensors() {
    for (const Tensor& tensor : graph_.tensors()) {
      const TensorFlags flags = tensor.flags;
      mark("view", tensor.view_of.has_value());
      mark("zero size", tensor.size == Bytes(0));
      mark("alignment of its own", tensor.alignment.has_value());
      mark("constant", flags.has(TensorFlag::constant));
      mark("variable", flags.has(TensorFlag::variable));
      mark("external", flags.has(TensorFlag::external));
      for (const TensorConstraint& each : kTensorConstraints) mark(each.feature, flags.has(each.flag));
      if (flags.has(TensorFlag::zero_copy)) {
        mark("zero-copy input", flags.has(TensorFlag::input));
        mark("zero-copy output", flags.has(TensorFlag::output));
        mark("reusable input", flags.has(TensorFlag::reusable) && flags.has(TensorFlag::input));
        mark("reusable output", flags.has(TensorFlag::reusable) && flags.has(TensorFlag::output));
      }
    }
  }

  void op(OpId id) {
    const Op& op = graph_.op(id);
    const bool inside = graph_.scope_of(id).index() != 0;
    mark("no task", op.no_task);
    mark("in place", !op.in_place.empty());
    mark("alias", !op.aliases.empty());
    mark("after", !op.after.empty());
    for (const OpConstraint& each : kOpConstraints) mark(each.feature, op.*each.field);
    mark("prefetch", op.prefetch.has_value());
    mark("omitted input", std::any_of(op.inputs.begin(), op.inputs.end(), [](const auto& input) { return !input; }));
    mark("filled output", !op.zero_fill.outputs.empty());
    mark("filled workspace", !op.zero_fill.workspaces.empty());
    mark("filled with another value", !op.zero_fill.empty() && op.zero_fill.value != 0);
    mark("filled in a body", inside && !op.zero_fill.empty());
    mark("group in a body", inside && !input_members(graph_, op).empty());
    for (const Workspace& workspace : op.workspaces) {
      mark("workspace");
      mark("workspace of the session", workspace.scope == WorkspaceScope::session);
    }
    mark("branch", op.control == Control::branch);
    mark("loop", op.control == Control::loop);
    mark("call", op.control == Control::call);
    mark("body in a body", inside && op.control != Control::none);
    mark("control with a label", op.control != Control::none && !op.batch.empty());
  }

  void groups(OpId id) {
    const Op& op = graph_.op(id);
    const std::vector<GroupMember> inputs = input_members(graph_, op);
    const std::vector<GroupMember> outputs = output_members(graph_, op);
    mark("concat", is_concat(graph_, op));
    mark("split", is_split(graph_, op));
    mark("padded inputs", !inputs.empty() && op.contiguous_inputs == Contiguity::padded);
    mark("padded outputs", !outputs.empty() && op.contiguous_outputs == Contiguity::padded);
    mark("contiguous outputs that are views",
         !outputs.empty() && graph_.tensor(outputs.front().tensor).view_of.has_value());
    mark("contiguous outputs that are aliases", !outputs.empty() && !op.aliases.empty());
    mark("filled output in a group", !outputs.empty() && !op.zero_fill.outputs.empty());
    std::map<std::size_t, int> of_family;
    for (const GroupMember& member : inputs) {
      const TensorFlags flags = families_.families[families_.seats[member.tensor.index()].family].flags;
      mark("constant in a group", flags.has(TensorFlag::constant));
      mark("variable in a group", flags.has(TensorFlag::variable));
      mark("zero-copy in a group", flags.has(TensorFlag::zero_copy));
      mark("one family twice in a group", ++of_family[families_.seats[member.tensor.index()].family] > 1);
    }
    for (const GroupMember& member : inputs) ++as_input_[member.tensor];
    for (const GroupMember& member : outputs) as_output_.insert(member.tensor);
    if (is_concat(graph_, op)) as_output_.insert(op.outputs.front());
  }

  void chains() {
    for (const auto& [tensor, times] : as_input_) {
      mark("tensor in two groups", times > 1);
      mark("chain of groups", as_output_.contains(tensor));
    }
  }

  void body(ScopeId id) {
    const Scope& scope = graph_.scope(id);
    std::set<TensorId> inner;
    for (const BodyOutput& pair : scope.outputs) {
      mark("one inner for two outers",
           !inner.insert(pair.inner).second && graph_.op(scope.op).control != Control::loop);
      const bool passed = std::any_of(scope.inputs.begin(), scope.inputs.end(), [&](const BodyInput& input) {
        return families_.seats[input.inner.index()].family == families_.seats[pair.inner.index()].family;
      });
      mark("passed through", passed && graph_.op(scope.op).control != Control::loop);
    }
    for (const Carried& pair : scope.carried) carried(scope, pair);
    for (std::size_t k = 0; k < scope.op_count; ++k) {
      for (const TensorId output : graph_.ops()[scope.first_op.index() + k].outputs) {
        const ScopeId home = families_.families[families_.seats[output.index()].family].home;
        mark("written from inside", home != id && !graph_.ops()[scope.first_op.index() + k].no_task);
      }
    }
  }

  void carried(const Scope& scope, const Carried& pair) {
    mark("carried as it is", pair.in == pair.out);
    if (pair.in == pair.out) return;
    const bool aliased = families_.seats[pair.in.index()].family == families_.seats[pair.out.index()].family;
    mark("carried, aliased", aliased);
    if (aliased) return;
    bool written = false;
    bool read_after = false;
    for (std::size_t k = 0; k < scope.op_count; ++k) {
      const Op& op = graph_.ops()[scope.first_op.index() + k];
      const bool reads = std::find(op.inputs.begin(), op.inputs.end(), std::optional(pair.in)) != op.inputs.end();
      const bool writes = std::find(op.outputs.begin(), op.outputs.end(), pair.out) != op.outputs.end();
      read_after = read_after || (written && reads);
      written = written || writes;
      mark("carried in place", writes && reads && !op.in_place.empty());
    }
    mark(read_after ? "carried, overlapping" : "carried, dead before");
  }

  void whole() {
    mark("apart", !graph_.apart().empty());
    mark("several streams", graph_.stream_count() > 1);
    mark("several memories", graph_.memories().size() > 1);
    mark("batches", graph_.batches().size() > 1);
    for (const Memory& memory : graph_.memories()) {
      mark("memory with a limit", memory.max_size.has_value());
      mark("p2p memory", memory.kind == "p2p");
    }
    std::map<TensorId, std::set<std::string>> writers;
    std::set<TensorId> read;
    for (const Op& op : graph_.ops()) {
      for (const TensorId output : op.outputs) writers[graph_.root(output).tensor].insert(op.batch);
      for (const std::optional<TensorId>& input : op.inputs) {
        if (!input) continue;
        read.insert(graph_.root(*input).tensor);
        const auto found = writers.find(graph_.root(*input).tensor);
        mark("merge of batches", op.batch.empty() && found != writers.end() && !found->second.contains(""));
      }
    }
    for (const auto& [tensor, unused] : writers)
      mark("suspended output", !read.contains(tensor) && !graph_.tensor(tensor).flags.has(TensorFlag::output));
  }

  const Graph& graph_;
  Families families_;
  std::set<std::string> found_;
  std::map<TensorId, int> as_input_;
  std::set<TensorId> as_output_;
};

/// Those that are more than one bool.
std::vector<std::string> compound_features() {
  return {"after",
          "alias",
          "alignment of its own",
          "apart",
          "batches",
          "body in a body",
          "branch",
          "call",
          "carried as it is",
          "carried in place",
          "carried, aliased",
          "carried, dead before",
          "carried, overlapping",
          "chain of groups",
          "concat",
          "constant",
          "constant in a group",
          "contiguous outputs that are aliases",
          "contiguous outputs that are views",
          "control with a label",
          "external",
          "filled in a body",
          "filled output",
          "filled output in a group",
          "filled with another value",
          "filled workspace",
          "group in a body",
          "in place",
          "loop",
          "memory with a limit",
          "merge of batches",
          "no task",
          "omitted input",
          "one family twice in a group",
          "one inner for two outers",
          "p2p memory",
          "padded inputs",
          "padded outputs",
          "passed through",
          "prefetch",
          "reusable input",
          "reusable output",
          "several memories",
          "several streams",
          "split",
          "suspended output",
          "tensor in two groups",
          "variable",
          "variable in a group",
          "view",
          "workspace",
          "workspace of the session",
          "written from inside",
          "zero size",
          "zero-copy in a group",
          "zero-copy input",
          "zero-copy output"};
}

}  // namespace

std::set<std::string> graph_features(const Graph& graph) { return Features(graph).find(); }

const std::vector<std::string>& all_graph_features() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all = compound_features();
    for (const OpConstraint& each : kOpConstraints) all.emplace_back(each.feature);
    for (const TensorConstraint& each : kTensorConstraints) all.emplace_back(each.feature);
    return all;
  }();
  return kAll;
}

}  // namespace stowage::testing
