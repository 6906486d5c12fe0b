#include "fuzz.hpp"
#include "stowage/io.hpp"

/// With a name that identifies no format, any bytes are either recognised as one format and read accordingly, or give
/// an error that says that the format is unknown.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  const std::string_view bytes = fuzz::as_text(data, size);
  const Format* const format = find_format(bytes, "fuzz");
  fuzz::expect(!format || format->recognises(bytes), "a format without a suffix was not recognised by its content");
  const Result<Imported> imported = import_bytes(bytes, "fuzz");
  if (!imported) fuzz::expect_useful(imported.error());
  fuzz::expect(format || !imported, "bytes of no format were read");
  return 0;
}
