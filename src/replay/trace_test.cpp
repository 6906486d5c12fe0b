#include <sstream>

#include <gtest/gtest.h>

#include "stowage/replay.hpp"
#include "stowage/runtime/adaptors.hpp"
#include "support/runtime/plain_allocator.hpp"

namespace stowage {
namespace {

using Action = Trace::Action;

Trace parsed(std::string_view text) {
  const Result<Trace> trace = parse_trace(text, "t.csv");
  EXPECT_TRUE(trace) << to_string(trace.error());
  return trace ? *trace : Trace();
}

std::string message_of(std::string_view text) {
  const Result<Trace> trace = parse_trace(text, "t.csv");
  return trace ? "no error" : to_string(trace.error());
}

/// The error message for rows below the usual header.
std::string rows_message(const std::string& rows) { return message_of("op,id,size,stream\n" + rows); }

Trace::Event event(Action action, std::uint32_t allocation, std::int64_t size, std::size_t stream) {
  return {action, allocation, Bytes(size), StreamId(stream)};
}

const Trace kTwo{{event(Action::allocate, 0, 100, 0), event(Action::allocate, 1, 8, 1), event(Action::free, 0, 100, 1)},
                 2};

TEST(Trace, RowsBecomeEvents) { EXPECT_EQ(parsed("op,id,size,stream\na,0,100,0\na,1,8,1\nf,0,100,1\n"), kTwo); }

TEST(Trace, AllocationsAndStreamsAreNumberedAsTheyCome) {
  EXPECT_EQ(parsed("op,id,size,stream\na,77,100,9\na,5,8,4\nf,77,100,4\n"), kTwo);
}

TEST(Trace, AnIdMayComeAgainOnceItIsFreed) {
  const Trace trace = parsed("op,id,size,stream\na,3,1,0\nf,3,1,0\na,3,2,0\n");
  EXPECT_EQ(trace.allocations, 2U);
  EXPECT_EQ(trace.events[2], event(Action::allocate, 1, 2, 0));
}

TEST(Trace, ColumnsComeInAnyOrderAndOthersAreIgnored) {
  EXPECT_EQ(parsed("stream, time ,size,op,id\n0,x,100,a,0\r\n\n1,y, 8 ,a,1\n1,z,100,f,\"0\""), kTwo);
}

TEST(Trace, NoEventsIsATrace) { EXPECT_EQ(parsed("op,id,size,stream\n"), Trace()); }

TEST(Trace, AllocationsOfNothingCount) {
  EXPECT_EQ(parsed("op,id,size,stream\na,0,0,0\na,1,0,0\nf,0,0,0\n").events.size(), 3U);
}

TEST(Trace, LogsOfRmmAreRead) {
  EXPECT_EQ(parsed("Thread,Time,Action,Pointer,Size,Stream\n"
                   "71,10:00:00.1,allocate,0x7f0000000000,100,0x0\n"
                   "71,10:00:00.2,allocate,0x7f0000000400,8,0x55aa\n"
                   "72,10:00:00.3,free,0x7F0000000000,100,0x55aa\n"),
            kTwo);
}

TEST(Trace, PointersOfRmmComeAgain) {
  const Trace trace = parsed(
      "Thread,Time,Action,Pointer,Size,Stream\n1,0,allocate,0xa0,1,0\n1,0,free,0xa0,1,0\n"
      "1,0,allocate,0xa0,2,0\n1,0,free,0xa0,2,0\n");
  EXPECT_EQ(trace.allocations, 2U);
  EXPECT_EQ(trace.events[3], event(Action::free, 1, 2, 0));
}

TEST(Trace, WhatRmmRefusedIsLeftOut) {
  EXPECT_EQ(parsed("Thread,Time,Action,Pointer,Size,Stream\n1,0,allocate failure,0x0,99999,0\n"), Trace());
}

TEST(Trace, NullPointersOfRmmAreLeftOut) {
  EXPECT_EQ(
      parsed(
          "Thread,Time,Action,Pointer,Size,Stream\n1,0,allocate,0x0,0,0\n1,0,allocate,(nil),0,0\n1,0,free,0x0,0,0\n"),
      Trace());
}

TEST(Trace, ErrorsNameFileAndLine) {
  EXPECT_EQ(message_of(""), "t.csv: the file is empty: a header is missing");
  EXPECT_EQ(message_of("op,id,size\na,0,1\n"),
            "t.csv:1: column 'stream' is missing: a trace has op, id, size, stream, an RMM log has Action, Pointer, "
            "Size, Stream");
  EXPECT_EQ(rows_message("a,0,8,0\n\nf,1,8,0\n"), "t.csv:4: id '1' is freed but not allocated");
  EXPECT_EQ(rows_message("a,0,8,0\nf,0,8,0\nf,0,8,0\n"), "t.csv:4: id '0' is freed but not allocated");
  EXPECT_EQ(rows_message("a,0,8,0\na,0,8,0\n"), "t.csv:3: id '0' is allocated again without a free");
  EXPECT_EQ(rows_message("a,0,-8,0\n"),
            "t.csv:2: column 'size' must be an integer from 0 to 4611686018427387904, not '-8'");
  EXPECT_EQ(rows_message("a,0,4611686018427387905,0\n").find("t.csv:2: column 'size' must be"), 0U);
  EXPECT_EQ(rows_message("a,x,8,0\n"), "t.csv:2: column 'id' must be a number from 0, not 'x'");
  EXPECT_EQ(rows_message("a,0,8,-1\n"), "t.csv:2: column 'stream' must be a number from 0, not '-1'");
  EXPECT_EQ(rows_message("b,0,8,0\n"), "t.csv:2: column 'op' must be a or f, not 'b'");
  EXPECT_EQ(rows_message("a,0,8\n"), "t.csv:2: 3 fields where the header has 4 columns");
  EXPECT_EQ(rows_message("a,\"0,8,0\n"), "t.csv:2: a quote is not closed");
  EXPECT_EQ(rows_message("a,0,8,0\nf,0,9,0\n"), "t.csv:3: id '0' was allocated with 8 bytes but is freed with 9");
  EXPECT_EQ(rows_message("a,0,1125899906842624,0\na,1,1,0\n"),
            "t.csv:3: more than 1125899906842624 bytes are live at once");
}

TEST(Trace, ErrorsInLogsOfRmmNameThem) {
  const std::string header = "Thread,Time,Action,Pointer,Size,Stream\n";
  EXPECT_EQ(message_of(header + "1,0,allocate,zero,1,0\n"), "t.csv:2: column 'Pointer' must be an address, not 'zero'");
  EXPECT_EQ(message_of(header + "1,0,resize,0x10,1,0\n"),
            "t.csv:2: column 'Action' must be allocate, allocate failure or free, not 'resize'");
  EXPECT_EQ(message_of(header + "1,0,free,0x10,1,0\n"), "t.csv:2: Pointer '0x10' is freed but not allocated");
  EXPECT_EQ(message_of(header + "1,0,allocate,0x10,1,x\n"), "t.csv:2: column 'Stream' must be a stream, not 'x'");
}

TEST(Trace, SurvivesWriting) {
  EXPECT_EQ(trace_to_csv(kTwo), "op,id,size,stream\na,0,100,0\na,1,8,1\nf,0,100,1\n");
  EXPECT_EQ(parsed(trace_to_csv(kTwo)), kTwo);
}

TEST(LogAdaptor, ReadsBackAsATrace) {
  runtime::TestAllocator heap;
  std::ostringstream out;
  LogAdaptor log(heap, out);
  std::byte* const first = log.allocate(Bytes(100), StreamId(0)).value();
  std::byte* const second = log.allocate(Bytes(200), StreamId(3)).value();
  heap.fail_next(1);
  EXPECT_FALSE(log.allocate(Bytes(300), StreamId(0)));
  log.free(first, Bytes(100), StreamId(0));
  log.free(second, Bytes(200), StreamId(3));
  const Result<Trace> trace = parse_trace(out.str(), "log.csv");
  ASSERT_TRUE(trace) << to_string(trace.error());
  const std::vector<Trace::Event> expected = {{Trace::Action::allocate, 0, Bytes(100), StreamId(0)},
                                              {Trace::Action::allocate, 1, Bytes(200), StreamId(1)},
                                              {Trace::Action::free, 0, Bytes(100), StreamId(0)},
                                              {Trace::Action::free, 1, Bytes(200), StreamId(1)}};
  EXPECT_EQ(trace->events, expected);
}

}  // namespace
}  // namespace stowage
