#include "io/tflite/plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace stowage::io::tflite {
namespace {

/// A tensor of the model.
struct Source {
  std::uint32_t subgraph;
  std::uint32_t tensor;
};

/// The index of a tensor among all tensors of the graph.
std::size_t flat(const Graph& graph, const GraphPlace& place) {
  const std::optional<ScopeId> scope = graph.find_scope(place.body);
  STOWAGE_CHECK(scope.has_value(), "a tensor was imported into a body that the graph does not have");
  return graph.scope(*scope).first_tensor.index() + place.tensor.index();
}

// ---------------------------------------------------------------------------------------------------- plan to offsets

class Writer {
 public:
  Writer(const File& file, const ModelInfo& model, const ImportedModel& imported, const Graph& graph, const Plan& plan)
      : file_(file),
        model_(model),
        imported_(imported),
        graph_(graph),
        plan_(plan),
        placements_(graph.tensors().size()) {}

  Result<OfflinePlan> run() {
    STOWAGE_TRY_STATUS(check_plan());
    STOWAGE_TRY_STATUS(note_placements());
    OfflinePlan result{.offsets = {}, .arena = arena_ ? plan_.arenas[*arena_].size : Bytes(0)};
    for (std::uint32_t s = 0; s < model_.subgraphs.size(); ++s) {
      std::vector<std::int32_t>& offsets = result.offsets.emplace_back();
      for (std::uint32_t t = 0; t < model_.subgraphs[s].tensors.size(); ++t) {
        STOWAGE_TRY(const std::int32_t offset, offset_of({s, t}));
        offsets.push_back(offset);
      }
    }
    STOWAGE_TRY_STATUS(check_variables(result.offsets));
    return result;
  }

 private:
  [[nodiscard]] Error fail(const std::string& what) const {
    return file_.fault(ErrorCode::unsupported, {}, "TFLM cannot run with this plan: " + what);
  }
  [[nodiscard]] std::string describe(Source source) const {
    return fmt::format("'{}' (tensor {} of subgraph {})", model_.subgraphs[source.subgraph].tensors[source.tensor].name,
                       source.tensor, source.subgraph);
  }

  Status check_plan() {
    for (std::size_t a = 0; a < plan_.arenas.size(); ++a) {
      if (plan_.arenas[a].kind == ArenaKind::persistent) continue;
      if (arena_ || plan_.arenas[a].kind != ArenaKind::shared || plan_.arenas[a].regions.size() > 1)
        return fail("it has a single contiguous arena");
      if (plan_.arenas[a].size > Bytes(std::numeric_limits<std::int32_t>::max()))
        return fail("its offsets have 32 bits");
      arena_ = a;
    }
    if (!plan_.clears.empty() || !plan_.bindings.empty()) return fail("it neither clears memory nor binds buffers");
    return Done{};
  }

  Status note_placements() {
    for (const Placement& placement : plan_.placements) {
      if (placement.tensor.index() >= placements_.size() || placement.arena.index() >= plan_.arenas.size())
        return file_.fault(ErrorCode::invalid, {}, "the plan belongs to another graph");
      placements_[placement.tensor.index()] = &placement;
    }
    return Done{};
  }

  Result<std::int32_t> offset_of(Source source) const {
    const TensorInfo& tensor = model_.subgraphs[source.subgraph].tensors[source.tensor];
    std::optional<std::int32_t> result;
    if (tensor.size.value_or(Bytes(0)) == Bytes(0)) return kNoOffset;
    for (const GraphPlace& place : imported_.places[source.subgraph][source.tensor]) {
      const Placement* const placement = placements_[flat(graph_, place)];
      const bool shared = placement && placement->arena.index() == arena_;
      const std::int32_t offset = shared ? static_cast<std::int32_t>(placement->offset.value()) : kNoOffset;
      if (result && *result != offset)
        return fail(fmt::format("{} would have two places, because its subgraph is run by several operators",
                                describe(source)));
      result = offset;
    }
    if (result.value_or(kNoOffset) != kNoOffset && tensor.sub_byte)
      return fail(fmt::format("{} has elements smaller than a byte, for each of which TFLM takes a whole byte",
                              describe(source)));
    return result.value_or(kNoOffset);
  }

  /// TFLM decides whether a variable needs memory by its index in its own subgraph, but looks it up in the list of all
  /// tensors: a variable of a later subgraph gets no memory if the tensor with that index in the first subgraph has an
  /// offset.
  Status check_variables(const Offsets& offsets) const {
    for (std::uint32_t s = 1; s < model_.subgraphs.size(); ++s) {
      for (std::uint32_t t = 0; t < model_.subgraphs[s].tensors.size(); ++t) {
        if (model_.subgraphs[s].tensors[t].holding != Holding::variable || t >= offsets[0].size() ||
            offsets[0][t] == kNoOffset)
          continue;
        return fail(
            fmt::format("it would leave the variable {} without memory, because tensor {} of subgraph 0 has an offset",
                        describe({s, t}), t));
      }
    }
    return Done{};
  }

