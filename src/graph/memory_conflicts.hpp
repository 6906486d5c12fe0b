#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/interface/interval_map.hpp"
#include "graph/interface/dependencies.hpp"
#include "graph/interface/relations.hpp"
#include "stowage/graph.hpp"

namespace stowage {

/// Finds the earlier ops that accessed the same bytes as an op, where at least one of the two accesses is a write. The
/// caller walks the ops of one scope in order.
///
/// For every byte of an alias class it keeps the last writer and the readers since that write. A new write depends on
/// all of these and replaces them: later ops depend on the new write, and through it on them.
class MemoryConflicts {
 public:
  /// `written`, by representative: whether any task op writes the class. Classes that nobody writes are ignored.
  MemoryConflicts(const Graph& graph, const std::vector<bool>& written) : graph_(graph), written_(written) {}

  /// Calls `f(other, kind)` for each op that `op` conflicts with, possibly several times, then
  /// adds the accesses of `op`.
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
