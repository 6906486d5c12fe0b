#include "graph/interface/dependencies.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "graph/interface/data_sources.hpp"
#include "graph/memory_conflicts.hpp"

/// Each run (one per batch, or a single one) is walked separately, scope by scope, to find what each op depends on in
/// that run. A dependency that is found in every run in which both ops take part holds always.
namespace stowage {
namespace {

/// By representative: whether a task op writes the alias class.
std::vector<bool> written_classes(const Graph& graph) {
  std::vector<bool> written(graph.tensors().size());
  for (const Op& op : graph.ops()) {
    if (op.no_task) continue;
    for (const TensorId output : op.outputs) written[graph.relations().place(output).representative.index()] = true;
  }
  return written;
}

/// Whether `op` gives `output` a value. An op without a task writes nothing, but passes on the values of its aliases.
bool gives_value(const Op& op, TensorId output) {
  return !op.no_task || std::any_of(op.aliases.begin(), op.aliases.end(),
                                    [&](const Alias& alias) { return op.outputs[alias.output] == output; });
}

bool may_run_in(std::uint32_t batch_of_op, std::uint32_t batch) { return batch_of_op == 0 || batch_of_op == batch; }

class Finder {
 public:
  Finder(const Graph& graph, WantedDependencies wanted)
      : graph_(graph), wanted_(wanted), batch_of_(batches_of_ops(graph)), written_(written_classes(graph)) {}

  std::vector<Dependency> run() {
    const auto batches = static_cast<std::uint32_t>(graph_.batches().size());
    if (batches == 0) walk(0);
    for (std::uint32_t batch = 1; batch <= batches; ++batch) walk(batch);
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    if (batches > 0) join_batches(batches);
    if (wanted_ == WantedDependencies::all) add_definitions();
    return std::move(found_);
  }

 private:
  // ------------------------------------------------------------------------------------------------------- one run

  void walk(std::uint32_t batch) {
    DataSources sources(graph_);
    for (const Scope& scope : graph_.scopes()) {
      std::vector<std::optional<OpId>> last_on_stream(graph_.stream_count());
      MemoryConflicts conflicts(graph_, written_);
      for (std::size_t k = 0; k < scope.op_count; ++k) {
        const OpId op(scope.first_op.index() + k);
        if (!may_run_in(batch_of_[op.index()], batch)) continue;
        if (!graph_.op(op).no_task) {
          follow(op, batch, sources, last_on_stream[graph_.op(op).stream.index()]);
          if (wanted_ == WantedDependencies::all) keep(op, batch, conflicts);
        }
        sources.executed(op);
      }
    }
  }

  /// Adds the ops that `to` waits for.
  void follow(OpId to, std::uint32_t batch, DataSources& sources, std::optional<OpId>& last) {
    const auto add = [&](OpId from, DependencyKind kind) { found_.push_back({to, from, kind, batch}); };
    if (last) add(*last, DependencyKind::stream);
    last = to;
    for (const OpId earlier : graph_.op(to).after) {
      const bool counts = !graph_.op(earlier).no_task && may_run_in(batch_of_[earlier.index()], batch);
      if (counts) add(earlier, DependencyKind::after);
    }
    for (const std::optional<TensorId>& input : graph_.op(to).inputs) {
      if (input) sources.writers(*input, [&](OpId from) { add(from, DependencyKind::data); });
    }
  }

  /// Adds the dependencies that must be kept, except for reads that a `data` dependency already covers.
  void keep(OpId to, std::uint32_t batch, MemoryConflicts& conflicts) {
    sources_of_op_.clear();
    for (auto each = found_.rbegin(); each != found_.rend() && each->to == to && each->batch == batch; ++each) {
      if (each->kind == DependencyKind::data) sources_of_op_.push_back(each->from);
    }
    std::sort(sources_of_op_.begin(), sources_of_op_.end());
    conflicts.visit(to, [&](OpId from, DependencyKind kind) {
      const bool known = kind == DependencyKind::read_after_write &&
                         std::binary_search(sources_of_op_.begin(), sources_of_op_.end(), from);
      if (!known) found_.push_back({to, from, kind, batch});
    });
  }

  // ------------------------------------------------------------------------------------------------------ all runs

  /// A dependency found in every run in which both ops take part becomes one without a batch. Precondition: `found_` is
  /// ascending and has no duplicates.
  void join_batches(std::uint32_t batches) {
    std::vector<Dependency> joined;
    for (std::size_t begin = 0, end = 0; begin < found_.size(); begin = end) {
      const Dependency& first = found_[begin];
      while (end < found_.size() && found_[end].to == first.to && found_[end].from == first.from &&
             found_[end].kind == first.kind)
        ++end;
      const bool one_run = batch_of_[first.to.index()] != 0 || batch_of_[first.from.index()] != 0;
      if (one_run || end - begin == batches) {
        joined.push_back({first.to, first.from, first.kind, 0});
      } else {
        joined.insert(joined.end(), found_.begin() + static_cast<std::ptrdiff_t>(begin),
                      found_.begin() + static_cast<std::ptrdiff_t>(end));
      }
    }
    found_ = std::move(joined);
  }

