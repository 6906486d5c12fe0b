#include "support/judges/shadow/journal.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

namespace stowage::testing {
namespace {

std::string hex(std::byte value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto number = std::to_integer<std::size_t>(value);
  return std::string("0x") + kDigits[number / 16] + kDigits[number % 16];
}

}  // namespace

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  const std::less<const std::byte*> less;
  return !a.empty() && !b.empty() && less(a.data(), b.data() + b.size()) && less(b.data(), a.data() + a.size());
}

void Journal::find(const std::string& finding) {
  if (full()) return;
  const std::string run = run_ > 1 ? "run " + std::to_string(run_) + ", " : "";
  report.findings.push_back(run + "event " + std::to_string(event_) + ": " + finding);
}

void Journal::log(std::span<const std::byte> bytes, std::string what) {
  if (!bytes.empty()) writes_.push_back({bytes, std::move(what)});
}

bool Journal::compare(const Operand& found, const Operand& right, const std::string& what) {
  count(found.bytes.size());
  const std::optional<std::size_t> at = first_difference(found, right);
  if (!at) return true;
  find(what + ": byte " + byte_number(*at) + " is " + hex(found.bytes[*at]) + ", should be " + hex(right.bytes[*at]) +
       writer(found.bytes.subspan(*at, 1)));
  return false;
}

bool Journal::compare_pattern(std::span<const std::byte> found, std::uint64_t key, const std::string& what) {
  count(found.size());
  const std::optional<std::size_t> at = first_unlike_fill(found, key);
  if (at) find(what + " changed at byte " + byte_number(*at) + writer(found.subspan(*at, 1)));
  return !at;
}

bool Journal::compare_value(std::span<const std::byte> found, std::byte value, const std::string& what) {
  count(found.size());
  const auto wrong = std::find_if(found.begin(), found.end(), [&](std::byte each) { return each != value; });
  if (wrong == found.end()) return true;
  const auto at = static_cast<std::size_t>(wrong - found.begin());
  find(what + " is not filled: byte " + byte_number(at) + " is " + hex(*wrong) + ", should be " + hex(value) +
       writer(found.subspan(at, 1)));
  return false;
}

std::string Journal::writer(std::span<const std::byte> byte) const {
  const auto last =
      std::find_if(writes_.rbegin(), writes_.rend(), [&](const Write& write) { return overlap(write.bytes, byte); });
  return last == writes_.rend() ? "; never written" : "; last written by " + last->what;
}

std::string Journal::byte_number(std::size_t cell) const {
  return std::to_string(static_cast<std::int64_t>(cell) * granularity_.value());
}

}  // namespace stowage::testing
