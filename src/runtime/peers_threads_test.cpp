#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "runtime/peers.hpp"

namespace stowage::runtime {
namespace {

class TestPeer final : public Peer {
 public:
  using Recycle = std::function<Bytes()>;
  explicit TestPeer(
      Device& device, Recycle recycle = [] { return Bytes(0); }, std::optional<std::thread::id> thread = {})
      : Peer(device, thread), recycle_(std::move(recycle)) {
    join();
  }
  ~TestPeer() override { leave(); }

  Bytes recycle() override { return recycle_(); }

 private:
  Recycle recycle_;
};

TEST(Peers, TheOthersOfTheDeviceAreAskedIfTheirThreadMayBe) {
  const auto device = SimDevice::make();
  const auto elsewhere = SimDevice::make({.id = DeviceId(7)});
  const auto gives = [](std::int64_t bytes) { return [bytes] { return Bytes(bytes); }; };
  std::thread::id another;
  std::thread([&] { another = std::this_thread::get_id(); }).join();
  const TestPeer asking(*device, gives(1));
  const TestPeer free(*device, gives(2));
  const TestPeer mine(*device, gives(4), std::this_thread::get_id());
  const TestPeer of_another_thread(*device, gives(8), another);
  const TestPeer of_another_device(*elsewhere, gives(16));
  EXPECT_EQ(recycle_peers(*device, asking), Bytes(6));
}

/// Asks a peer for its memory, and while it is busy giving that back lets another thread do something. Whether that
/// waited until the peer was ready.
bool waits_for_a_busy_peer(const std::function<void(Device&, std::unique_ptr<TestPeer>& present,
                                                    std::unique_ptr<TestPeer>& absent)>& meanwhile) {
  const auto device = SimDevice::make();
  auto present = std::make_unique<TestPeer>(*device);
  std::unique_ptr<TestPeer> absent;
  std::atomic<bool> done{false};
  bool waited = false;
  std::thread other;
  const TestPeer asking(*device);
  const TestPeer busy(*device, [&] {
    other = std::thread([&] {
      meanwhile(*device, present, absent);
      done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    waited = !done;
    return Bytes(1);
  });
  EXPECT_EQ(recycle_peers(*device, asking), Bytes(1));
  other.join();
  return waited;
}

TEST(Peers, NobodyComesGoesOrAsksWhileOthersAreAsked) {
  EXPECT_TRUE(waits_for_a_busy_peer([](Device&, auto& present, auto&) { present.reset(); })) << "a peer that goes";
  EXPECT_TRUE(waits_for_a_busy_peer([](Device& device, auto&, auto& absent) {
    absent = std::make_unique<TestPeer>(device);
  })) << "a new peer";
  EXPECT_TRUE(waits_for_a_busy_peer([](Device&, auto& present, auto&) {
    const auto elsewhere = SimDevice::make({.id = DeviceId(8)});
    (void)recycle_peers(*elsewhere, *present);
  })) << "another question";
}

}  // namespace
}  // namespace stowage::runtime
