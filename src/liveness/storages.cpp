#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "liveness/assembly.hpp"
#include "liveness/classes.hpp"
#include "liveness/group_layout.hpp"
#include "liveness/in_place.hpp"
#include "liveness/loop_layout.hpp"

/// Which classes share an address: first what must lie at fixed distances, then, op by op, what may take over from an input, and
/// every other class on its own.
namespace stowage::liveness {
namespace {

void start_storage(Liveness& result, ClassId id) {
  AliasClass& klass = result.classes[id.index()];
  klass.storage = StorageId(result.storages.size());
  result.storages.push_back(Storage{.classes = {id}, .size = klass.size, .alignment = klass.alignment});
}

void take_over(Liveness& result, const Takeover& takeover) {
  AliasClass& output = result.classes[takeover.output.index()];
  const AliasClass& input = result.classes[takeover.input.index()];
  Storage& storage = result.storages[input.storage.index()];
  output.storage = input.storage;
  output.offset = input.offset + takeover.offset;
  storage.classes.push_back(takeover.output);
  storage.size = std::max(storage.size, output.offset + output.size);
  storage.alignment = std::max(storage.alignment, output.alignment);
}

/// Groups, loops and fused inputs, before anything is taken over in place.
void join_rigidly(const Graph& graph, const LivenessOptions& options, Liveness& result) {
  Assembly assembly(result);
  GroupLayout groups(graph, result, assembly);
  groups.run();
  lay_out_loops(graph, options, result, assembly);
  if (options.batch_start == BatchStart::same) groups.align_batches();
  groups.fuse_inputs();
  groups.settle(assembly.build());
}

bool has_rigid_parts(const Graph& graph, const Liveness& result) {
  return graph.has_bodies() || !result.fused.empty() || std::any_of(graph.ops().begin(), graph.ops().end(), [](const Op& op) {
           return op.contiguous_inputs != Contiguity::none || op.contiguous_outputs != Contiguity::none;
         });
}

void sort_copies(std::vector<PlannedCopy>& copies) {
  const auto key = [](const PlannedCopy& copy) {
    // The back edge comes behind everything else of its body.
    const std::int64_t when = copy.before < 0 ? std::numeric_limits<std::int64_t>::max() : copy.before;
    return std::tuple(copy.scope, when, copy.tensor, copy.to ? copy.to->id : ClassId(), copy.offset);
  };
  std::sort(copies.begin(), copies.end(), [&](const PlannedCopy& a, const PlannedCopy& b) { return key(a) < key(b); });
}

/// Puts every class that is in no storage yet into one, op by op, in place where that is possible.
class Placing {
 public:
  Placing(const Graph& graph, const LivenessOptions& options, Liveness& result)
      : graph_(graph),
        options_(options),
        result_(result),
        in_place_(options.in_place && !options.no_reuse),
        placed_(result.classes.size()) {
    for (const Storage& storage : result.storages) {
      for (const ClassId id : storage.classes) placed_[id.index()] = true;
    }
  }

  void run() {
    for (const Moment& moment : result_.timeline.moments) {
      if (moment.kind == Moment::Kind::op) place(moment.op);
    }
    for (std::size_t id = 0; id < result_.classes.size(); ++id) start(ClassId(id));
  }

 private:
  void place(OpId id) {
    const Op& op = graph_.op(id);
    if (op.no_task) return;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) start(result_.places[input->index()].id);
    }
    if (in_place_) {
      for (const Takeover& takeover : choose_takeovers(graph_, options_, result_, placed_, id)) {
        take_over(result_, takeover);
        placed_[takeover.output.index()] = true;
      }
    }
    for (const TensorId output : op.outputs) start(result_.places[output.index()].id);
  }

  void start(ClassId id) {
    const Residence residence = result_.classes[id.index()].residence;
    const bool resident = residence == Residence::shared || residence == Residence::persistent || residence == Residence::pool;
    if (placed_[id.index()] || !resident) return;
    start_storage(result_, id);
    placed_[id.index()] = true;
  }

  const Graph& graph_;
  const LivenessOptions& options_;
  Liveness& result_;
  bool in_place_;
  std::vector<bool> placed_;  ///< By class.
};

}  // namespace

void form_storages(const Graph& graph, const LivenessOptions& options, Liveness& result) {
  if (has_rigid_parts(graph, result)) join_rigidly(graph, options, result);
  Placing(graph, options, result).run();
  sort_copies(result.copies);
}

}  // namespace stowage::liveness
