#pragma once

#include <map>
#include <optional>
#include <vector>

#include "verify/claims.hpp"
#include "verify/takeovers.hpp"

namespace stowage::verification {

/// Which memory a bound is about.
struct Share {
  MemoryId memory;
  ArenaKind kind = ArenaKind::shared;

  friend auto operator<=>(const Share&, const Share&) = default;
};

/// How many bytes a plan must have, whatever it chooses: which outputs overwrite inputs, which parts lie inside their
/// wholes, what it copies, which values lie in callers' buffers, and where everything lies. What it does not choose
/// here is taken from the plan: in which kind of arena a value lies, what is bound, and what is filled at the start.
///
/// At each event of a run (`Course`), the values that are needed there (`Needs`) have bytes of their own, less
/// - what parts and wholes may share (`KinSets`): of each set, the bytes that its needed values cover together where
/// all
///   of them are where their groups want them;
/// - what values that begin at the event may take over from values that end there (`Takeovers`): a matching of the
///   former to places in the latter, with the largest sum. The outputs are matched in descending size, each by an
///   augmenting path, which is optimal because sets of outputs that can be matched together form a matroid. Two places
///   in one value count as two even where they overlap, which can only lower the bound;
/// - what callers' buffers have room for.
/// Where an op reads contiguous inputs, values that end there need not be there themselves, but as many bytes as the
/// op reads are.
///
/// With several streams, values that are needed at one event of the course are still needed in every other order: if
/// one could be over before the other begins, it would also come first in the course.
///
/// O(accesses log accesses) per run and share, and for each event at which values take over from others O(pairs) looks
/// at a pair for each of them, of which there is a limit: beyond it the bound is lower than it might be.
class LiveBytes {
 public:
  LiveBytes(const Case& input, const Claims& claims, const std::vector<Extent>& extents, const KinSets& kin,
            const std::vector<RunNeeds>& runs, const Takeovers& takeovers);

  /// The most bytes at any event.
  [[nodiscard]] Bytes most(Share share) const;
  /// The most at an event of the op; without one, at the start.
  [[nodiscard]] Bytes at(Share share, std::optional<OpId> op) const;
  /// Likewise, counting values whose alignment is at least `alignment` in multiples of it, except for the topmost value
  /// of each of the `regions` regions.
  [[nodiscard]] Bytes aligned(Share share, std::optional<OpId> op, Bytes alignment, std::size_t regions) const;
  /// Whether the value's bytes count for the share.
  [[nodiscard]] bool is_in(Share share, ValueId value) const;
  /// Whether some caller's buffer may host the value.
  [[nodiscard]] bool may_be_guest(Share share, ValueId value) const;

 private:
  using ByEvent = std::vector<Bytes>;

  struct Buffer {
    ValueId value;
    Bytes size;
    Bytes alignment;
  };
  enum class Whom : std::uint8_t { all, no_guests };

  /// The values that count in a sum.
  struct Counted {
    std::vector<ValueId> values;  ///< Ascending.
    std::vector<char> contains;   ///< By value.
  };

  [[nodiscard]] std::optional<Share> share_of(ValueId value) const;
  [[nodiscard]] ByEvent bytes_of(Share share, const RunNeeds& run) const;
  [[nodiscard]] ByEvent sum(Share share, const RunNeeds& run, Whom whom) const;
  void add_set(const std::vector<Kin>& set, bool consistent, const Counted& counted, const RunNeeds& run,
               ByEvent& steps) const;
  [[nodiscard]] Counted counted(Share share, Whom whom) const;
  [[nodiscard]] bool are_read_here(Share share, const Op& op, const Counted& counted) const;
  [[nodiscard]] Bytes copied(Share share, const RunNeeds& run, EventIndex at, const Counted& counted) const;
  [[nodiscard]] ByEvent room_in_buffers(Share share, const RunNeeds& run) const;
  /// What takeovers save at most, each rounded up to a multiple.
  [[nodiscard]] Bytes saved(const RunNeeds& run, EventIndex at, const Counted& counted, Bytes multiple) const;
  [[nodiscard]] Bytes gain(const RunNeeds& run, EventIndex at, const Takeover& takeover, const Counted& counted) const;
  [[nodiscard]] std::vector<Buffer> buffers_of(Share share) const;
  [[nodiscard]] bool fits(const std::vector<Buffer>& buffers, ValueId value) const;

  const Case& input_;
  const Claims& claims_;
  const std::vector<Extent>& extents_;
  const KinSets& kin_;
  const std::vector<RunNeeds>& runs_;
  const Takeovers& takeovers_;
  std::map<Share, std::vector<ValueId>> values_;  ///< Whose bytes count for each share.
};

}  // namespace stowage::verification
