#pragma once

#include <cstddef>
#include <vector>

namespace stowage::testing {

/// Yes-or-no answers for something that makes choices: in every possible sequence, one sequence after another. What is
/// asked, and how often, may depend on the answers so far.
class AllAnswers {
 public:
  bool answer() {
    if (asked_ == sequence_.size()) sequence_.push_back(false);
    return sequence_[asked_++];
  }

  /// Begins the next sequence; false if that was the last one.
  bool next_sequence() {
    sequence_.resize(asked_);
    asked_ = 0;
    while (!sequence_.empty() && sequence_.back()) sequence_.pop_back();
    if (sequence_.empty()) return false;
    sequence_.back() = true;
    return true;
  }

 private:
  std::vector<bool> sequence_;
  std::size_t asked_ = 0;
};

}  // namespace stowage::testing
