#pragma once

#include <string>

#include "stowage/base.hpp"

namespace stowage::files {

/// A new, empty file that is deleted when this goes out of scope, unless it was kept. `abandon_writes` deletes it too.
class Temporary {
 public:
  /// Creates a file in the directory of `target`; no other thread or process generates its name at the same time.
  /// After `abandon_writes` this blocks for ever. `descriptor()` is negative if it fails; errno says why.
  explicit Temporary(const std::string& target);
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  [[nodiscard]] int descriptor() const { return fd_; }
  /// Closes the descriptor. Returns 0 or errno: some file systems report a failed write only on close.
  int close();
  /// Renames the file, which is then kept. Returns 0 or errno.
  int rename_to(const std::string& target);

 private:
  std::string name_;
  int fd_ = -1;
};

}  // namespace stowage::files
