#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "files/interface/gzip.hpp"

/// Reading of pages, for tests.
namespace stowage::testing {

inline constexpr std::string_view kDataStart = "<script type=\"application/gzip\" id=\"stowage-data\">";

/// The base64 in a page.
inline std::string_view data_of(std::string_view page) {
  const std::size_t start = page.find(kDataStart);
  EXPECT_NE(start, std::string_view::npos);
  EXPECT_EQ(page.find(kDataStart, start + 1), std::string_view::npos);
  if (start == std::string_view::npos) return {};
  const std::string_view rest = page.substr(start + kDataStart.size());
  const std::string_view text = rest.substr(0, rest.find("</script>"));
  const std::size_t first = text.find_first_not_of('\n');
  return text.substr(first, text.find_last_not_of('\n') + 1 - first);
}

/// The page without it.
inline std::string around_data(std::string_view page) {
  const std::string_view data = data_of(page);
  const auto start = static_cast<std::size_t>(data.data() - page.data());
  return std::string(page.substr(0, start)) + std::string(page.substr(start + data.size()));
}

inline std::string from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                                             : 63;
    EXPECT_TRUE(digit < 63 || c == '/') << "not base64: " << c;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 0xFFU);
  }
  return bytes;
}

/// The object in a page.
inline nlohmann::json read_page(std::string_view page) {
  return nlohmann::json::parse(files::unpack_gzip(from_base64(data_of(page))).value());
}

/// Expects that columns are of equal lengths, that counts add up, and that numbers point to something.
inline void expect_sound(const nlohmann::json& plan) {
  const auto length = [&](const char* table, const char* column) { return plan.at(table).at(column).size(); };
  for (const char* const table : {"ops", "tensors", "holders", "pieces"}) {
    for (const auto& [name, column] : plan.at(table).items())
      EXPECT_EQ(column.size(), plan.at(table).begin()->size()) << table << "." << name;
  }
  const auto sum = [](const nlohmann::json& column) {
    std::size_t all = 0;
    for (const auto& each : column) all += each.get<std::size_t>();
    return all;
  };
  EXPECT_EQ(length("ops", "name"), plan.at("steps").get<std::size_t>());
  EXPECT_EQ(sum(plan.at("tensors").at("read_count")), plan.at("reads").size());
  EXPECT_EQ(sum(plan.at("holders").at("piece_count")), length("pieces", "low"));
  const auto expect_below = [&](const char* table, const char* column, std::int64_t least, std::size_t limit) {
    for (const auto& each : plan.at(table).at(column)) {
      EXPECT_GE(each.get<std::int64_t>(), least) << table << "." << column;
      EXPECT_LT(each.get<std::int64_t>(), static_cast<std::int64_t>(limit)) << table << "." << column;
    }
  };
  const std::size_t strings = plan.at("strings").size();
  EXPECT_EQ(plan.at("strings").at(0), "");
  for (const auto& [table, column] : {std::pair("ops", "name"),
                                      {"ops", "kind"},
                                      {"tensors", "name"},
                                      {"tensors", "type"},
                                      {"tensors", "shape"},
                                      {"holders", "kind"},
                                      {"holders", "scope"}})
    expect_below(table, column, 0, strings);
  expect_below("tensors", "holder", -1, length("holders", "arena"));
  expect_below("tensors", "producer", -1, plan.at("steps").get<std::size_t>());
  expect_below("holders", "arena", 0, plan.at("arenas").size());
  expect_below("holders", "tensor", -1, length("tensors", "name"));
  expect_below("holders", "op", -1, plan.at("steps").get<std::size_t>());
  expect_below("holders", "first", 0, plan.at("steps").get<std::size_t>());
  expect_below("holders", "end", 1, plan.at("steps").get<std::size_t>() + 1);
}

}  // namespace stowage::testing
