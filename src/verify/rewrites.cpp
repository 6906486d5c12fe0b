#include "verify/rewrites.hpp"

#include <utility>

namespace stowage::verification {

Rewrites::Lost& Rewrites::change(HolderId value) {
  Lost& lost = lost_[value];
  if (!before_.empty()) before_.back().try_emplace(value, lost);
  return lost;
}

Rewrites::Changes Rewrites::leave() {
  const Changes before = std::move(before_.back());
  before_.pop_back();
  Changes changes;
  for (const auto& [value, lost] : before) changes.emplace(value, std::exchange(lost_[value], lost));
  return changes;
}

void Rewrites::join(std::span<const Changes* const> paths) {
  constexpr ByteRange kAll{Bytes(0), kMaxBytes};
  Changes joined;
  for (const Changes* const path : paths) {
    for (const auto& [value, lost] : *path) joined.try_emplace(value);
  }
  for (auto& [value, result] : joined) {
    for (const Changes* const path : paths) {
      const auto found = path->find(value);
      const Lost& lost = found == path->end() ? lost_[value] : found->second;
      lost.visit(kAll, [&](ByteRange bytes, const std::optional<Rewrite>& by) {
        if (by) result.assign(bytes, by);
      });
    }
    change(value) = std::move(result);
  }
}

}  // namespace stowage::verification
