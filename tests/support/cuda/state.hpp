#pragma once

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "memory/cuda/declarations.hpp"
#include "support/cuda/fake.hpp"

namespace stowage::memory::cuda::fake {

inline constexpr std::size_t kGranularity = std::size_t{2} << 20;
inline constexpr std::size_t kMemory = std::size_t{8} << 30;
inline constexpr unsigned char kUnwritten = 0xa5;

using Number = std::uintptr_t;  ///< An address.

inline Number number(Address address) { return static_cast<Number>(address); }
inline Number number(const void* address) { return reinterpret_cast<Number>(address); }

struct Block {
  std::size_t size = 0;
  Ordinal device = 0;
};

struct PhysicalMemory {
  std::size_t size = 0;
  Ordinal device = 0;
  std::size_t file_offset = 0;
  std::size_t mappings = 0;
  bool released = false;
};

struct FakeMapping {
  std::size_t size = 0;
  Handle handle{};
  std::optional<Ordinal> access = {};  ///< Which device may use it.
};

struct Kernel {
  Ordinal device = 0;
  Module module = nullptr;
  std::string name;
  std::size_t parameters = 0;
};

struct FakeEvent {
  Ordinal device = 0;
  bool recorded = false;
};

/// All that the fake knows, under one lock, which `Call` takes.
class State final : public FakeDriver {
 public:
  static State& get();

  void reset() override;
  void fail(std::uint64_t nth, int code) override;
  [[nodiscard]] std::string failed() const override;
  [[nodiscard]] std::uint64_t calls() const override;
  [[nodiscard]] std::uint64_t calls(std::string_view name) const override;
  void set_complete(bool complete) override;
  void set_capturing(bool capturing) override;
  void deinitialize() override;
  void hide(std::string_view name) override;
  void set_device_count(int count) override;
  [[nodiscard]] std::vector<std::string> violations() const override;
  [[nodiscard]] std::vector<std::string> live_objects() const override;
  void drop_objects() override;

  // The rest expects the lock taken.

  /// Counts; what the call is to return at once, if anything.
  std::optional<Code> enter(const char* name);
  /// Returns `code`, with a line in `violations`.
  Code refuse(const char* name, const std::string& why, Code code = Code::invalid_value);
  /// Whether all of the range may be touched by the device: its own, or of the host. A line in `violations` says why
  /// not.
  bool may_touch(const char* name, Address address, std::size_t size, Ordinal device);
  /// The device whose memory lies there.
  [[nodiscard]] std::optional<Ordinal> device_at(Number address) const;
  [[nodiscard]] bool is_pinned(Number address) const;
  /// The stream may be used by the device.
  bool is_stream(const char* name, Stream stream, Ordinal device);
  /// As `failed`.
  [[nodiscard]] const std::string& failed_so_far() const { return failed_; }
  /// What the device has of everything.
  [[nodiscard]] std::size_t objects_of(Ordinal device) const;
  template <class T>
  T make_handle() {
    return reinterpret_cast<T>(next_handle_ += 16);
  }
  /// Of the mapping that begins there and those behind it, up to exactly `size`; empty if they do not make it up.
  std::vector<Number> whole_mappings(Number address, std::size_t size);

  mutable std::mutex mutex;
  bool initialized = false;
  bool complete = true;
  bool capturing = false;
  int device_count = 2;
  std::string hidden;
  std::array<int, 2> retained = {};  ///< How often the primary context of each device is.
  std::array<std::size_t, 2> used = {};
  std::map<Number, Block> blocks;
  std::map<Number, Block> host_blocks;
  std::map<Number, std::size_t> reservations;
  std::map<Number, FakeMapping> mappings;
  std::map<Handle, PhysicalMemory> physicals;
  std::map<Stream, Ordinal> streams;
  std::map<Event, FakeEvent> events;
  std::map<Module, Ordinal> modules;
  std::map<Function, Kernel> kernels;
  std::map<Module, std::map<std::string, std::size_t>> entries;  ///< Kernels of a module: parameters by name.
  int file = -1;                                                 ///< All physical memory; offsets are not used twice.
  std::size_t file_size = 0;

 private:
  bool is_in_blocks(Number address, std::size_t size, Ordinal device) const;
  bool is_mapped(const char* name, Number address, std::size_t size, Ordinal device);

  std::uint64_t calls_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> calls_by_name_;
  std::uint64_t fail_at_ = 0;
  Code fail_with_ = Code::success;
  std::string failed_;
  bool deinitialized_ = false;
  bool said_deinitialized_ = false;
  std::vector<std::string> violations_;
  Number next_handle_ = 0x1000;
};

/// The contexts that are current in this thread, the last one foremost; by device.
std::vector<Ordinal>& context_stack();
Context context_of(Ordinal device);
std::optional<Ordinal> device_of(Context context);

/// One call of the driver: counted, locked, and begun only where it may be.
class Call {
 public:
  explicit Call(const char* name) : state(State::get()), name_(name), lock_(state.mutex), answer_(state.enter(name)) {}

  /// What to return at once, of a call that needs no context.
  [[nodiscard]] const std::optional<Code>& answer() const { return answer_; }
  /// The same of one that needs a context.
  std::optional<Code> answer_in_context();
  [[nodiscard]] Ordinal device() const { return context_stack().back(); }
  Code refuse(const std::string& why, Code code = Code::invalid_value) { return state.refuse(name_, why, code); }
  [[nodiscard]] const char* name() const { return name_; }

  State& state;

 private:
  const char* name_;
  std::lock_guard<std::mutex> lock_;
  std::optional<Code> answer_;
};

#define STOWAGE_FAKE_DECLARE(name, version, parameters) Code name parameters;
STOWAGE_CUDA_FUNCTIONS(STOWAGE_FAKE_DECLARE)
#undef STOWAGE_FAKE_DECLARE

}  // namespace stowage::memory::cuda::fake
