#include <chrono>
#include <ctime>
#include <ostream>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "stowage/runtime/adaptors.hpp"

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace stowage {
namespace {

/// Not cached, because it changes after a fork.
std::uint64_t thread_number() {
#if defined(__linux__)
  return static_cast<std::uint64_t>(syscall(SYS_gettid));
#else
  return std::hash<std::thread::id>{}(std::this_thread::get_id());
#endif
}

std::string time_of_day() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count();
  const auto seconds = static_cast<std::time_t>(microseconds / 1'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  return fmt::format("{:02}:{:02}:{:02}.{:06}", local.tm_hour, local.tm_min, local.tm_sec, microseconds % 1'000'000);
}

/// As printed by C's %p on Linux.
std::string pointer(const std::byte* address) {
  return address == nullptr ? "(nil)" : fmt::format("{}", fmt::ptr(address));
}

/// As C++ streams print pointers: null has no prefix.
std::string stream_name(StreamId stream) { return stream.index() == 0 ? "0" : fmt::format("{:#x}", stream.index()); }

}  // namespace

LogAdaptor::LogAdaptor(Allocator& wrapped, std::ostream& log) : AllocatorAdaptor(wrapped), log_(log) {
  log_ << "Thread,Time,Action,Pointer,Size,Stream\n";
}

void LogAdaptor::write(const char* action, const std::byte* address, Bytes size, StreamId stream) {
  const std::lock_guard lock(mutex_);  // includes reading the clock, so that times never decrease
  const std::string line = fmt::format("{},{},{},{},{},{}\n", thread_number(), time_of_day(), action, pointer(address),
                                       size.value(), stream_name(stream));
  log_.write(line.data(), static_cast<std::streamsize>(line.size()));
}

Result<std::byte*> LogAdaptor::allocate(Bytes size, StreamId stream) {
  Result<std::byte*> address = wrapped().allocate(size, stream);
  if (size <= Bytes(0)) return address;
  write(address ? "allocate" : "allocate failure", address ? *address : nullptr, size, stream);
  return address;
}

void LogAdaptor::free(std::byte* address, Bytes size, StreamId stream) {
  if (address != nullptr) write("free", address, size, stream);
  wrapped().free(address, size, stream);
}

}  // namespace stowage
