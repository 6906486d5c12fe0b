#include "files/interface/gzip.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <zlib.h>

namespace stowage::files {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's way to ask for a gzip header around the largest window
constexpr int kQuickLevel = 3;        // the highest level without lazy matching
constexpr std::size_t kBlock = std::size_t{1} << 18;

Error damaged(std::string message) { return Error{ErrorCode::parse, std::move(message), {}}; }

Error zlib_failed(int code) { return Error{ErrorCode::io, fmt::format("gzip: {}", zError(code)), {}}; }

/// Owns a zlib stream and ends it.
class Stream {
 public:
  using Close = int (*)(z_stream*);
  explicit Stream(Close close) : close_(close) {}
  ~Stream() { close_(&z_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  z_stream* get() { return &z_; }
  z_stream* operator->() { return &z_; }

 private:
  Close close_;
  z_stream z_ = {};
};

/// Gives zlib the next part of `input`, in parts because its counters are narrower than `std::size_t`.
void feed(z_stream& z, std::string_view& input) {
  if (z.avail_in != 0 || input.empty()) return;
  const std::size_t part = std::min<std::size_t>(input.size(), std::numeric_limits<uInt>::max());
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  z.avail_in = static_cast<uInt>(part);
  input.remove_prefix(part);
}

/// Makes room for one block at the end of `output`.
void grow(z_stream& z, std::string& output) {
  const std::size_t old = output.size();
  output.resize(old + kBlock);
  z.next_out = reinterpret_cast<Bytef*>(output.data() + old);
  z.avail_out = static_cast<uInt>(kBlock);
}

/// Takes away the room that was not used.
void trim(const z_stream& z, std::string& output) { output.resize(output.size() - z.avail_out); }

bool starts_member(const z_stream& z, std::string_view rest) {
  std::string head(reinterpret_cast<const char*>(z.next_in), std::min<std::size_t>(z.avail_in, 2));
  head += rest.substr(0, 2 - head.size());
  return is_gzip(head);
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

Result<std::string> unpack_gzip(std::string_view packed, std::size_t limit) {
  Stream z(inflateEnd);
  if (const int code = inflateInit2(z.get(), kGzipWindow); code != Z_OK) return zlib_failed(code);
  std::string output;
  while (true) {
    feed(*z.get(), packed);
    grow(*z.get(), output);
    const int code = inflate(z.get(), Z_NO_FLUSH);
    trim(*z.get(), output);
    if (output.size() > limit)
      return Error{ErrorCode::unsupported, fmt::format("gzip holds more than {} bytes", limit), {}};
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return damaged(fmt::format("damaged gzip: {}", z->msg != nullptr ? z->msg : zError(code)));
    }
    const bool all_read = z->avail_in == 0 && packed.empty();
    if (code == Z_STREAM_END) {
      if (all_read) return output;
      if (!starts_member(*z.get(), packed)) return damaged("damaged gzip: trailing data after its end");
      inflateReset(z.get());
    } else if (code == Z_BUF_ERROR && all_read) {
      return damaged("truncated gzip: it ends early");
    }
  }
}

Result<std::string> pack_gzip(std::string_view content, GzipEffort effort) {
  Stream z(deflateEnd);
  const int level = effort == GzipEffort::quick ? kQuickLevel : Z_DEFAULT_COMPRESSION;
  int code = deflateInit2(z.get(), level, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY);
  if (code != Z_OK) return zlib_failed(code);
  std::string output;
  while (code != Z_STREAM_END) {
    feed(*z.get(), content);
    grow(*z.get(), output);
    code = deflate(z.get(), content.empty() ? Z_FINISH : Z_NO_FLUSH);
    trim(*z.get(), output);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return zlib_failed(code);
  }
  return output;
}

}  // namespace stowage::files