  /// Adds the order of ops that `Graph::build` requires and that no other dependency implies.
  void add_definitions() {
    std::vector<Dependency> definitions;
    std::vector<std::optional<OpId>> named(graph_.tensors().size());    // by tensor: the first op that has it as output
    std::vector<std::optional<OpId>> defined(graph_.tensors().size());  // by root: the first op that gives it a value
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      const Op& op = graph_.ops()[k];
      const auto add = [&](const std::optional<OpId>& from) {
        if (from && *from != OpId(k)) definitions.push_back({OpId(k), *from, DependencyKind::definition, 0});
      };
      for (const OpId earlier : op.after) add(earlier);
      for (const std::optional<TensorId>& input : op.inputs) {
        if (!input) continue;
        add(named[input->index()]);
        add(defined[graph_.root(*input).tensor.index()]);
      }
      for (const TensorId output : op.outputs) {
        if (!named[output.index()]) named[output.index()] = OpId(k);
        std::optional<OpId>& first = defined[graph_.root(output).tensor.index()];
        if (!first && gives_value(op, output)) first = OpId(k);
      }
    }
    add_new(definitions);
  }

  /// A dependency of kind `stream` implies nothing here: an order may ignore it.
  void add_new(std::vector<Dependency>& definitions) {
    std::sort(definitions.begin(), definitions.end());
    definitions.erase(std::unique(definitions.begin(), definitions.end()), definitions.end());
    const auto is_listed = [&](const Dependency& each) {
      auto at =
          std::lower_bound(found_.begin(), found_.end(), Dependency{each.to, each.from, DependencyKind::stream, 0});
      for (; at != found_.end() && at->to == each.to && at->from == each.from; ++at) {
        if (at->batch == 0 && at->kind != DependencyKind::stream) return true;
      }
      return false;
    };
    std::erase_if(definitions, is_listed);
    std::vector<Dependency> all(found_.size() + definitions.size());
    std::merge(found_.begin(), found_.end(), definitions.begin(), definitions.end(), all.begin());
    found_ = std::move(all);
  }

  const Graph& graph_;
  WantedDependencies wanted_;
  std::vector<std::uint32_t> batch_of_;  ///< By op.
  std::vector<bool> written_;            ///< By representative.
  std::vector<Dependency> found_;
  std::vector<OpId> sources_of_op_;
};

}  // namespace

std::vector<std::uint32_t> batches_of_ops(const Graph& graph) {
  std::vector<std::uint32_t> batch(graph.ops().size());
  for (const Scope& scope : graph.scopes()) {
    const bool is_root = &scope == &graph.scopes().front();
    for (std::size_t k = scope.first_op.index(); k < scope.first_op.index() + scope.op_count; ++k) {
      const auto found = std::find(graph.batches().begin(), graph.batches().end(), graph.ops()[k].batch);
      const auto own =
          found == graph.batches().end() ? 0 : 1 + static_cast<std::uint32_t>(found - graph.batches().begin());
      batch[k] = is_root ? own : batch[scope.op.index()];
    }
  }
  return batch;
}

std::string_view to_string(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::stream:
      return "stream";
    case DependencyKind::after:
      return "after";
    case DependencyKind::data:
      return "data";
    case DependencyKind::read_after_write:
      return "read after write";
    case DependencyKind::write_after_read:
      return "write after read";
    case DependencyKind::write_after_write:
      return "write after write";
    case DependencyKind::definition:
      return "definition";
  }
  return "unknown";
}

Dependencies::Dependencies(std::vector<Dependency> list, std::size_t ops) : list_(std::move(list)), begin_(ops + 1) {
  for (const Dependency& each : list_) ++begin_[each.to.index() + 1];
  for (std::size_t k = 0; k < ops; ++k) begin_[k + 1] += begin_[k];
}

Dependencies Dependencies::in_run(const Graph& graph, std::uint32_t batch) const {
  const std::vector<std::uint32_t> batch_of = batches_of_ops(graph);
  std::vector<Dependency> list;
  for (Dependency each : list_) {
    const bool holds = may_run_in(each.batch, batch) && may_run_in(batch_of[each.to.index()], batch) &&
                       may_run_in(batch_of[each.from.index()], batch);
    each.batch = 0;
    if (holds) list.push_back(each);
  }
  return {std::move(list), begin_.size() - 1};
}

Dependencies find_dependencies(const Graph& graph, WantedDependencies wanted) {
  return {Finder(graph, wanted).run(), graph.ops().size()};
}

}  // namespace stowage
