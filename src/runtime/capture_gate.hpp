#pragma once

#include <atomic>

namespace stowage::runtime {

/// Keeps device queries about streams apart from captures of streams into graphs. A capture that is about to begin
/// first closes the gate and then waits for the queries in progress,
/// so that new ones cannot delay it forever. Thread-safe.
class CaptureGate {
 public:
  /// Permission to ask the device about streams until the end of the scope, if `allowed`. May be nested.
  class Pass {
   public:
    explicit Pass(CaptureGate& gate) : gate_(gate), allowed_(gate.enter()) {}
    ~Pass() {
      if (allowed_) gate_.leave();
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    [[nodiscard]] bool allowed() const { return allowed_; }

   private:
    CaptureGate& gate_;
    const bool allowed_;
  };

  [[nodiscard]] bool is_closed() const { return captures_.load() > 0; }

  void begin_capture() {
    ++captures_;
    for (int inside = inside_.load(); inside > 0; inside = inside_.load()) inside_.wait(inside);
  }
  void end_capture() { --captures_; }

 private:
  /// A thread that increments the count after a capture has closed the gate sees the closed gate and leaves again.
  bool enter() {
    if (is_closed()) return false;
    ++inside_;
    if (!is_closed()) return true;
    leave();
    return false;
  }
  void leave() {
    if (--inside_ == 0) inside_.notify_all();
  }

  std::atomic<int> captures_{0};
  std::atomic<int> inside_{0};
};

}  // namespace stowage::runtime
