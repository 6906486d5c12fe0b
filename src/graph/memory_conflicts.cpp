#include "graph/memory_conflicts.hpp"

#include <algorithm>
#include <utility>

namespace stowage {

void MemoryConflicts::collect(TensorId tensor, bool writes) {
  const auto [representative, offset] = graph_.relations().place(tensor);
  if (!written_[representative.index()]) return;
  accesses_.push_back({representative, {offset, offset + graph_.tensor(tensor).size}, writes});
}

void MemoryConflicts::collect(OpId id) {
  const Op& op = graph_.op(id);
  if (op.no_task) return;
  for (const std::optional<TensorId>& input : op.inputs) {
    if (input) collect(*input, false);
  }
  for (const TensorId output : op.outputs) collect(output, true);
  for (const ScopeId body : graph_.bodies(id)) {
    const Scope& scope = graph_.scope(body);
    for (std::size_t k = 0; k < scope.op_count; ++k) collect(OpId(scope.first_op.index() + k));
  }
}

void MemoryConflicts::add_read(const BytesOfClass& access, OpId op) {
  IntervalMap<std::vector<OpId>>& readers = users_[access.representative].readers;
  std::vector<std::pair<ByteRange, std::vector<OpId>>> parts;
  Bytes behind = access.bytes.lower;
  readers.visit(access.bytes, [&](ByteRange bytes, const std::vector<OpId>& known) {
    if (behind < bytes.lower) parts.push_back({{behind, bytes.lower}, {}});
    parts.emplace_back(bytes, known);
    behind = bytes.upper;
  });
  if (behind < access.bytes.upper) parts.push_back({{behind, access.bytes.upper}, {}});
  for (auto& [bytes, known] : parts) {
    if (!known.empty() && known.back() == op) continue;
    known.push_back(op);
    readers.assign(bytes, std::move(known));
  }
}

void MemoryConflicts::add_write(const BytesOfClass& access, OpId op) {
  Users& users = users_[access.representative];
  users.writers.assign(access.bytes, op);
  users.readers.assign(access.bytes, {});
}

}  // namespace stowage
