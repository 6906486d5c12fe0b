#pragma once

#include <string>

namespace stowage::torch {

/// Throws torch's own c10::OutOfMemoryError, which Python sees as torch.OutOfMemoryError. If that class cannot be found
/// in this process, throws std::runtime_error with the same message.
[[noreturn]] void throw_out_of_memory(const std::string& message);

}  // namespace stowage::torch
