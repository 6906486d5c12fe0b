#include "stowage/report/sweep.hpp"

#include <gtest/gtest.h>

namespace stowage {
namespace {

SweepRow planned_row() {
  return {.input = "dir/a, \"b\".onnx",
          .hash = "00ff",
          .dims = R"({"batch":4})",
          .options = R"({"capacity":1024})",
          .peak = Bytes(1000),
          .bound = Bytes(900),
          .proven = false,
          .weights = Bytes(0),
          .total = Bytes(1000),
          .status = "feasible",
          .ms = 1.25};
}

SweepRow failed_row() { return {.input = "no.onnx", .error = "no.onnx: there is no such file"}; }

TEST(SweepTable, CsvQuotesWhatNeedsIt) {
  const std::vector<SweepRow> rows = {planned_row(), failed_row()};
  EXPECT_EQ(sweep_to_csv(rows),
            "input,hash,dims,options,peak,bound,proven,weights,total,status,ms,error\n"
            "\"dir/a, \"\"b\"\".onnx\",00ff,\"{\"\"batch\"\":4}\",\"{\"\"capacity\"\":1024}\",1000,900,false,0,1000,"
            "feasible,1.25,\n"
            "no.onnx,,{},{},,,,,,,,no.onnx: there is no such file\n");
}

TEST(SweepTable, JsonLinesHaveNullsForWhatIsAbsent) {
  const std::vector<SweepRow> rows = {failed_row()};
  EXPECT_EQ(sweep_to_json_lines(rows),
            R"({"input":"no.onnx","hash":null,"dims":"{}","options":"{}","peak":null,"bound":null,"proven":null,)"
            R"("weights":null,"total":null,"status":null,"ms":null,"error":"no.onnx: there is no such file"})"
            "\n");
}

TEST(SweepTable, BothReadBackAsTheyWere) {
  const std::vector<SweepRow> rows = {planned_row(), failed_row()};
  EXPECT_EQ(*parse_sweep(sweep_to_csv(rows), "t.csv"), rows);
  EXPECT_EQ(*parse_sweep(sweep_to_json_lines(rows), "t.jsonl"), rows);
}

TEST(SweepTable, OtherColumnsInAnotherOrderAreFine) {
  const auto rows = parse_sweep("colour,peak,options,dims,input\r\nred,7,{},{},a.onnx\r\n\r\n", "t.csv");
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->front(), (SweepRow{.input = "a.onnx", .peak = Bytes(7)}));
}

void expect_fault(std::string_view text, std::int64_t line, std::string_view part) {
  const auto rows = parse_sweep(text, "t");
  ASSERT_FALSE(rows) << text;
  EXPECT_EQ(rows.error().code, ErrorCode::parse);
  EXPECT_EQ(rows.error().where.line, line) << text;
  EXPECT_NE(rows.error().message.find(part), std::string::npos) << rows.error().message;
}

TEST(SweepTable, WhatIsNoTableIsRefusedWithItsLine) {
  expect_fault("", 1, "no column 'input'");
  expect_fault("id,lower,upper,size\n", 1, "no column 'input'");
  expect_fault("input,dims,options,peak\na,{},{}\n", 2, "3 fields");
  expect_fault("input,dims,options,peak\na,{},{},1\na,{},{},much\n", 3, "'much'");
  expect_fault("input,dims,options,peak\na,{},{},-1\n", 2, "'-1'");
  expect_fault("input,dims,options,peak\n\"a,{},{},1\n", 2, "quote");
  expect_fault(R"({"input":"a","dims":"{}","options":"{}"})", 1, "no 'peak'");
  expect_fault("{\"input\":\"a\",\"dims\":\"{}\",\"options\":\"{}\",\"peak\":1}\n{broken\n", 2, "JSON object");
}

TEST(SweepTable, WhatIsCutOffIsReadOrRefused) {
  const std::vector<SweepRow> rows = {planned_row(), failed_row()};
  for (const std::string& whole : {sweep_to_csv(rows), sweep_to_json_lines(rows)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto read = parse_sweep(whole.substr(0, size), "t");
      EXPECT_TRUE(read ? read->size() <= 2 : read.error().code == ErrorCode::parse) << whole.substr(0, size);
    }
  }
}

TEST(SweepOptions, OnlyWhatIsNotTheDefaultIsThere) {
  PlanOptions options{.time_limit = {}};
  EXPECT_EQ(sweep_options(options, {}), "{}");
  options.capacity = Bytes(1024);
  options.time_limit = std::chrono::milliseconds(500);
  options.padding = Padding::none;
  options.in_place = false;
  ImportOptions import;
  import.fold = false;
  import.shapes["x"] = {1, 3};
  import.dims["batch"] = 4;
  EXPECT_EQ(
      sweep_options(options, import),
      R"({"capacity":1024,"fold":false,"in_place":false,"padding":"none","shapes":{"x":[1,3]},"time_limit":0.5})");
  EXPECT_EQ(sweep_dims({}), "{}");
  EXPECT_EQ(sweep_dims({{"seq", 128}, {"batch", 4}}), R"({"batch":4,"seq":128})");
}

TEST(SweepRow, WithoutAnAnswerOnlyTheBoundIsKnown) {
  Summary summary;
  summary.peak = Bytes(7);
  summary.lower_bound = Bytes(5);
  summary.weights = Bytes(3);
  summary.total = Bytes(10);
  summary.status = "infeasible";
  SweepRow row{.input = "a"};
  set_figures(row, summary);
  EXPECT_EQ(row, (SweepRow{.input = "a", .bound = Bytes(5), .status = "infeasible"}));
  summary.status = "feasible";
  set_figures(row, summary);
  EXPECT_EQ(row.peak, Bytes(7));
  EXPECT_EQ(row.proven, false);
  EXPECT_EQ(row.total, Bytes(10));
}

}  // namespace
}  // namespace stowage
