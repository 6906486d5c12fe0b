#include "io/tflite/file.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <tflite_generated.h>

namespace stowage::io::tflite {
namespace {

constexpr std::align_val_t kFileAlignment{16};  // guaranteed by the format relative to the beginning of the file
constexpr std::uint32_t kVersion = 3;
constexpr std::size_t kMinSize = 8;  // the offset of the root, and the identifier
constexpr std::size_t kMaxFileSize = FLATBUFFERS_MAX_BUFFER_SIZE - 1;

bool is_aligned(std::string_view bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % static_cast<std::size_t>(kFileAlignment) == 0;
}

}  // namespace

void File::AlignedDelete::operator()(char* memory) const { ::operator delete(memory, kFileAlignment); }

Error File::fault(ErrorCode code, std::string path, std::string message) const {
  return Error{code, std::move(message), {.file = name_, .line = {}, .path = std::move(path)}};
}

Result<File> File::open(std::string_view bytes, const std::string& name) {
  File file;
  file.name_ = name;
  file.bytes_ = bytes;
  if (bytes.size() < kMinSize || !flatbuffers::BufferHasIdentifier(bytes.data(), schema::ModelIdentifier()))
    return file.fault(ErrorCode::parse, {}, "not a TFLite model: bytes 4 to 7 are not 'TFL3'");
  if (!is_aligned(bytes)) {
    file.copy_.reset(static_cast<char*>(::operator new(bytes.size(), kFileAlignment)));
    std::memcpy(file.copy_.get(), bytes.data(), bytes.size());
    file.bytes_ = {file.copy_.get(), bytes.size()};
  }
  // Data of large models follows the flatbuffer, which is never larger than this.
  const std::size_t size = std::min(bytes.size(), kMaxFileSize);
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(file.bytes_.data()), size);
  if (!schema::VerifyModelBuffer(verifier))
    return file.fault(ErrorCode::parse, {},
                      "damaged or truncated: a reference in the file points outside of it or to an invalid place");
  file.model_ = schema::GetModel(file.bytes_.data());
  if (file.model_->version() != kVersion)
    return file.fault(
        ErrorCode::unsupported, "version",
        fmt::format("the model has version {}, but only {} is supported", file.model_->version(), kVersion));
  return file;
}

}  // namespace stowage::io::tflite
