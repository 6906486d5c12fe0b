#include "report/pickle.hpp"

#include <bit>
#include <limits>

namespace stowage::report {
namespace {

/// The length of the UTF-8 character at the start of `text`; 0 if it is not valid UTF-8.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  if (length < 3) return length;
  // Reject overlong encodings, surrogates, and anything beyond the last code point.
  const auto second = static_cast<unsigned char>(text[1]);
  const bool wrong = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) ||
                     (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90);
  return wrong ? 0 : length;
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    valid += length == 0 ? std::string_view("?") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

}  // namespace

PickleWriter::PickleWriter() : out_("\x80\x04") {}

void PickleWriter::append(std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i) & 0xFF);
}

void PickleWriter::integer(std::int64_t value) {
  if (value >= 0 && value < 256) {
    out_ += 'K';
    append(static_cast<std::uint64_t>(value), 1);
  } else if (value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max()) {
    out_ += 'J';
    append(static_cast<std::uint64_t>(value), 4);
  } else {
    out_ += "\x8a\x08";
    append(static_cast<std::uint64_t>(value), 8);
  }
}

void PickleWriter::real(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  out_ += 'G';
  for (std::size_t i = 8; i-- > 0;) out_ += static_cast<char>(bits >> (8 * i) & 0xFF);  // big-endian
}

void PickleWriter::text(std::string_view value) {
  const std::string valid = valid_utf8(value);
  if (valid.size() < 256) {
    out_ += '\x8c';
    append(valid.size(), 1);
  } else {
    out_ += 'X';
    append(valid.size(), 4);
  }
  out_ += valid;
}

void PickleWriter::pair(std::int64_t first, std::int64_t second) {
  integer(first);
  integer(second);
  out_ += '\x86';
}

std::string PickleWriter::take() && {
  out_ += '.';
  return std::move(out_);
}

}  // namespace stowage::report
