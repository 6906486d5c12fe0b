#include "alloc/moves.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "graph/interface/relations.hpp"

namespace stowage::alloc {
namespace {

class Moves {
 public:
  Moves(const Graph& graph, const PlaceAddress& address_of, Allocation& allocation)
      : graph_(graph), address_of_(address_of), allocation_(allocation) {}

  void run() {
    const Plan& plan = allocation_.plan;
    for (const Clear& clear : plan.clears)
      allocation_.clears.push_back(address_of_(clear.arena, clear.region, clear.offset));
    for (const Copy& copy : plan.copies) {
      const Address to = address_of_(copy.arena, copy.region, copy.offset);
      allocation_.copies.push_back({source(copy), to});
      if (copy.when.kind == CopyMoment::Kind::before_op) add_copied_inputs(copy.when.op, copy.tensor, to);
    }
    std::sort(
        allocation_.copied_inputs.begin(), allocation_.copied_inputs.end(),
        [](const CopiedInput& a, const CopiedInput& b) { return std::tie(a.op, a.input) < std::tie(b.op, b.input); });
  }

 private:
  [[nodiscard]] const Address& address(TensorId tensor) const { return allocation_.tensors[tensor.index()]; }

  /// Where the tensor lies; a part that a packed split leaves elsewhere comes from the split's input.
  [[nodiscard]] Address source(const Copy& copy) const {
    if (copy.when.kind != CopyMoment::Kind::before_op) return address(copy.tensor);
    const Op& op = graph_.op(copy.when.op);
    const bool is_input = std::find(op.inputs.begin(), op.inputs.end(), copy.tensor) != op.inputs.end();
    return is_input ? address(copy.tensor) : part(copy.when.op, copy.tensor).value_or(address(copy.tensor));
  }

  [[nodiscard]] std::optional<Address> part(OpId op, TensorId output) const {
    for (const Group& group : graph_.relations().groups) {
      if (group.op != op || group.side != GroupSide::outputs || !group.whole) continue;
      for (const GroupMember& member : group.members) {
        if (member.tensor != output) continue;
        const Address whole = input_of(op, *group.whole);
        return whole.buffer == nullptr ? whole : Address{whole.buffer, whole.offset + member.offset};
      }
    }
    return std::nullopt;
  }

  /// Where the op reads a tensor, as far as is known.
  [[nodiscard]] Address input_of(OpId op, TensorId tensor) const {
    for (const CopiedInput& copied : allocation_.copied_inputs) {
      if (copied.op == op && graph_.op(op).inputs[copied.input] == tensor) return copied.address;
    }
    return address(tensor);
  }

  /// An op with bodies reads its inputs where they lie; copies are for its bodies.
  void add_copied_inputs(OpId id, TensorId tensor, const Address& to) {
    const Op& op = graph_.op(id);
    if (op.control != Control::none) return;
    for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] == tensor) allocation_.copied_inputs.push_back({id, i, to});
    }
  }

  const Graph& graph_;
  const PlaceAddress& address_of_;
  Allocation& allocation_;
};

}  // namespace

void set_moves(const Graph& graph, const PlaceAddress& address_of, Allocation& allocation) {
  allocation.clears.clear();
  allocation.copies.clear();
  allocation.copied_inputs.clear();
  Moves(graph, address_of, allocation).run();
}

}  // namespace stowage::alloc
