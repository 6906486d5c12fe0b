#include "fuzz.hpp"
#include "io/gzip.hpp"

/// Any bytes either unpack, or give an error; and any bytes pack and unpack to themselves.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  constexpr std::size_t kLimit = std::size_t{1} << 24;
  const std::string_view bytes = fuzz::as_text(data, size);
  const Result<std::string> unpacked = io::unpack_gzip(bytes, kLimit);
  fuzz::expect(unpacked || !unpacked.error().message.empty(), "an error without a message");
  const Result<std::string> again = io::unpack_gzip(io::pack_gzip(bytes).value());
  fuzz::expect(again && *again == bytes, "bytes changed on the way through gzip");
  return 0;
}
