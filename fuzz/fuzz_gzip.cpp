#include "files/interface/gzip.hpp"
#include "fuzz.hpp"

/// Any bytes can be decompressed or give an error; compressing and decompressing returns the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  constexpr std::size_t kLimit = std::size_t{1} << 24;
  const std::string_view bytes = fuzz::as_text(data, size);
  const Result<std::string> unpacked = files::unpack_gzip(bytes, kLimit);
  fuzz::expect(unpacked || !unpacked.error().message.empty(), "an error without a message");
  const Result<std::string> again = files::unpack_gzip(files::pack_gzip(bytes).value());
  fuzz::expect(again && *again == bytes, "bytes changed on the way through gzip");
  return 0;
}
