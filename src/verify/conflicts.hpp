#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "verify/claims.hpp"
#include "verify/order.hpp"
#include "verify/rewrites.hpp"
#include "verify/state.hpp"

namespace stowage::verification {

/// The input of the walk. All references must outlive it.
struct Facts {
  const Case& input;
  const Copies& copies;
  const Clears& clears;
  const Claims& claims;
};

/// Bytes of `wanted` that were written through a value that shares them.
struct LostBytes {
  Subject wanted;
  HolderId value;  ///< Of `wanted`.
  ByteRange bytes;
  Rewrite by;
};

/// Reports conflicts between two holders, each pair once, even if several paths or batches show it.
class Conflicts {
 public:
  Conflicts(const Facts& facts, Findings& findings) : facts_(facts), findings_(findings) {}

  /// `later` takes bytes of `earlier`, although the access to `earlier` at the first moment may not be over at the
  /// second. Without moments: both exist from the start, or for the whole run.
  void overwritten(ClaimId earlier, ClaimId later, ByteRange shared,
                   std::optional<std::pair<Moment, Moment>> unordered = {});
  /// The bytes of `wanted` are needed at `moment` (without one: by the caller after the run), but they hold `found`, or
  /// nothing was written to them.
  void lost(ClaimId wanted, ClaimId found, ByteRange shared, std::optional<Moment> moment);
  /// The bytes are needed at `moment` (without one: after the run), but were rewritten before.
  void rewritten(const LostBytes& lost, std::optional<Moment> moment);
  /// The write may come before the access at `moment` is over.
  void rewritten_too_early(const LostBytes& lost, Moment moment);
  /// Memory that must be filled when `op` starts is not.
  void unfilled(OpId op, ClaimId wanted, std::uint8_t value, ByteRange bytes, ClaimId found);
  /// A copy whose source and destination overlap, or whose source was overwritten before it.
  void bad_copy(std::uint32_t copy, const char* why);

  [[nodiscard]] bool full() const { return findings_.full(); }
  /// While it is quiet, conflicts are neither reported nor remembered.
  void set_quiet(bool quiet) { quiet_ = quiet; }
  [[nodiscard]] bool is_quiet() const { return quiet_; }

 private:
  struct Need {
    Step begin;
    Step end;
  };

  [[nodiscard]] bool is_new(HolderId a, HolderId b);
  /// Whether the shared bytes are padding of one of the two.
  [[nodiscard]] bool is_padding(ClaimId a, ClaimId b, ByteRange shared) const;
  [[nodiscard]] Need need_of(HolderId holder) const;
  [[nodiscard]] std::string name(ClaimId claim) const;
  [[nodiscard]] std::string name(Step step) const;
  [[nodiscard]] std::string describe_pair(ClaimId earlier, ClaimId later, ByteRange shared) const;
  [[nodiscard]] std::string describe_rewrite(const LostBytes& lost) const;
  [[nodiscard]] std::string describe_needs(ClaimId earlier, ClaimId later) const;

  const Facts& facts_;
  Findings& findings_;
  std::set<std::pair<HolderId, HolderId>> reported_;
  bool quiet_ = false;
};

}  // namespace stowage::verification
