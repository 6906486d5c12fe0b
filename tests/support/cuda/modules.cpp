/// Modules: from PTX text, only the names of kernels and the numbers of their parameters are read, with a plausibility
/// check. One kernel, `add_to_each`, is executed by the host; launching any other does nothing.
#include <algorithm>
#include <cstring>

#include "support/cuda/state.hpp"

namespace stowage::memory::cuda::fake {
namespace {

std::map<std::string, std::size_t> kernels_in(std::string_view ptx) {
  constexpr std::string_view kEntry = ".entry ";
  constexpr std::string_view kParameter = ".param";
  std::map<std::string, std::size_t> kernels;
  for (std::size_t at = ptx.find(kEntry); at != ptx.npos; at = ptx.find(kEntry, at + 1)) {
    const std::size_t open = ptx.find('(', at);
    const std::size_t close = ptx.find(')', at);
    if (open == ptx.npos || close == ptx.npos) break;
    std::string name(ptx.substr(at + kEntry.size(), open - at - kEntry.size()));
    name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
    std::size_t count = 0;
    for (std::size_t p = ptx.find(kParameter, open); p < close; p = ptx.find(kParameter, p + 1)) ++count;
    kernels.emplace(std::move(name), count);
  }
  return kernels;
}

/// add_to_each(numbers, count, value): each of `count` unsigned numbers grows by `value`.
Code add_to_each(Call& call, void** arguments) {
  Number numbers = 0;
  std::uint32_t count = 0;
  std::uint32_t value = 0;
  std::memcpy(&numbers, arguments[0], sizeof numbers);
  std::memcpy(&count, arguments[1], sizeof count);
  std::memcpy(&value, arguments[2], sizeof value);
  if (!call.state.may_touch(call.name(), Address{numbers}, count * sizeof(std::uint32_t), call.device()))
    return Code::launch_failed;
  for (std::uint32_t i = 0; i < count; ++i) reinterpret_cast<std::uint32_t*>(numbers)[i] += value;
  return Code::success;
}

}  // namespace

Code cuModuleLoadDataEx(Module* module, const void* image, unsigned option_count, JitOption* options,
                        void** option_values) {
  Call call("cuModuleLoadDataEx");
  if (const auto answer = call.answer_in_context()) return *answer;
  const std::string_view ptx(static_cast<const char*>(image));
  if (const std::size_t bad = ptx.find("nonsense"); ptx.find(".version") == ptx.npos || bad != ptx.npos) {
    const auto line =
        std::count(ptx.begin(), ptx.begin() + static_cast<std::ptrdiff_t>(std::min(bad, ptx.size())), '\n') + 1;
    const std::string message = "fake input, line " + std::to_string(line) + "; parsing error";
    for (unsigned i = 0; i < option_count; ++i) {
      if (options[i] == JitOption::error_log) std::strcpy(static_cast<char*>(option_values[i]), message.c_str());
    }
    return Code::invalid_ptx;
  }
  *module = call.state.make_handle<Module>();
  call.state.modules.emplace(*module, call.device());
  call.state.entries.emplace(*module, kernels_in(ptx));
  return Code::success;
}

Code cuModuleUnload(Module module) {
  Call call("cuModuleUnload");
  if (const auto answer = call.answer_in_context()) return *answer;
  if (call.state.modules.erase(module) == 0) return call.refuse("no such module", Code::invalid_handle);
  call.state.entries.erase(module);
  std::erase_if(call.state.kernels, [&](const auto& kernel) { return kernel.second.module == module; });
  return Code::success;
}

Code cuModuleGetFunction(Function* function, Module module, const char* name) {
  Call call("cuModuleGetFunction");
  if (const auto answer = call.answer_in_context()) return *answer;
  const auto found = call.state.entries.find(module);
  if (found == call.state.entries.end()) return call.refuse("no such module", Code::invalid_handle);
  const auto kernel = found->second.find(name);
  if (kernel == found->second.end()) return Code::not_found;
  *function = call.state.make_handle<Function>();
  call.state.kernels.emplace(*function, Kernel{call.state.modules.find(module)->second, module, name, kernel->second});
  return Code::success;
}

Code cuLaunchKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                    unsigned block_y, unsigned block_z, unsigned, Stream stream, void** arguments, void** extra) {
  Call call("cuLaunchKernel");
  if (const auto answer = call.answer_in_context()) return *answer;
  const auto kernel = call.state.kernels.find(function);
  if (kernel == call.state.kernels.end()) return call.refuse("no such kernel", Code::invalid_handle);
  if (kernel->second.device != call.device()) return call.refuse("a kernel of another context", Code::invalid_handle);
  if (grid_x * grid_y * grid_z == 0 || block_x * block_y * block_z == 0 || extra != nullptr)
    return call.refuse("arguments");
  if (!call.state.is_stream(call.name(), stream, call.device())) return Code::invalid_handle;
  if (kernel->second.name == "add_to_each" && kernel->second.parameters == 3) return add_to_each(call, arguments);
  return Code::success;
}

}  // namespace stowage::memory::cuda::fake
