#include <algorithm>

#include "stowage/plan.hpp"

namespace stowage {
namespace {

/// The bytes that `item` occupies at `step`. With stream order items conflict as a whole, from their first step to their last.
Bytes occupied(const Problem& problem, const Item& item, Step step) {
  if (!problem.order.empty()) return item.life().contains(step) ? item.size : Bytes(0);
  Bytes bytes;
  for (const Piece& piece : item.pieces) {
    if (piece.when.contains(step)) bytes += piece.bytes.length();
  }
  return bytes;
}

/// What must be paid at `step`: all that may not go to unpaid regions, and what does not fit there of the rest.
Bytes paid_at(const Problem& problem, Step step) {
  Bytes must_pay;
  Bytes may_evade;
  for (const Item& item : problem.items) {
    bool evades = false;
    for (std::size_t r = 0; r < problem.regions.size(); ++r) evades |= !problem.regions[r].paid && item.allowed.contains(r);
    (evades ? may_evade : must_pay) += occupied(problem, item, step);
  }
  for (const Region& region : problem.regions) {
    if (!region.paid) may_evade = region.limit ? std::max(Bytes(0), may_evade - *region.limit) : Bytes(0);
  }
  return must_pay + may_evade;
}

bool pinned_to_paid_region(const Problem& problem, const Item& item) {
  if (!item.pinned) return false;
  for (std::size_t r = 0; r < problem.regions.size(); ++r) {
    if (item.allowed.contains(r) && !problem.regions[r].paid) return false;
  }
  return true;
}

}  // namespace

bool check_bound(const Problem& problem, const Certificate& certificate) {
  switch (certificate.argument) {
    case Certificate::Argument::exhausted_search:
      return false;
    case Certificate::Argument::trivial:
      return certificate.bytes <= Bytes(0);
    case Certificate::Argument::live_bytes:
      return certificate.bytes <= paid_at(problem, certificate.step);
    case Certificate::Argument::pinned_item: {
      if (certificate.item >= problem.items.size()) return false;
      const Item& item = problem.items[certificate.item];
      return pinned_to_paid_region(problem, item) && item.size > Bytes(0) && certificate.bytes <= *item.pinned + item.size;
    }
  }
  return false;
}

}  // namespace stowage
