#include <cstdio>
#include <map>
#include <random>

#include "stowage/liveness.hpp"
#include "support/builders/plans.hpp"
#include "support/generators/tiny_graph.hpp"
#include "support/judges/oracle/oracle.hpp"

/// The verifier and the plain oracle must agree on random plans for random graphs, in both directions.
namespace stowage::verification {
namespace {

/// Makes plans without a planner: everything at a place of its own, then some of it moved.
class Planner {
 public:
  Planner(const Graph& graph, std::uint64_t seed)
      : graph_(graph), liveness_(analyze(graph, {.in_place = false})), position_(liveness_.classes.size()), random_(seed) {
    plan_.graph = graph.name();
  }

  Plan make() {
    for (std::size_t m = 0; m < graph_.memories().size(); ++m) {
      for (const ArenaKind kind : {ArenaKind::shared, ArenaKind::persistent}) {
        plan_.arenas.push_back(
            {.name = "arena", .memory = MemoryId(m), .kind = kind, .size = {}, .regions = {}, .lower_bound = {}});
      }
    }
    for (std::size_t c = 0; c < position_.size(); ++c) stack(c);
    for (std::size_t i = 0, moves = below(5); i < moves; ++i) move();
    write_tensors();
    write_workspaces();
    for (Arena& arena : plan_.arenas) close(arena);
    return plan_;
  }

 private:
  struct At {
    std::size_t arena = 0;
    std::uint32_t region = 0;
    Bytes offset;
  };

  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

  [[nodiscard]] bool has_memory(std::size_t c) const {
    return liveness_.classes[c].residence == Residence::shared || liveness_.classes[c].residence == Residence::persistent;
  }

  /// On top of the others, or in a region of its own where the memory has small buffers.
  At next_place(MemoryId memory, ArenaKind kind, Bytes size, Bytes alignment) {
    At at{memory.index() * 2 + (kind == ArenaKind::persistent ? 1 : 0), 0, Bytes(0)};
    std::vector<Bytes>& regions = plan_.arenas[at.arena].regions;
    if (regions.empty() || graph_.memory(memory).max_size) regions.emplace_back(0);
    at.region = static_cast<std::uint32_t>(regions.size() - 1);
    at.offset = align_up(regions.back(), alignment);
    regions.back() = at.offset + size;
    return at;
  }

  void stack(std::size_t c) {
    const AliasClass& klass = liveness_.classes[c];
    if (!has_memory(c)) return;
    const ArenaKind kind = klass.residence == Residence::persistent ? ArenaKind::persistent : ArenaKind::shared;
    position_[c] = next_place(klass.memory, kind, klass.size, klass.alignment);
  }

  /// One class onto another, a little aside, or where an in-place pair wants it.
  void move() {
    if (position_.empty() || graph_.ops().empty()) return;
    std::size_t from = below(position_.size());
    const std::size_t to = below(position_.size());
    Bytes offset = position_[to].offset + Bytes(static_cast<std::int64_t>(below(4) * 8));
    At target = position_[to];
    const Op& op = graph_.ops()[below(graph_.ops().size())];
    if (!op.in_place.empty() && below(3) > 0) {
      const InPlacePair pair = op.in_place[below(op.in_place.size())];
      const ClassPlace in = liveness_.places[op.inputs[pair.input]->index()];
      const ClassPlace out = liveness_.places[op.outputs[pair.output].index()];
      from = out.id.index();
      target = position_[in.id.index()];
      offset = target.offset + in.offset - out.offset;
    }
    if (!has_memory(from) || target.arena != position_[from].arena) return;
    target.offset = offset;
    position_[from] = target;
    if (offset < Bytes(0) || plan_.arenas[target.arena].regions.size() <= target.region) return;
    Bytes& top = plan_.arenas[target.arena].regions[target.region];
    if (below(10) > 0) top = std::max(top, offset + liveness_.classes[from].size);
  }

  void write_tensors() {
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const ClassPlace place = liveness_.places[t];
      if (!has_memory(place.id.index())) continue;
      const At& at = position_[place.id.index()];
      plan_.placements.push_back({TensorId(t), ArenaId(at.arena), at.region, at.offset + place.offset, graph_.tensors()[t].size});
    }
  }

  void write_workspaces() {
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      for (std::uint32_t w = 0; w < graph_.ops()[k].workspaces.size(); ++w) {
        const Workspace& workspace = graph_.ops()[k].workspaces[w];
        At at = next_place(workspace.memory, ArenaKind::shared, workspace.size, graph_.alignment(workspace));
        if (below(3) == 0) at.offset = Bytes(static_cast<std::int64_t>(8 * below(8)));
        Bytes& top = plan_.arenas[at.arena].regions[at.region];
        top = std::max(top, at.offset + workspace.size);
        plan_.workspaces.push_back({OpId(k), w, ArenaId(at.arena), at.region, at.offset, workspace.size});
      }
    }
  }

  static void close(Arena& arena) {
    for (const Bytes region : arena.regions) arena.size += region;
    arena.proven_optimal = arena.size == Bytes(0);
  }

  const Graph& graph_;
  const Liveness liveness_;
  std::vector<At> position_;  ///< By class.
  std::mt19937_64 random_;
  Plan plan_;
};

TEST(Agreement, VerifierAndOracleJudgeRandomPlansAlike) {
  std::map<std::string, std::size_t> seen;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const std::optional<Graph> graph = oracle::RandomGraph(seed).make();
    if (!graph) continue;
    ++seen["graphs"];
    if (graph->stream_count() > 1) ++seen["graphs with streams"];
    for (const bool keep_inputs : {false, true}) {
      const oracle::Oracle oracle(*graph, {.keep_inputs = keep_inputs});
      for (std::uint64_t variant = 0; variant < 8; ++variant) {
        const Plan plan = Planner(*graph, seed * 100 + variant).make();
        const std::optional<std::string> broken = oracle.judge(plan).fault;
        const std::vector<Finding> findings = verify(*graph, plan, {.keep_inputs = keep_inputs});
        ++seen[broken ? "broken: " + broken->substr(0, broken->find_last_not_of("0123456789 ") + 1).substr(0, 12) : "right"];
        ASSERT_EQ(broken.has_value(), !findings.empty())
            << "seed " << seed << " variant " << variant << ": the oracle says " << broken.value_or("right") << ", the verifier "
            << (findings.empty() ? "right" : findings.front().message);
      }
    }
  }
  for (const auto& [what, count] : seen) std::printf("  %6zu %s\n", count, what.c_str());
  EXPECT_GT(seen["right"], 1000U);
  EXPECT_GT(seen["graphs with streams"], 200U);
}

}  // namespace
}  // namespace stowage::verification
