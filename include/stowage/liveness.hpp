#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/liveness/classes.hpp"
#include "stowage/liveness/happens_before.hpp"
#include "stowage/liveness/timeline.hpp"

/// Which tensors share memory, and when that memory is needed.
namespace stowage {

/// When memory that must hold a value is filled.
enum class FillPolicy : std::uint8_t {
  central,   ///< All of it before the first op, where that is possible: fewer and larger clears.
  separate,  ///< Each right before its op: the memory serves others until then.
};

/// Where the contiguous groups of different batches start.
enum class BatchStart : std::uint8_t {
  free,  ///< Wherever it is best.
  same,  ///< The first group of a kind of each batch at one offset, the second ones at another, and so on.
};

struct LivenessOptions {
  bool in_place = true;                          ///< Let outputs overwrite inputs where the op allows it and the rules permit.
  bool keep_inputs = false;                      ///< Inputs live to the end of the run.
  bool no_reuse = false;                         ///< Everything lives through the whole run.
  std::vector<std::string> no_reuse_names = {};  ///< So do tensors, and outputs and workspaces of ops, of these names.
  FillPolicy zero_fill = FillPolicy::central;
  AddressBase base = AddressBase::fixed;
  BatchStart batch_start = BatchStart::free;
  Bytes fuse_inputs_up_to = {};  ///< Zero-copy inputs no larger than this lie next to each other in our memory instead.
};

/// What is known about a value beside the steps that touch it.
struct Sides {
  bool before = false;  ///< It is there before the first step.
  bool after = false;   ///< Somebody looks at it after the last step.
};

/// The steps at which a value is needed that is touched during `touched` (ascending). Thread-safe.
[[nodiscard]] std::vector<Interval> lives_between(const Timeline& timeline, std::span<const Interval> touched, Sides sides);

/// The whole analysis of one graph. A plain value; refers to the graph by ids only.
struct Liveness {
  Timeline timeline;
  Step horizon;           ///< One past the last step; at least 1.
  bool no_reuse = false;  ///< Nothing shares bytes with anything, workspaces included.
  AddressBase base = AddressBase::fixed;
  std::vector<char> no_reuse_ops = {};  ///< By op: its workspaces share bytes with nothing. Empty: those that say so themselves.
  std::vector<AliasClass> classes;
  std::vector<ClassPlace> places;  ///< By tensor.
  std::vector<Storage> storages;
  std::vector<PlannedCopy> copies;  ///< By scope, op.
  std::vector<char> central_fills;  ///< By op: whether its fill happens before everything. Empty: there are none.
  std::vector<TensorId> bound;      ///< Tensors that lie in the caller's buffers.
  std::vector<TensorId> fused;  ///< Inputs that are small enough to be copied in together, and lie next to each other for that.
  std::vector<std::pair<TensorId, std::string>> notes;  ///< What was asked and not granted.
  std::vector<Edge> edges;                              ///< That prefetch rings need.
  HappensBefore order;

  /// The steps at which task ops read or write the class, ascending, each once.
  [[nodiscard]] std::span<const Step> accesses(ClassId id) const {
    return std::span(access_steps).subspan(access_begin[id.index()], access_begin[id.index() + 1] - access_begin[id.index()]);
  }

  std::vector<std::size_t> access_begin;  ///< By class, plus one.
  std::vector<Step> access_steps;
};

/// Analyses `graph`. O(tensors + accesses + edges × streams), plus for each op a matching of its in-place pairs.
/// Cannot fail: a built Graph is consistent. Thread-safe.
[[nodiscard]] Liveness analyze(const Graph& graph, const LivenessOptions& options = {});

/// Two accesses to the same bytes of one value, on different streams, at least one of them a write, that nothing orders. What
/// such a graph computes is a matter of chance, with any plan.
struct Race {
  struct Access {
    OpId op;
    TensorId tensor;
    bool writes;
  };
  Access first;  ///< In the graph's order.
  Access second;
};

/// A race of the graph, if there is one. `liveness` is that of the graph. O(accesses × streams) for each batch, except for values
/// that very many unordered ops write in parts. Thread-safe.
[[nodiscard]] std::optional<Race> find_race(const Graph& graph, const Liveness& liveness);

/// A race in a sentence that names both ops and tensors, and says what to do.
[[nodiscard]] std::string describe(const Race& race, const Graph& graph);

}  // namespace stowage
