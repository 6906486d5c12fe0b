#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage {

/// Positions in a list of the plan, by op or scope, each in the order of that list.
template <class Key>
class ListedBy {
 public:
  void add(Key key, std::uint32_t index) { entries_.emplace_back(key, index); }
  /// Must be called between the last `add` and the first query.
  void sort() { std::sort(entries_.begin(), entries_.end()); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// Calls `f(index)` for each position under `key`.
  template <class F>
  void visit(Key key, F&& f) const {
    if (entries_.empty()) return;
    for (auto at = std::lower_bound(entries_.begin(), entries_.end(), std::pair(key, std::uint32_t{0}));
         at != entries_.end() && at->first == key; ++at)
      f(at->second);
  }
  [[nodiscard]] bool has(Key key) const {
    bool found = false;
    visit(key, [&](std::uint32_t) { found = true; });
    return found;
  }

 private:
  std::vector<std::pair<Key, std::uint32_t>> entries_;
};

/// What a plan has a run do besides the ops, by when. Without fills and copies of no bytes.
class Duties {
 public:
  Duties(const Graph& graph, const Plan& plan);

  [[nodiscard]] const std::vector<std::uint32_t>& fills_at_start() const { return fills_at_start_; }  ///< Ascending.
  [[nodiscard]] const ListedBy<OpId>& fills_before() const { return fills_before_; }
  [[nodiscard]] const ListedBy<OpId>& copies_before() const { return copies_before_; }
  /// Of a body, or of its iterations.
  [[nodiscard]] const ListedBy<ScopeId>& copies_at_end() const { return copies_at_end_; }

  /// 1 + the only batch in which the op runs; 0: it runs in all.
  [[nodiscard]] std::uint32_t batch_of(OpId op) const { return batch_of_[op.index()]; }
  [[nodiscard]] bool runs(OpId op, std::uint32_t batch) const { return batch_of(op) == 0 || batch_of(op) == batch; }
  /// Whether the op runs and, or a copy before it, accesses memory.
  [[nodiscard]] bool is_task(OpId op, std::uint32_t batch) const;
  /// Whether the copy copies something in a batch: not where nobody writes its source.
  [[nodiscard]] bool is_made(std::uint32_t copy, std::uint32_t batch) const {
    return !is_absent(sources_[copy], batch);
  }
  /// Whether nobody gives the tensor a value in a batch, so that its readers read nothing.
  [[nodiscard]] bool is_absent(TensorId tensor, std::uint32_t batch) const {
    return !absent_.empty() && absent_[batch][tensor.index()];
  }

 private:
  void list_fills();
  void list_copies();
  [[nodiscard]] std::vector<bool> find_absent(std::uint32_t batch) const;

  const Graph& graph_;
  const Plan& plan_;
  std::vector<std::uint32_t> fills_at_start_;
  ListedBy<OpId> fills_before_;
  ListedBy<OpId> copies_before_;
  ListedBy<ScopeId> copies_at_end_;
  std::vector<std::uint32_t> batch_of_;    ///< By op.
  std::vector<TensorId> sources_;          ///< By copy.
  std::vector<std::vector<bool>> absent_;  ///< By batch and tensor; empty without batches.
};

/// The tensor that a copy reads: of a part that a packed split leaves elsewhere, the input of the split.
[[nodiscard]] TensorId source_of(const Graph& graph, const Copy& copy);

}  // namespace stowage
