#include "memory/cuda/driver.hpp"

#include <array>
#include <cstdlib>
#include <map>
#include <mutex>

#include <dlfcn.h>
#include <fmt/format.h>

namespace stowage::memory::cuda {
namespace {

constexpr const char* kOrdinary = "libcuda.so.1";
constexpr const char* kVariable = "STOWAGE_CUDA_DRIVER";

std::atomic<bool> process_exits{false};

Error unavailable(std::string message) {
  return {ErrorCode::device, "cuda is not available: " + std::move(message), {}};
}

std::string library_to_load(std::string_view asked_for) {
  if (!asked_for.empty()) return std::string(asked_for);
  const char* const configured = std::getenv(kVariable);
  return configured != nullptr && *configured != '\0' ? configured : kOrdinary;
}

/// Finds `name` with the parameters that it had in `version`, even if newer drivers have changed them.
Status find(GetProcAddress get, const std::string& library, const char* name, int version, void** function) {
  int found = 0;
  const Code code = get(name, function, version, kLegacyStream, &found);
  if (code == Code::success && *function != nullptr) return Done{};
  return unavailable(fmt::format("{} has no {} of version {}; it is too old", library, name, version));
}

Result<Functions> find_all(GetProcAddress get, const std::string& library) {
  Functions functions;
#define STOWAGE_CUDA_FIND(name, version, parameters) \
  STOWAGE_TRY_STATUS(find(get, library, #name, version, reinterpret_cast<void**>(&functions.name)));
  STOWAGE_CUDA_FUNCTIONS(STOWAGE_CUDA_FIND)
#undef STOWAGE_CUDA_FIND
  return functions;
}

Result<std::unique_ptr<Driver>> open(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return unavailable(
        fmt::format("no CUDA driver: {} could not be loaded: {}", library, why != nullptr ? why : "no reason given"));
  }
  const auto get = reinterpret_cast<GetProcAddress>(dlsym(handle, "cuGetProcAddress_v2"));
  if (get == nullptr)
    return unavailable(fmt::format("{} has no cuGetProcAddress_v2; a driver of CUDA 12.0 or newer is needed", library));
  STOWAGE_TRY(const Functions functions, find_all(get, library));
  auto driver = std::make_unique<Driver>(functions, library);
  if (Status begun = driver->call<&Functions::cuInit>(0U); !begun) {
    return unavailable(fmt::format("{}: {}", library, begun.error().message));
  }
  return driver;
}

/// Registered after the driver's own exit handlers, so that it runs before them. The driver must not be called after
/// that.
void watch_for_exit() {
  static const int registered = std::atexit([] { process_exits.store(true, std::memory_order_relaxed); });
  (void)registered;
}

}  // namespace

Result<const Driver*> Driver::load(std::string_view library) {
  // Never destroyed, just as the driver itself is never unloaded.
  static auto& mutex = *new std::mutex;
  static auto& loaded = *new std::map<std::string, std::unique_ptr<Driver>>;
  const std::lock_guard lock(mutex);
  const std::string name = library_to_load(library);
  if (const auto found = loaded.find(name); found != loaded.end()) return found->second.get();
  STOWAGE_TRY(std::unique_ptr<Driver> driver, open(name));
  watch_for_exit();
  return loaded.emplace(name, std::move(driver)).first->second.get();
}

Error Driver::error(Code code, std::string_view name, std::string_view arguments) const {
  const char* identifier = nullptr;
  const char* words = nullptr;
  if (!is_gone()) {
    (void)functions_.cuGetErrorName(code, &identifier);
    (void)functions_.cuGetErrorString(code, &words);
  } else if (code == Code::deinitialized) {
    words = "the process is exiting, or the driver has been shut down";
  }
  return {code == Code::out_of_memory ? ErrorCode::out_of_memory : ErrorCode::device,
          fmt::format("cuda: {}({}): {} ({})", name, arguments,
                      identifier != nullptr ? identifier : fmt::format("error {}", static_cast<int>(code)),
                      words != nullptr ? words : "no explanation"),
          {}};
}

bool Driver::is_gone() const {
  return gone_.load(std::memory_order_relaxed) || process_exits.load(std::memory_order_relaxed);
}

std::string Driver::describe(Address address) { return fmt::format("{:#x}", static_cast<unsigned long long>(address)); }

std::string Driver::describe(Handle handle) {
  return fmt::format("handle {:#x}", static_cast<unsigned long long>(handle));
}

std::string Driver::describe(const char* text) { return fmt::format("\"{}\"", text); }

std::string Driver::describe_pointer(const void* pointer) { return fmt::format("{}", fmt::ptr(pointer)); }

}  // namespace stowage::memory::cuda
