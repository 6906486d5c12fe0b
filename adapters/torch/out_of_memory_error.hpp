#pragma once

#include <string>

namespace stowage::torch {

/// Throws torch's own c10::OutOfMemoryError, which Python sees as torch.OutOfMemoryError; where the torch of this
/// process does not let itself be asked for it, std::runtime_error with the same message.
[[noreturn]] void throw_out_of_memory(const std::string& message);

}  // namespace stowage::torch
