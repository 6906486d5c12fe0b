#pragma once

#include <vector>

#include "base/interface/interval_map.hpp"
#include "verify/conflicts.hpp"
#include "verify/links.hpp"
#include "verify/order.hpp"
#include "verify/provenance.hpp"
#include "verify/run.hpp"
#include "verify/shared_bytes.hpp"
#include "verify/state.hpp"

namespace stowage::verification {

/// What happens to memory, event by event, on one path of one run. Each event is checked against the previous contents.
///
/// - A value takes its bytes when it is first accessed. Every value whose bytes it takes must be over: all its accesses
///   so far must happen before. If the old value is accessed later, its bytes are gone, which is reported then.
/// - Accesses to the new value on other streams must also come after those to the old one.
/// - Bytes that belong to one value for the whole run (persistent, session, no_reuse) are kept separately: nothing else
///   may take them.
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

  /// Reserves the bytes of the value for the whole run.
  void reserve(HolderId value);
  /// The value exists before the first op.
  void begin_at_start(HolderId value);

  /// An op accesses the value. A new value takes its bytes in `settle`, which is called after all accesses of the op.
  void access(HolderId holder, Moment moment);
  void settle(Moment moment);
  /// A clear fills its bytes.
  void clear(std::uint32_t index, Moment moment);
  void require_filled(OpId op, HolderId holder, const Spot& spot, std::uint8_t value);
  /// A copy writes these bytes of a holder.
  void write(HolderId holder, const Spot& spot, Moment moment);
  /// A copy writes its own bytes, which belong to no value.
  void write_copy(std::uint32_t index, Moment moment);
  /// The value of `from` becomes that of `to` at the same place.
  void hand_over(HolderId from, HolderId to, const Spot& spot, Moment moment);
  /// The caller reads the value after the run.
  void require_at_end(HolderId holder);

  [[nodiscard]] State& state() { return state_; }
  [[nodiscard]] SharedBytes& shared() { return shared_; }
  /// By clear: whether an op that needs filled memory found bytes as this clear left them, whatever their value.
  [[nodiscard]] const std::vector<bool>& met_clears() const { return met_clears_; }

 private:
  enum class Mode : std::uint8_t {
    claim,  ///< Bytes that the holder is made of are kept.
    write,  ///< Everything is overwritten.
  };

  /// Like `State::visit`, but the ranges are cut where parts of packed values begin and end.
  template <class F>
  void visit(std::size_t cell, ByteRange range, F&& f) const {
    state_.visit(cell, range, [&](ByteRange bytes, ContentId content) {
      provenance_.split(cell, bytes, [&](ByteRange piece) { f(piece, content); });
    });
  }
  /// Without a moment: at the start.
  void take(ClaimId claim, ByteRange bytes, std::optional<Moment> moment, Mode mode);
  void take_all(HolderId holder, std::optional<Moment> moment);
  /// Checks that the sources of a new value, which an op packs or splits without copying, are intact.
  void check_sources(HolderId holder, std::optional<Moment> moment);
  void check_reserved(ClaimId claim, ByteRange bytes);
  void overwrite(ClaimId old, ClaimId claim, ByteRange shared, std::optional<Moment> moment);
  void check_over(HolderId dependent, ClaimId old, ClaimId claim, ByteRange shared, std::optional<Moment> moment);
  void check_intact(HolderId holder, std::optional<Moment> moment);
  bool check_bytes(ClaimId claim, ByteRange bytes, std::optional<Moment> moment);
  void check_floors(HolderId holder, Moment moment);
  [[nodiscard]] bool accepts(HolderId holder, ClaimId content, ByteRange bytes) const;
  [[nodiscard]] bool is_tracked(HolderId holder) const;
  /// The claim of the holder that contains these bytes, or kNobody.
  [[nodiscard]] ClaimId claim_at(HolderId holder, const Spot& spot) const;

  const Facts& facts_;
  const Links& links_;
  const Provenance& provenance_;
  const Run& run_;
  const Order& order_;
  Conflicts& conflicts_;
  State state_;
  SharedBytes shared_;
  std::vector<IntervalMap<ClaimId>> reserved_;  ///< By cell.
  std::vector<std::uint8_t> filled_;            ///< By kin number: whether some of it must be filled.
  std::vector<bool> met_clears_;
  std::vector<HolderId> new_;  ///< Accessed, but not yet given their bytes.
};

}  // namespace stowage::verification
