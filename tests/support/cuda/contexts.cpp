/// What finds functions, devices and contexts.
#include <cstring>

#include "support/cuda/state.hpp"

namespace stowage::memory::cuda::fake {

Code cuInit(unsigned flags) {
  Call call("cuInit");
  if (call.answer()) return *call.answer();
  if (flags != 0) return call.refuse("flags");
  call.state.initialized = true;
  return Code::success;
}

Code cuDriverGetVersion(int* version) {
  Call call("cuDriverGetVersion");
  if (call.answer()) return *call.answer();
  *version = 13000;
  return Code::success;
}

Code cuGetErrorName(Code code, const char** text) {
  *text = code == Code::out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_FAKE";
  return Code::success;
}

Code cuGetErrorString(Code code, const char** text) {
  *text = code == Code::out_of_memory ? "out of memory" : "as the test demands";
  return Code::success;
}

Code cuDeviceGetCount(int* count) {
  Call call("cuDeviceGetCount");
  if (call.answer()) return *call.answer();
  *count = call.state.device_count;
  return Code::success;
}

Code cuDeviceGet(Ordinal* device, int ordinal) {
  Call call("cuDeviceGet");
  if (call.answer()) return *call.answer();
  if (ordinal < 0 || ordinal >= call.state.device_count) return call.refuse("no such device", Code::invalid_device);
  *device = ordinal;
  return Code::success;
}

Code cuDeviceGetName(char* name, int size, Ordinal) {
  Call call("cuDeviceGetName");
  if (call.answer()) return *call.answer();
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
  return Code::success;
}

Code cuDeviceTotalMem(std::size_t* bytes, Ordinal) {
  Call call("cuDeviceTotalMem");
  if (call.answer()) return *call.answer();
  *bytes = kMemory;
  return Code::success;
}

Code cuDeviceGetAttribute(int* value, Attribute attribute, Ordinal) {
  Call call("cuDeviceGetAttribute");
  if (call.answer()) return *call.answer();
  *value = attribute == Attribute::compute_major ? 9 : attribute == Attribute::virtual_memory ? 1 : 0;
  return Code::success;
}

Code cuDevicePrimaryCtxRetain(Context* context, Ordinal device) {
  Call call("cuDevicePrimaryCtxRetain");
  if (call.answer()) return *call.answer();
  if (device < 0 || device >= call.state.device_count) return call.refuse("no such device", Code::invalid_device);
  ++call.state.retained[static_cast<std::size_t>(device)];
  *context = context_of(device);
  return Code::success;
}

Code cuDevicePrimaryCtxRelease(Ordinal device) {
  Call call("cuDevicePrimaryCtxRelease");
  if (call.answer()) return *call.answer();
  int& count = call.state.retained[static_cast<std::size_t>(device)];
  if (count == 0) return call.refuse("a context that is not retained", Code::invalid_context);
  if (--count > 0) return Code::success;
  // The real one would destroy them silently. Failures that a test demands may leave some.
  const std::size_t left = call.state.objects_of(device);
  if (left > 0 && call.state.failed_so_far().empty()) {
    return call.refuse(std::to_string(left) + " objects are left in the context", Code::success);
  }
  return Code::success;
}

Code cuCtxGetCurrent(Context* context) {
  Call call("cuCtxGetCurrent");
  if (call.answer()) return *call.answer();
  *context = context_stack().empty() ? nullptr : context_of(context_stack().back());
  return Code::success;
}

Code cuCtxPushCurrent(Context context) {
  Call call("cuCtxPushCurrent");
  if (call.answer()) return *call.answer();
  const std::optional<Ordinal> device = device_of(context);
  if (!device || call.state.retained[static_cast<std::size_t>(*device)] == 0) {
    return call.refuse("no such context", Code::invalid_context);
  }
  context_stack().push_back(*device);
  return Code::success;
}

Code cuCtxPopCurrent(Context* context) {
  Call call("cuCtxPopCurrent");
  if (call.answer()) return *call.answer();
  if (context_stack().empty()) return call.refuse("no context is current", Code::invalid_context);
  *context = context_of(context_stack().back());
  context_stack().pop_back();
  return Code::success;
}

Code cuCtxGetDevice(Ordinal* device) {
  Call call("cuCtxGetDevice");
  if (const auto answer = call.answer_in_context()) return *answer;
  *device = call.device();
  return Code::success;
}

namespace {

struct Entry {
  const char* name;
  int version;
  void* function;
};

constexpr std::size_t kFunctions = 0
#define STOWAGE_FAKE_COUNT(name, version, parameters) +1
    STOWAGE_CUDA_FUNCTIONS(STOWAGE_FAKE_COUNT);
#undef STOWAGE_FAKE_COUNT

const std::array<Entry, kFunctions>& entries() {
  static const std::array<Entry, kFunctions> list = {{
#define STOWAGE_FAKE_ENTRY(name, version, parameters) Entry{#name, version, reinterpret_cast<void*>(&name)},
      STOWAGE_CUDA_FUNCTIONS(STOWAGE_FAKE_ENTRY)
#undef STOWAGE_FAKE_ENTRY
  }};
  return list;
}

}  // namespace
}  // namespace stowage::memory::cuda::fake

extern "C" {

// Declared as its callers know it, with our enumeration: UBSan compares the types of functions.
[[gnu::visibility("default")]] stowage::memory::cuda::Code cuGetProcAddress_v2(const char* name, void** function,
                                                                               int version, std::uint64_t flags,
                                                                               int* found) {
  using namespace stowage::memory::cuda;
  const std::lock_guard lock(fake::State::get().mutex);
  *function = nullptr;
  *found = 1;
  if (flags != kLegacyStream) return Code::invalid_value;
  for (const auto& entry : fake::entries()) {
    if (std::strcmp(entry.name, name) != 0 || entry.version != version || fake::State::get().hidden == name) continue;
    *function = entry.function;
    *found = 0;
    return Code::success;
  }
  return Code::not_found;
}

[[gnu::visibility("default")]] stowage::memory::cuda::FakeDriver* stowage_fake_cuda() {
  return &stowage::memory::cuda::fake::State::get();
}
}
