#include "machine.hpp"

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace stowage::bench {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown compiler";
#endif
}

}  // namespace

void print_header() {
  const char* const commit = std::getenv("STOWAGE_COMMIT");
  fmt::print("Stowage {}, commit {}, {:%Y-%m-%d}. ", STOWAGE_VERSION, commit && *commit ? commit : "unknown",
             fmt::gmtime(std::time(nullptr)));
  fmt::print("{}, {} cores; {}, {}. Times are in milliseconds; pairs are best / median.\n\n", cpu_model(),
             std::thread::hardware_concurrency(), compiler(), STOWAGE_BUILD_TYPE);
}

}  // namespace stowage::bench
