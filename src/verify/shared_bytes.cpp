#include "verify/shared_bytes.hpp"

#include <vector>

#include "verify/in_place.hpp"

namespace stowage::verification {

void SharedBytes::read(const Operand& operand, std::optional<Moment> moment) {
  if (provenance_.stands_alone(operand.value)) return;
  state_.rewrites().visit(operand.value, operand.spot.bytes, [&](ByteRange bytes, const Rewrite& by) {
    conflicts_.rewritten({operand.tensor, operand.value, bytes, by}, moment);
  });
}

void SharedBytes::write(const Operand& operand, Moment moment) {
  if (provenance_.stands_alone(operand.value)) return;
  state_.rewrites().renew(operand.value, operand.spot.bytes);
  provenance_.split(operand.spot.cell, operand.spot.bytes, [&](ByteRange bytes) {
    for (const HolderId relative : provenance_.relatives(operand.value, bytes))
      take_from(relative, operand, bytes, moment);
  });
}

void SharedBytes::take_from(HolderId relative, const Operand& written, ByteRange bytes, Moment moment) {
  const HolderState& state = state_[relative];
  if (!state.begun && state.accesses.empty()) return;  // it has no value yet
  const Rewrite by{OpId(moment.op), written.tensor};
  state_.rewrites().lose(relative, bytes, by);
  const std::optional<ClaimId> theirs = facts_.claims.find(relative, written.spot.cell, bytes);
  const std::optional<ClaimId> ours = facts_.claims.find(written.value, written.spot.cell, bytes);
  if (!theirs || !ours) return;
  const Claim& earlier = facts_.claims[*theirs];
  for (const Access& access : state.accesses) {
    if (order_.happens_before(access.moment, moment)) continue;
    const bool same_op = access.moment == moment && moment.phase == Phase::run;
    if (same_op && may_take_over(facts_, by.op, earlier, facts_.claims[*ours], bytes)) continue;
    conflicts_.rewritten_too_early({earlier.subject, relative, bytes, by}, access.moment);
  }
}

void SharedBytes::derive(const Operand& operand) { state_.rewrites().renew(operand.value, operand.spot.bytes); }

}  // namespace stowage::verification
