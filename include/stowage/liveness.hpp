#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"

/// Which tensors share memory, and when that memory is needed.
namespace stowage {

using ClassId = Id<struct AliasClassList>;

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

/// Where the memory of a class comes from.
enum class Residence : std::uint8_t {
  shared,      ///< Bytes of an arena that others use before and after.
  persistent,  ///< Bytes of its own for ever: constants and variables.
  external,    ///< Not ours.
  nowhere,     ///< Never accessed: needs none.
};

/// Tensors at fixed distances from each other: a tensor with its views and mandatory aliases. They live and die together.
struct AliasClass {
  MemoryId memory;
  Bytes size;         ///< From its lowest byte to its highest.
  Bytes alignment;    ///< Of its lowest byte.
  TensorFlags flags;  ///< Of all members.
  Residence residence = Residence::nowhere;
  bool whole_run = false;   ///< Shares its bytes with nothing, ever (no_reuse).
  bool never_over = false;  ///< Somebody looks at it after the last step.
  Interval life;            ///< In the linear order.
  StorageId storage;        ///< For residents of shared and persistent memory.
  Bytes offset;             ///< In that storage.
};

/// The unit of placement: a class, or several that follow each other in place.
struct Storage {
  std::vector<ClassId> classes;  ///< In the order in which they take over.
  Bytes size;
  Bytes alignment;
};

/// Where a tensor lies.
struct ClassPlace {
  ClassId id;
  Bytes offset;  ///< From the class's lowest byte.
};

/// Which ops happen before which, over streams. Ops of one stream happen in order; so do ops linked by `after` or by data: an op
/// comes after the latest earlier producer of each tensor that it reads, and of the tensors that this one is a view of or,
/// through an op without task, aliased to. Ops without a task order nothing.
///
/// Holds for each op and stream the first op of that stream that happens after it: O(ops × streams) memory, built in
/// O(edges × streams). Holds nothing for graphs of one stream, where the linear order is all there is.
class HappensBefore {
 public:
  HappensBefore() = default;
  explicit HappensBefore(const Graph& graph);

  [[nodiscard]] std::size_t streams() const { return streams_; }
  /// The first step on `stream` that happens after `step`, or kNever. Precondition: `step` is a task op.
  [[nodiscard]] Step next(Step step, std::size_t stream) const;
  /// True when task op `a` happens before task op `b`.
  [[nodiscard]] bool before(Step a, Step b) const;

 private:
  void link(std::size_t earlier, std::size_t later);

  std::size_t streams_ = 1;
  std::vector<std::uint32_t> stream_of_;
  std::vector<std::uint32_t> next_;  ///< Row-major, op × stream.
};

/// The whole analysis of one graph. A plain value; refers to the graph by ids only.
struct Liveness {
  Step horizon;           ///< One past the last step; at least 1.
  bool no_reuse = false;  ///< Nothing shares bytes with anything, workspaces included.
  std::vector<AliasClass> classes;
  std::vector<ClassPlace> places;  ///< By tensor.
  std::vector<Storage> storages;
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

}  // namespace stowage
