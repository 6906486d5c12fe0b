#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/interface/interval_map.hpp"
#include "graph/interface/dependencies.hpp"
#include "graph/interface/relations.hpp"
#include "stowage/graph.hpp"

namespace stowage {

/// Finds, while the ops of one scope are walked in order, the earlier ones that touched the same bytes, at least one of
/// both writing.
///
/// Keeps for every byte of an alias class its last writer and who has read it since. A write asks both and replaces
/// them: whatever comes later depends on that write, and through it on them.
class MemoryConflicts {
 public:
  /// `written` says by representative whether any task writes the class: of others nothing is kept.
  MemoryConflicts(const Graph& graph, const std::vector<bool>& written) : graph_(graph), written_(written) {}

  /// Calls `f(op, kind)` for each op that `op` comes after, possibly several times, then adds what it touches itself.
  template <class F>
  void visit(OpId op, F&& f) {
    accesses_.clear();
    collect(op);
    for (const BytesOfClass& access : accesses_) {
      Users& users = users_[access.representative];
      users.writers.visit(access.bytes, [&](ByteRange, OpId writer) {
        if (writer != op)
          f(writer, access.writes ? DependencyKind::write_after_write : DependencyKind::read_after_write);
      });
      if (!access.writes) continue;
      users.readers.visit(access.bytes, [&](ByteRange, const std::vector<OpId>& readers) {
        for (const OpId reader : readers) {
          if (reader != op) f(reader, DependencyKind::write_after_read);
        }
      });
    }
    for (const BytesOfClass& access : accesses_) access.writes ? add_write(access, op) : add_read(access, op);
  }

 private:
  struct BytesOfClass {
    TensorId representative;
    ByteRange bytes;
    bool writes;
  };
  struct Users {
    IntervalMap<OpId> writers;
    IntervalMap<std::vector<OpId>> readers;  ///< Since the last write.
  };

  void collect(OpId id);
  void collect(TensorId tensor, bool writes);
  void add_read(const BytesOfClass& access, OpId op);
  void add_write(const BytesOfClass& access, OpId op);

  const Graph& graph_;
  const std::vector<bool>& written_;
  std::map<TensorId, Users> users_;  ///< By representative.
  std::vector<BytesOfClass> accesses_;
};

}  // namespace stowage
