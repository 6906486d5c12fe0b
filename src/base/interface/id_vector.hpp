#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace stowage {

/// A vector indexed by a strong id: one entry per object of a list. An id of another list does not compile.
template <class I, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(std::size_t count, const T& value = T()) : entries_(count, value) {}

  /// Appends an entry and returns its id.
  template <class... Args>
  I add(Args&&... args) {
    entries_.emplace_back(std::forward<Args>(args)...);
    return I(entries_.size() - 1);
  }
  void reserve(std::size_t count) { entries_.reserve(count); }

  [[nodiscard]] T& operator[](I id) { return entries_[id.index()]; }
  [[nodiscard]] const T& operator[](I id) const { return entries_[id.index()]; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] auto begin() { return entries_.begin(); }
  [[nodiscard]] auto end() { return entries_.end(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }

 private:
  std::vector<T> entries_;
};

}  // namespace stowage
