#include <regex>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/runtime/adaptors.hpp"
#include "support/runtime/plain_allocator.hpp"

namespace stowage::runtime {
namespace {

std::vector<std::string> lines_of(const std::ostringstream& log) {
  std::vector<std::string> lines;
  std::istringstream text(log.str());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream text(line);
  for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
  return fields;
}

std::string text_of(const std::byte* address) {
  std::ostringstream text;
  text << static_cast<const void*>(address);
  return text.str();
}

TEST(LogAdaptor, BeginsWithTheHeaderOfRmm) {
  TestAllocator heap;
  std::ostringstream out;
  const LogAdaptor log(heap, out);
  EXPECT_EQ(out.str(), "Thread,Time,Action,Pointer,Size,Stream\n");
}

TEST(LogAdaptor, WritesAnAllocationAndItsFree) {
  TestAllocator heap;
  std::ostringstream out;
  LogAdaptor log(heap, out);
  std::byte* const address = log.allocate(Bytes(1000), StreamId(18)).value();
  log.free(address, Bytes(1000), StreamId(18));
  const std::vector<std::string> lines = lines_of(out);
  ASSERT_EQ(lines.size(), 3U);
  const std::regex allocate("[0-9]+,[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6},allocate," + text_of(address) + ",1000,0x12");
  const std::regex free("[0-9]+,[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6},free," + text_of(address) + ",1000,0x12");
  EXPECT_TRUE(std::regex_match(lines[1], allocate)) << lines[1];
  EXPECT_TRUE(std::regex_match(lines[2], free)) << lines[2];
}

TEST(LogAdaptor, TheDefaultStreamIsZeroWithoutPrefix) {
  TestAllocator heap;
  std::ostringstream out;
  LogAdaptor log(heap, out);
  log.free(log.allocate(Bytes(1), StreamId(0)).value(), Bytes(1), StreamId(0));
  EXPECT_EQ(fields_of(lines_of(out)[1])[5], "0");
}

TEST(LogAdaptor, AFailureHasNoPointer) {
  TestAllocator heap;
  std::ostringstream out;
  LogAdaptor log(heap, out);
  heap.fail_next(1);
  EXPECT_FALSE(log.allocate(Bytes(4096), StreamId(1)));
  const std::vector<std::string> fields = fields_of(lines_of(out).at(1));
  ASSERT_EQ(fields.size(), 6U);
  EXPECT_EQ(fields[2], "allocate failure");
  EXPECT_EQ(fields[3], "(nil)");
  EXPECT_EQ(fields[4], "4096");
  EXPECT_EQ(fields[5], "0x1");
}

TEST(LogAdaptor, WhatGivesNoMemoryHasNoLine) {
  TestAllocator heap;
  std::ostringstream out;
  LogAdaptor log(heap, out);
  log.free(log.allocate(Bytes(0), {}).value(), Bytes(0), {});
  EXPECT_FALSE(log.allocate(Bytes(-1), {}));
  EXPECT_EQ(lines_of(out).size(), 1U);
}

TEST(LogAdaptor, AStreamThatFailsDoesNotStopAllocation) {
  TestAllocator heap;
  std::ostringstream out;
  LogAdaptor log(heap, out);
  out.setstate(std::ios::badbit);
  log.free(log.allocate(Bytes(10), {}).value(), Bytes(10), {});
  EXPECT_EQ(lines_of(out).size(), 1U);
}

}  // namespace
}  // namespace stowage::runtime
