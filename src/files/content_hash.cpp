#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "stowage/files.hpp"

namespace stowage {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide wide(std::uint64_t high, std::uint64_t low) { return static_cast<Wide>(high) << 64 | low; }

}  // namespace

std::string content_hash(std::string_view content) {
  constexpr Wide kBasis = wide(0x6c62272e07bb0142, 0x62b821756295c58d);
  constexpr Wide kPrime = wide(0x0000000001000000, 0x000000000000013b);
  Wide hash = kBasis;
  for (const char each : content) {
    hash ^= static_cast<unsigned char>(each);
    hash *= kPrime;
  }
  return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(hash >> 64), static_cast<std::uint64_t>(hash));
}

}  // namespace stowage
