#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/interface/interval_map.hpp"
#include "verify/claims.hpp"
#include "verify/order.hpp"
#include "verify/provenance.hpp"

namespace stowage::verification {

/// What a byte holds: what was written for a claim, or for one of several, depending on the path that led here.
using ContentId = std::uint32_t;
inline constexpr ContentId kNobody = 0xffffffff;

/// A moment at which something touched bytes, and for whom.
struct Access {
  Moment moment;
  ClaimId claim;
};

/// When a holder was touched, on the path that the walk is on. Of each stream of each scope the last moment is enough.
struct HolderState {
  bool begun = false;  ///< On every path that led here.
  std::vector<Access> accesses = {};
  std::vector<Access> floors = {};  ///< Of those whose bytes it took: every access of its own must happen after them.
};

/// What differs at the end of a path from its beginning.
struct Delta {
  struct Piece {
    std::size_t cell;
    ByteRange bytes;
    ContentId content;
  };
  std::vector<Piece> pieces;  ///< Ascending, disjoint.
  std::map<HolderId, HolderState> holders;
};

/// Who wrote each byte of each region last, and who was touched when, at one point of the walk.
///
/// Paths: `enter` begins one, `leave` takes everything back that changed since and says what it was, `join` goes on
/// from the ends of several paths, of which any may have been taken. Costs are those of the changes, not of the whole.
class State {
 public:
  State(const Claims& claims, const Order& order, const Provenance& provenance, std::size_t cells);

  /// Calls `f(ByteRange, ContentId)` for all bytes of the range, in ascending order; kNobody where nothing was written.
  template <class F>
  void visit(std::size_t cell, ByteRange range, F&& f) const {
    Bytes at = range.lower;
    contents_[cell].visit(range, [&](ByteRange bytes, ContentId content) {
      if (at < bytes.lower) f(ByteRange{at, bytes.lower}, kNobody);
      f(bytes, content);
      at = bytes.upper;
    });
    if (at < range.upper) f(ByteRange{at, range.upper}, kNobody);
  }
  void assign(std::size_t cell, ByteRange range, ContentId content);

  /// Calls `f(ClaimId)` for each claim that the content may be of, ascending; kNobody for none.
  template <class F>
  void for_each_claim(ContentId content, F&& f) const {
    if (is_mixture(content)) {
      for (const ClaimId claim : flatten(content)) f(claim);
    } else {
      f(content);
    }
  }
  /// Whether it may be of several holders, each of which stands for itself: no one can rely on it.
  [[nodiscard]] bool is_contested(ContentId content) const {
    return is_mixture(content) && mixtures_[content - claims_.size()].contested;
  }

  [[nodiscard]] const HolderState& operator[](HolderId holder) const { return holders_[holder]; }
  void begin(HolderId holder);
  /// As if it had never been touched.
  void forget(HolderId holder);
  /// Returns whether this is the first access on this stream of this scope.
  bool touch(HolderId holder, Moment moment);
  void add_floor(HolderId holder, Access access);

  /// Whether nobody wrote over the holder's bytes since this was last set.
  [[nodiscard]] bool is_clean(HolderId holder) const { return clean_[holder] != 0; }
  void set_clean(HolderId holder) { clean_[holder] = 1; }

  void enter();
  /// All that was touched inside `scope`, since the last `enter`, counts as touched at `moment`.
  void fold(std::uint32_t scope, Moment moment);
  Delta leave();
  void join(std::span<const Delta> paths);

 private:
  struct Frame {
    std::uint32_t serial;
    std::vector<Delta::Piece> overwritten;  ///< In the order of the changes.
    std::vector<std::pair<HolderId, HolderState>> holders;
  };

  /// One of several contents. Mixtures of mixtures are not listed out: what may lie in memory that loops use, which all
  /// may run not at all, is whatever any of them wrote.
  struct Mixture {
    std::vector<ContentId> of;  ///< Ascending.
    HolderId holder;            ///< Of all claims, where that is one.
    bool plain;                 ///< All claims are of holders that stand for themselves.
    bool contested;
  };

  [[nodiscard]] bool is_mixture(ContentId content) const { return content != kNobody && content >= claims_.size(); }
  [[nodiscard]] std::vector<ClaimId> flatten(ContentId content) const;
  /// The same for a single claim.
  [[nodiscard]] Mixture describe(ContentId content) const;
  void save(HolderId holder);
  void spoil(ContentId content);
  bool put(std::vector<Access>& list, Access access) const;
  [[nodiscard]] ContentId mix(std::vector<ContentId> contents);
  void join_contents(std::span<const Delta> paths);
  void join_holders(std::span<const Delta> paths);

  const Claims& claims_;
  const Order& order_;
  const Provenance& provenance_;
  std::vector<IntervalMap<ContentId>> contents_;  ///< By cell.
  std::vector<HolderState> holders_;
  std::vector<std::uint8_t> clean_;      ///< By holder.
  std::vector<std::uint32_t> saved_in_;  ///< By holder: the frame that has its state already.
  std::vector<Mixture> mixtures_;
  std::map<std::vector<ContentId>, ContentId> mixture_of_;
  std::vector<Frame> frames_;
  std::uint32_t next_serial_ = 1;
};

}  // namespace stowage::verification
