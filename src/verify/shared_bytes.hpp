#pragma once

#include <optional>

#include "verify/conflicts.hpp"
#include "verify/links.hpp"
#include "verify/order.hpp"
#include "verify/provenance.hpp"
#include "verify/state.hpp"

namespace stowage::verification {

/// A range of bytes in one region.
struct Spot {
  std::size_t cell;
  ByteRange bytes;
};

/// A tensor whose value is read or written, and where that lies.
struct Operand {
  TensorId tensor;
  HolderId value;
  Spot spot;
};

/// Watches values that have bytes in common because a packed concat or split copies nothing: a write to one of them
/// changes what the others hold.
///
/// - Everything that accessed one of the others so far must be over when the write begins.
/// - The others have lost the bytes. They get them back when they are written themselves, or when their packed op makes
///   them anew. Until then nobody may read these bytes through them; that includes the caller, who reads outputs after
///   the run, and the next run, which finds constants and variables as this one leaves them.
///
/// Values that have no bytes in common with others cost nothing here.
class SharedBytes {
 public:
  SharedBytes(const Facts& facts, const Provenance& provenance, const Order& order, State& state, Conflicts& conflicts)
      : facts_(facts), provenance_(provenance), order_(order), state_(state), conflicts_(conflicts) {}

  /// Whether any values share bytes. If none do, the functions below do nothing.
  [[nodiscard]] bool any() const { return provenance_.any(); }
  /// Without a moment: after the run.
  void read(const Operand& operand, std::optional<Moment> moment);
  void write(const Operand& operand, Moment moment);
  /// A packed op makes the tensor of its other side, without touching the bytes.
  void derive(const Operand& operand);

 private:
  void take_from(HolderId relative, const Operand& written, ByteRange bytes, Moment moment);

  const Facts& facts_;
  const Provenance& provenance_;
  const Order& order_;
  State& state_;
  Conflicts& conflicts_;
};

}  // namespace stowage::verification
