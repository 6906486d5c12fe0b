#include "runtime/heap/span_bins.hpp"

#include <algorithm>

namespace stowage::runtime {

Bytes SpanBins::largest() const {
  // Sizes ascend from bin to bin, so the last bin that is not empty has the largest span.
  Bytes most(0);
  for (std::size_t bin = kBins; bin-- > 0 && most == Bytes(0);) {
    for (const Span* span = heads_[bin]; span != nullptr; span = span->next) most = std::max(most, span->size);
  }
  return most;
}

}  // namespace stowage::runtime
