#include <array>

#include <fmt/format.h>

#include "memory/cuda/context.hpp"

namespace stowage::memory::cuda {
namespace {

class LoadedModule final : public CudaModule {
 public:
  LoadedModule(const DeviceContext& context, Module module) : context_(context), module_(module) {}

  ~LoadedModule() override {
    if (const Result<Scope> scope = context_.enter(); scope)
      context_.driver().try_call<&Functions::cuModuleUnload>(module_);
  }

  [[nodiscard]] DeviceId device() const override { return context_.id(); }

  [[nodiscard]] Result<CudaKernel> kernel(const std::string& name) const override {
    STOWAGE_TRY(const Scope scope, context_.enter());
    Function function = nullptr;
    const Code code = context_.driver().raw<&Functions::cuModuleGetFunction>(&function, module_, name.c_str());
    if (code == Code::success) return make_kernel(function);
    if (code == Code::not_found) {
      return Error{
          ErrorCode::unknown_name, fmt::format("{}: the module has no kernel '{}'", context_.name(), name), {}};
    }
    return context_.driver().error(code, "cuModuleGetFunction", name);
  }

 private:
  const DeviceContext& context_;
  const Module module_;
};

}  // namespace

Result<std::unique_ptr<CudaModule>> load_module(const DeviceContext& context, const std::string& ptx) {
  STOWAGE_TRY(const Scope scope, context.enter());
  std::array<char, 4096> log = {};
  std::array<JitOption, 2> options = {JitOption::error_log, JitOption::error_log_size};
  // The driver expects the size in place of a pointer.
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  Module module = nullptr;
  const Code code = context.driver().raw<&Functions::cuModuleLoadDataEx>(&module, static_cast<const void*>(ptx.c_str()),
                                                                         2U, options.data(), values.data());
  if (code == Code::success) return std::unique_ptr<CudaModule>(std::make_unique<LoadedModule>(context, module));
  Error error = context.driver().error(code, "cuModuleLoadDataEx", fmt::format("{} characters", ptx.size()));
  if (log.front() != '\0') error.message += fmt::format(": {}", log.data());
  return error;
}

}  // namespace stowage::memory::cuda
