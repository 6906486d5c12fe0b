#include "support/cuda/state.hpp"

#include <iterator>

#include <sys/mman.h>
#include <unistd.h>

namespace stowage::memory::cuda::fake {
namespace {

std::string describe(const char* kind, Number address, std::size_t size) {
  return std::string(kind) + " of " + std::to_string(size) + " bytes at " + std::to_string(address);
}

}  // namespace

State& State::get() {
  static State& state = *new State;  // never destroyed: destructors of the program's static objects may still call
  return state;
}

void State::reset() {
  const std::lock_guard lock(mutex);
  complete = true;
  capturing = false;
  device_count = 2;
  hidden.clear();
  calls_ = 0;
  calls_by_name_.clear();
  fail_at_ = 0;
  failed_.clear();
  deinitialized_ = false;
  said_deinitialized_ = false;
  violations_.clear();
}

void State::fail(std::uint64_t nth, int code) {
  const std::lock_guard lock(mutex);
  fail_at_ = nth == 0 ? 0 : calls_ + nth;
  fail_with_ = Code{code};
  failed_.clear();
}

std::string State::failed() const {
  const std::lock_guard lock(mutex);
  return failed_;
}

std::uint64_t State::calls() const {
  const std::lock_guard lock(mutex);
  return calls_;
}

std::uint64_t State::calls(std::string_view name) const {
  const std::lock_guard lock(mutex);
  const auto found = calls_by_name_.find(name);
  return found == calls_by_name_.end() ? 0 : found->second;
}

void State::set_complete(bool value) {
  const std::lock_guard lock(mutex);
  complete = value;
}

void State::set_capturing(bool value) {
  const std::lock_guard lock(mutex);
  capturing = value;
}

void State::deinitialize() {
  const std::lock_guard lock(mutex);
  deinitialized_ = true;
}

void State::hide(std::string_view name) {
  const std::lock_guard lock(mutex);
  hidden = name;
}

void State::set_device_count(int count) {
  const std::lock_guard lock(mutex);
  device_count = count;
}

std::vector<std::string> State::violations() const {
  const std::lock_guard lock(mutex);
  return violations_;
}

std::vector<std::string> State::live_objects() const {
  const std::lock_guard lock(mutex);
  std::vector<std::string> list;
  for (std::size_t i = 0; i < retained.size(); ++i) {
    if (retained[i] != 0) list.push_back("context of device " + std::to_string(i));
  }
  for (const auto& [address, block] : blocks) list.push_back(describe("memory", address, block.size));
  for (const auto& [address, block] : host_blocks) list.push_back(describe("pinned memory", address, block.size));
  for (const auto& [address, size] : reservations) list.push_back(describe("reservation", address, size));
  for (const auto& [address, mapping] : mappings) list.push_back(describe("mapping", address, mapping.size));
  for (const auto& [handle, memory] : physicals)
    list.push_back(describe("handle", static_cast<Number>(handle), memory.size));
  list.insert(list.end(), streams.size(), "stream");
  list.insert(list.end(), events.size(), "event");
  list.insert(list.end(), modules.size(), "module");
  list.insert(list.end(), context_stack().size(), "current context");
  return list;
}

void State::drop_objects() {
  const std::lock_guard lock(mutex);
  for (const auto* list : {&blocks, &host_blocks}) {
    for (const auto& [address, block] : *list) munmap(reinterpret_cast<void*>(address), block.size);
  }
  for (const auto& [address, size] : reservations) munmap(reinterpret_cast<void*>(address), size);
  retained = {};
  used = {};
  blocks.clear();
  host_blocks.clear();
  reservations.clear();
  mappings.clear();
  physicals.clear();
  streams.clear();
  events.clear();
  modules.clear();
  kernels.clear();
  entries.clear();
  context_stack().clear();
  if (file >= 0) (void)ftruncate(file, 0);
}

std::optional<Code> State::enter(const char* name) {
  ++calls_;
  ++calls_by_name_[name];
  if (deinitialized_) {
    if (said_deinitialized_) violations_.push_back(std::string(name) + ": called though the driver is deinitialized");
    said_deinitialized_ = true;
    return Code::deinitialized;
  }
  if (calls_ == fail_at_) {
    failed_ = name;
    return fail_with_;
  }
  if (!initialized && std::string_view(name) != "cuInit") return refuse(name, "before cuInit", Code::not_initialized);
  return std::nullopt;
}

Code State::refuse(const char* name, const std::string& why, Code code) {
  violations_.push_back(std::string(name) + ": " + why);
  return code;
}

namespace {

/// The entry of the range that contains the address; null if there is none.
template <class Range>
const Range* range_at(const std::map<Number, Range>& ranges, Number address) {
  const auto after = ranges.upper_bound(address);
  if (after == ranges.begin()) return nullptr;
  const auto& [start, range] = *std::prev(after);
  return address - start < range.size ? &range : nullptr;
}

}  // namespace

std::optional<Ordinal> State::device_at(Number address) const {
  if (const Block* const block = range_at(blocks, address)) return block->device;
  const FakeMapping* const mapping = range_at(mappings, address);
  return mapping == nullptr ? std::nullopt : mapping->access;
}

bool State::is_pinned(Number address) const { return range_at(host_blocks, address) != nullptr; }

bool State::is_in_blocks(Number address, std::size_t size, Ordinal device) const {
  for (const auto* list : {&blocks, &host_blocks}) {
    const auto after = list->upper_bound(address);
    if (after == list->begin()) continue;
    const auto& [start, block] = *std::prev(after);
    const bool reachable = list == &host_blocks || block.device == device;
    if (reachable && address - start < block.size && size <= block.size - (address - start)) return true;
  }
  return false;
}

bool State::is_mapped(const char* name, Number address, std::size_t size, Ordinal device) {
  for (Number at = address; at < address + size;) {
    const auto after = mappings.upper_bound(at);
    if (after == mappings.begin()) return false;
    const auto& [start, mapping] = *std::prev(after);
    if (at - start >= mapping.size) return false;
    if (mapping.access != device) {
      (void)refuse(name, describe("mapping without access for this device", start, mapping.size));
      return false;
    }
    at = start + mapping.size;
  }
  return true;
}

bool State::may_touch(const char* name, Address given, std::size_t size, Ordinal device) {
  const Number address = number(given);
  if (is_in_blocks(address, size, device)) return true;
  const auto meets = [&](const auto& list, auto length) {
    const auto after = list.lower_bound(address + size);
    return after != list.begin() && std::prev(after)->first + length(std::prev(after)->second) > address;
  };
  if (meets(reservations, [](std::size_t length) { return length; })) {
    if (is_mapped(name, address, size, device)) return true;
    (void)refuse(name, describe("not all mapped:", address, size));
    return false;
  }
  const auto length = [](const Block& block) { return block.size; };
  if (!meets(blocks, length) && !meets(host_blocks, length)) return true;  // the host's own
  (void)refuse(name, describe("beyond the end of its memory, or of another device:", address, size));
  return false;
}

bool State::is_stream(const char* name, Stream stream, Ordinal device) {
  if (stream == nullptr) return true;
  const auto found = streams.find(stream);
  if (found != streams.end() && found->second == device) return true;
  (void)refuse(name, found == streams.end() ? "there is no such stream" : "a stream of another context");
  return false;
}

std::size_t State::objects_of(Ordinal device) const {
  std::size_t count = 0;
  const auto mine = [&](const auto& list, auto owner) {
    for (const auto& entry : list) count += owner(entry.second) == device ? 1U : 0U;
  };
  mine(blocks, [](const Block& block) { return block.device; });
  mine(host_blocks, [](const Block& block) { return block.device; });
  mine(physicals, [](const PhysicalMemory& memory) { return memory.device; });
  mine(streams, [](Ordinal owner) { return owner; });
  mine(events, [](const FakeEvent& event) { return event.device; });
  mine(modules, [](Ordinal owner) { return owner; });
  return count;
}

std::vector<Number> State::whole_mappings(Number address, std::size_t size) {
  std::vector<Number> found;
  Number at = address;
  for (auto mapping = mappings.find(address); mapping != mappings.end() && at < address + size; ++mapping) {
    if (mapping->first != at) return {};
    found.push_back(at);
    at += mapping->second.size;
  }
  if (at != address + size) return {};
  return found;
}

std::vector<Ordinal>& context_stack() {
  static thread_local std::vector<Ordinal> stack;
  return stack;
}

Context context_of(Ordinal device) { return reinterpret_cast<Context>(static_cast<Number>(0x100 + 16 * device)); }

std::optional<Ordinal> device_of(Context context) {
  for (const Ordinal device : {0, 1}) {
    if (context_of(device) == context) return device;
  }
  return std::nullopt;
}

std::optional<Code> Call::answer_in_context() {
  if (answer_) return answer_;
  if (context_stack().empty()) return refuse("no context is current", Code::invalid_context);
  if (state.retained[static_cast<std::size_t>(device())] == 0)
    return refuse("the current context is gone", Code::invalid_context);
  return std::nullopt;
}

}  // namespace stowage::memory::cuda::fake
