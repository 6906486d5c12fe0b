#pragma once

#include <vector>

#include "base/interface/interval_map.hpp"
#include "verify/conflicts.hpp"
#include "verify/links.hpp"
#include "verify/order.hpp"
#include "verify/provenance.hpp"
#include "verify/run.hpp"
#include "verify/state.hpp"

namespace stowage::verification {

/// A stretch of one region.
struct Spot {
  std::size_t cell;
  ByteRange bytes;
};

/// What happens to memory, event by event, on one path of one run; each event is checked against what was there.
///
///   - A value takes its bytes when it is first touched. Everything whose bytes it takes must be over: all accesses so
///   far happen
///     before, and whoever is touched later finds its bytes gone. That is a finding then.
///   - Accesses of the new value on other streams must come after those of the old one as well.
///   - Bytes that are their owner's for the whole run (persistent, session, no_reuse) are kept apart: nobody may take
///   them.
class Ledger {
 public:
  struct Setting {
    const Facts& facts;
    const Links& links;
    const Provenance& provenance;
    const Run& run;
    const Order& order;
    std::size_t cells;
  };

  Ledger(const Setting& setting, Conflicts& conflicts);

  /// Bytes that are the value's own for the whole run.
  void reserve(HolderId value);
  /// The value is there before the first op.
  void begin_at_start(HolderId value);

  /// An op touches the value. One that is new takes its bytes with `settle`, after the op has touched all that it does.
  void access(HolderId holder, Moment moment);
  void settle(Moment moment);
  /// What a clear fills.
  void clear(std::uint32_t index, Moment moment);
  void require_filled(OpId op, HolderId holder, const Spot& spot, std::uint8_t value);
  /// A copy to these bytes of a holder.
  void write(HolderId holder, const Spot& spot, Moment moment);
  /// A copy to bytes of its own.
  void write_copy(std::uint32_t index, Moment moment);
  /// `to` goes on where `from` was.
  void hand_over(HolderId from, HolderId to, const Spot& spot, Moment moment);
  /// The caller reads the value after the run.
  void require_at_end(HolderId holder);

  [[nodiscard]] State& state() { return state_; }

 private:
  enum class Mode : std::uint8_t {
    claim,  ///< What the holder is made of stays.
    write,  ///< Everything is overwritten.
  };

  /// As the state does, in pieces that are inside or outside of each part of a packed value.
  template <class F>
  void visit(std::size_t cell, ByteRange range, F&& f) const {
    state_.visit(cell, range, [&](ByteRange bytes, ContentId content) {
      provenance_.split(cell, bytes, [&](ByteRange piece) { f(piece, content); });
    });
  }
  /// No moment: at the start.
  void take(ClaimId claim, ByteRange bytes, std::optional<Moment> moment, Mode mode);
  void take_all(HolderId holder, std::optional<Moment> moment);
  /// What the new value is made of, by an op that moves nothing, must still be there.
  void check_sources(HolderId holder, std::optional<Moment> moment);
  void check_reserved(ClaimId claim, ByteRange bytes);
  void overwrite(ClaimId old, ClaimId claim, ByteRange shared, std::optional<Moment> moment);
  void check_over(HolderId dependent, ClaimId old, ClaimId claim, ByteRange shared, std::optional<Moment> moment);
  void check_intact(HolderId holder, std::optional<Moment> moment);
  bool check_bytes(ClaimId claim, ByteRange bytes, std::optional<Moment> moment);
  void check_floors(HolderId holder, Moment moment);
  [[nodiscard]] bool accepts(HolderId holder, ClaimId content, ByteRange bytes) const;
  [[nodiscard]] bool is_tracked(HolderId holder) const;
  /// The holder's claim that has these bytes, or kNobody.
  [[nodiscard]] ClaimId claim_at(HolderId holder, const Spot& spot) const;

  const Facts& facts_;
  const Links& links_;
  const Provenance& provenance_;
  const Run& run_;
  const Order& order_;
  Conflicts& conflicts_;
  State state_;
  std::vector<IntervalMap<ClaimId>> reserved_;  ///< By cell.
  std::vector<std::uint8_t> filled_;            ///< By number of kin: some of it must be filled.
  std::vector<HolderId> new_;                   ///< Touched, but without their bytes yet.
};

}  // namespace stowage::verification