  const File& file_;
  const ModelInfo& model_;
  const ImportedModel& imported_;
  const Graph& graph_;
  const Plan& plan_;
  std::vector<const Placement*> placements_;  ///< By tensor of the graph.
  std::optional<std::size_t> arena_;
};

// ---------------------------------------------------------------------------------------------------- offsets to plan

class OffsetsReader {
 public:
  OffsetsReader(const ModelInfo& model, const ImportedModel& imported, const Graph& graph, const OfflinePlan& offline)
      : graph_(graph), offline_(offline), sources_(graph.tensors().size()) {
    for (std::uint32_t s = 0; s < model.subgraphs.size(); ++s) {
      for (std::uint32_t t = 0; t < model.subgraphs[s].tensors.size(); ++t) {
        for (const GraphPlace& place : imported.places[s][t]) sources_[flat(graph, place)] = Source{s, t};
      }
    }
  }

  Plan run() {
    plan_.graph = graph_.name();
    for (std::size_t s = 0; s < graph_.scopes().size(); ++s) {
      const Scope& scope = graph_.scopes()[s];
      for (std::size_t i = 0; i < scope.tensor_count; ++i) place(TensorId(scope.first_tensor.index() + i));
      for (std::size_t k = 0; k < scope.op_count; ++k) add_entries(OpId(scope.first_op.index() + k));
      if (s > 0) add_ends(ScopeId(s));
    }
    const Bytes size = offline_.arena.value_or(std::min(top_, total_));
    add_arena("arena", ArenaKind::shared, size);
    add_arena("arena persistent", ArenaKind::persistent, persistent_);
    return std::move(plan_);
  }

 private:
  static constexpr ArenaId kShared{0};
  static constexpr ArenaId kPersistent{1};

  void add_arena(const char* name, ArenaKind kind, Bytes size) {
    plan_.arenas.push_back({.name = name,
                            .memory = MemoryId(0),
                            .kind = kind,
                            .size = size,
                            .regions = {size},
                            .lower_bound = Bytes(0),
                            .proven_optimal = size == Bytes(0)});
  }

  /// None for a tensor without an offset.
  [[nodiscard]] std::optional<Bytes> offset(TensorId id) const {
    const std::optional<Source>& source = sources_[id.index()];
    const std::int32_t found = source ? offline_.offsets[source->subgraph][source->tensor] : kNoOffset;
    return found == kNoOffset ? std::nullopt : std::optional(Bytes(found));
  }

  void place(TensorId id) {
    const Tensor& tensor = graph_.tensor(id);
    if (graph_.tensor(graph_.root(id).tensor).flags.has(TensorFlag::external)) return;
    const Bytes rounded = align_up(tensor.size, graph_.memory(tensor.memory).alignment);
    Placement placement{.tensor = id, .arena = kShared, .offset = Bytes(0), .size = tensor.size};
    if (const std::optional<Bytes> found = offset(id)) {
      placement.offset = *found;
      top_ = std::max(top_, *found + rounded);
      total_ += rounded;
    } else if (tensor.flags.any_of(kOwnAddress)) {
      placement.arena = kPersistent;
      placement.offset = persistent_;
      persistent_ += rounded;
    }
    plan_.placements.push_back(placement);
  }

  /// The copies that TFLM makes into a loop: the op's inputs.
  void add_entries(OpId op) {
    if (graph_.op(op).control != Control::loop) return;
    for (const BodyInput& pair : graph_.scope(graph_.bodies(op)[0]).inputs)
      add_copy(pair.outer, pair.inner, CopyMoment::before(op));
  }

  /// The copies that TFLM makes at the end of a body: its results.
  void add_ends(ScopeId id) {
    const Scope& scope = graph_.scope(id);
    if (graph_.op(scope.op).control == Control::loop) {
      for (const Carried& pair : scope.carried) add_copy(pair.out, pair.in, CopyMoment::at_back_edge());
    } else {
      for (const BodyOutput& pair : scope.outputs) add_copy(pair.inner, pair.outer, CopyMoment::at_body_end());
    }
  }

  /// Adds no copy between equal addresses.
  void add_copy(TensorId from, TensorId to, CopyMoment when) {
    const Tensor& tensor = graph_.tensor(from);
    if (offset(from) == offset(to) || tensor.size == Bytes(0)) return;
    plan_.copies.push_back({.tensor = from,
                            .when = when,
                            .arena = kShared,
                            .offset = offset(to).value_or(Bytes(0)),
                            .size = tensor.size,
                            .reason = "the runtime copies the arguments and results of a subgraph"});
  }

  const Graph& graph_;
  const OfflinePlan& offline_;
  std::vector<std::optional<Source>> sources_;  ///< By tensor of the graph.
  Plan plan_;
  Bytes top_;         ///< The highest end of a tensor with an offset.
  Bytes total_;       ///< The sum of their sizes.
  Bytes persistent_;  ///< The size of constants and variables.
};

}  // namespace

Result<OfflinePlan> offsets_of(const File& file, const ModelInfo& model, const ImportedModel& imported,
                               const Graph& graph, const Plan& plan) {
  return Writer(file, model, imported, graph, plan).run();
}

Plan plan_at(const ModelInfo& model, const ImportedModel& imported, const Graph& graph, const OfflinePlan& offline) {
  return OffsetsReader(model, imported, graph, offline).run();
}

}  // namespace stowage::io::tflite
