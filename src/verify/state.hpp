#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/interface/interval_map.hpp"
#include "verify/claims.hpp"
#include "verify/order.hpp"
#include "verify/provenance.hpp"
#include "verify/rewrites.hpp"

namespace stowage::verification {

/// What a byte holds: the content of one claim, or of one of several claims, depending on the path taken.
using ContentId = std::uint32_t;
inline constexpr ContentId kNobody = 0xffffffff;

/// The moment of an access to bytes, and the claim that was accessed.
struct Access {
  Moment moment;
  ClaimId claim;
};

/// When a holder was accessed on the current path of the walk. It is enough to keep the last moment of each stream in
/// each scope.
struct HolderState {
  bool begun = false;  ///< Whether it has begun, on every path that led here.
  std::vector<Access> accesses = {};
  std::vector<Access> floors = {};  ///< Accesses of the holders whose bytes it took. All its own must come after them.
};

/// The difference between the end of a path and its beginning.
struct Delta {
  struct Piece {
    std::size_t cell;
    ByteRange bytes;
    ContentId content;
  };
  std::vector<Piece> pieces;  ///< Ascending, disjoint.
  std::map<HolderId, HolderState> holders;
  Rewrites::Changes lost;
};

/// The last writer of each byte of each region, and the last accesses to each holder, at one point of the walk.
///
/// Paths: `enter` begins a path, `leave` undoes all changes since then and returns them, and `join` continues from the
/// ends of several paths, of which any may have been taken. The cost is proportional to the
/// changes, not to the whole state.
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

  /// Calls `f(ClaimId)` for each claim that the content may belong to, ascending; kNobody stands for no claim.
  template <class F>
  void for_each_claim(ContentId content, F&& f) const {
    if (is_mixture(content)) {
      for (const ClaimId claim : flatten(content)) f(claim);
    } else {
      f(content);
    }
  }
  /// Whether the content may belong to several holders that share no parts, so that none of them can rely on it.
  [[nodiscard]] bool is_contested(ContentId content) const {
    return is_mixture(content) && mixtures_[content - claims_.size()].contested;
  }

  [[nodiscard]] const HolderState& operator[](HolderId holder) const { return holders_[holder]; }
  void begin(HolderId holder);
  /// Resets the holder, as if it had never been accessed.
  void forget(HolderId holder);
  /// Returns whether this is the first access on this stream of this scope.
  bool touch(HolderId holder, Moment moment);
  void add_floor(HolderId holder, Access access);

  /// Whether the holder's bytes have not been overwritten since `set_clean`.
  [[nodiscard]] bool is_clean(HolderId holder) const { return clean_[holder] != 0; }
  void set_clean(HolderId holder) { clean_[holder] = 1; }

  /// What values have lost to others that share their bytes.
  [[nodiscard]] Rewrites& rewrites() { return rewrites_; }

  void enter();
  /// Replaces all accesses inside `scope` since the last `enter` by an access at `moment`.
  void fold(std::uint32_t scope, Moment moment);
  Delta leave();
  void join(std::span<const Delta> paths);

 private:
  struct Frame {
    std::uint32_t serial;
    std::vector<Delta::Piece> overwritten;  ///< In the order of the changes.
    std::vector<std::pair<HolderId, HolderState>> holders;
  };

  /// One of several contents. Mixtures of mixtures are not expanded: memory that many loops use may hold what any of
  /// them wrote, because each may run zero times.
  struct Mixture {
    std::vector<ContentId> of;  ///< Ascending.
    HolderId holder;            ///< The holder of all claims, if it is the same one.
    bool stands_alone;          ///< Whether no holder of a claim shares bytes with parts or wholes.
    bool contested;
  };

  [[nodiscard]] bool is_mixture(ContentId content) const { return content != kNobody && content >= claims_.size(); }
  [[nodiscard]] std::vector<ClaimId> flatten(ContentId content) const;
  /// The mixture, or a mixture of one claim.
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
  std::vector<std::uint32_t> saved_in_;  ///< By holder: the frame that has already saved its state.
  std::vector<Mixture> mixtures_;
  std::map<std::vector<ContentId>, ContentId> mixture_of_;
  std::vector<Frame> frames_;
  Rewrites rewrites_;
  std::uint32_t next_serial_ = 1;
};

}  // namespace stowage::verification
