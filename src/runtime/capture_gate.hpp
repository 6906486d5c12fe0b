#pragma once

#include <atomic>

namespace stowage::runtime {

/// Keeps those who ask a device about streams and captures of streams into graphs apart. A capture that is to begin
/// lets nobody in any more and waits for those who are in, so that it cannot be kept waiting by new ones. Thread-safe.
class CaptureGate {
 public:
  /// Whether streams may be asked about, from now to the end of the scope. May be nested.
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
  /// Whoever is counted after a capture has closed the gate sees that, and goes.
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
