#include "stowage/report/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/interface/plan_file.hpp"
#include "stowage/report.hpp"
#include "support/report/page.hpp"

namespace stowage {
namespace {

using nlohmann::json;
using testing::around_data;
using testing::expect_sound;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_page;

/// x → a → b → y, with a workspace of 32 bytes at the second op.
Graph chain(const std::string& prefix = {}) {
  GraphBuilder builder(prefix + "chain");
  builder.add(Memory{.name = "cpu", .alignment = Bytes(32)});
  const TensorId x = builder.add(
      Tensor{.name = prefix + "x", .size = Bytes(100), .dtype = "f32", .shape = {5, 5}, .flags = TensorFlag::input});
  const TensorId a = builder.add(Tensor{.name = prefix + "blk.0.a", .size = Bytes(1000)});
  const TensorId b = builder.add(Tensor{.name = prefix + "blk.1.b", .size = Bytes(200)});
  const TensorId y = builder.add(Tensor{.name = prefix + "y", .size = Bytes(50), .flags = TensorFlag::output});
  builder.add(Op{.name = prefix + "up", .kind = prefix + "UP", .inputs = {x}, .outputs = {a}});
  builder.add(Op{
      .name = prefix + "down", .kind = "DOWN", .inputs = {a, x}, .outputs = {b}, .workspaces = {{.size = Bytes(32)}}});
  builder.add(Op{.name = prefix + "end", .kind = "END", .inputs = {b}, .outputs = {y}});
  return std::move(builder.build()).value();
}

std::string page_of(const Graph& graph, const PageOptions& options, const PlanOptions& planning = {}) {
  return plan_page(plan(graph, planning).value(), options).value();
}

std::string string_at(const json& plan, const char* table, const char* column, std::size_t row) {
  return plan.at("strings").at(plan.at(table).at(column).at(row).get<std::size_t>());
}

TEST(Page, HasTheFiguresOfThePlan) {
  const Graph graph = chain();
  const Planned planned = plan(graph).value();
  const json page = read_page(plan_page(planned, {.label = "dir/chain.json", .capacity = Bytes(77)}).value());
  EXPECT_EQ(page.at("schema"), "stowage.page/1");
  EXPECT_EQ(page.at("title"), "chain.json");
  EXPECT_TRUE(page.at("diff").is_null());
  EXPECT_TRUE(page.at("replay").is_null());
  ASSERT_EQ(page.at("plans").size(), 1U);
  const json& shown = page.at("plans").at(0);
  EXPECT_EQ(shown.at("label"), "dir/chain.json");
  EXPECT_EQ(shown.at("capacity"), 77);
  EXPECT_EQ(shown.at("summary"), json::parse(summary_to_json(summarize(planned))));
  EXPECT_TRUE(shown.at("explain").is_null());
  EXPECT_TRUE(shown.at("text").is_null());
  expect_sound(shown);
}

TEST(Page, HasOpsTensorsAndReads) {
  const json shown = read_page(page_of(chain(), {.label = "chain"})).at("plans").at(0);
  EXPECT_EQ(shown.at("steps"), 3);
  EXPECT_EQ(string_at(shown, "ops", "name", 1), "down");
  EXPECT_EQ(string_at(shown, "ops", "kind", 1), "DOWN");
  EXPECT_EQ(shown.at("ops").at("stream"), json({0, 0, 0}));
  EXPECT_EQ(string_at(shown, "tensors", "name", 1), "blk.0.a");
  EXPECT_EQ(string_at(shown, "tensors", "type", 0), "f32");
  EXPECT_EQ(string_at(shown, "tensors", "shape", 0), "5x5");
  EXPECT_EQ(shown.at("tensors").at("size"), json({100, 1000, 200, 50}));
  EXPECT_EQ(shown.at("tensors").at("role"), json({1, 0, 0, 10})) << "an output stays to the end";
  EXPECT_EQ(shown.at("tensors").at("producer"), json({-1, 0, 1, 2}));
  EXPECT_EQ(shown.at("tensors").at("read_count"), json({2, 1, 1, 0}));
  EXPECT_EQ(shown.at("reads"), json({0, 1, 1, 2}));
}

TEST(Page, HasHoldersInTheOrderOfTheirFirstSteps) {
  const json shown = read_page(page_of(chain(), {.label = "chain"})).at("plans").at(0);
  const json& holders = shown.at("holders");
  ASSERT_EQ(holders.at("arena").size(), 5U);
  EXPECT_EQ(holders.at("first"), json({0, 0, 1, 1, 2}));
  std::vector<std::string> names;
  for (std::size_t h = 0; h < 5; ++h) {
    const auto tensor = holders.at("tensor").at(h).get<std::int64_t>();
    if (tensor < 0) {
      EXPECT_EQ(holders.at("op").at(h), 1);
      EXPECT_EQ(holders.at("size").at(h), 32);
      EXPECT_EQ(string_at(shown, "holders", "kind", h), "DOWN");
      continue;
    }
    EXPECT_EQ(holders.at("op").at(h), -1);
    EXPECT_EQ(shown.at("tensors").at("holder").at(static_cast<std::size_t>(tensor)), h);
    names.push_back(string_at(shown, "holders", "kind", h) + " " + string_at(shown, "holders", "scope", h));
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("input ", "UP blk.0", "DOWN blk.1", "END "));
  const json& arena = shown.at("arenas").at(0);
  EXPECT_EQ(arena.at("regions"), json::array({arena.at("size")}));
  EXPECT_EQ(arena.at("counts"), true);
  EXPECT_EQ(arena.at("concurrent"), false);
}

/// x → conv → relu, in place → y: the relu binds. The ops state layers and lines.
Graph conv_relu() {
  GraphBuilder builder("net");
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(100), .flags = TensorFlag::input});
  const TensorId conv = builder.add(Tensor{.name = "conv2d_1", .size = Bytes(1000)});
  const TensorId relu = builder.add(Tensor{.name = "relu_1", .size = Bytes(1000)});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(600), .flags = TensorFlag::output});
  builder.add(Op{.name = "a",
                 .kind = "Conv",
                 .inputs = {x},
                 .outputs = {conv},
                 .layer = "features.0",
                 .source = "net.py:12: x = self.conv(x)"});
  builder.add(Op{.name = "b", .kind = "Relu", .inputs = {conv}, .outputs = {relu}, .in_place = {{0, 0}}});
  builder.add(Op{.name = "c",
                 .kind = "MaxPool",
                 .inputs = {relu},
                 .outputs = {y},
                 .layer = "features.2",
                 .source = "net.py:14: x = self.pool(x)"});
  return std::move(builder.build()).value();
}

TEST(Page, AHolderHasOneNameInTheMapAndInTheText) {
  const Graph graph = conv_relu();
  const Explanation explanation = explain(graph).value();
  const json shown = read_page(page_of(graph, {.label = "net", .explanation = &explanation})).at("plans").at(0);
  const auto holder = shown.at("tensors").at("holder").at(2).get<std::size_t>();
  ASSERT_EQ(shown.at("tensors").at("holder").at(1), holder) << "relu_1 overwrites conv2d_1";
  const auto named = shown.at("holders").at("tensor").at(holder).get<std::size_t>();
  const std::string name = string_at(shown, "tensors", "name", named);
  EXPECT_EQ(name, "conv2d_1") << "the first of the largest";
  EXPECT_EQ(string_at(shown, "holders", "kind", holder), "Conv");
  EXPECT_EQ(string_at(shown, "holders", "scope", holder), "features.0");
  const json& peak = shown.at("explain").at("arenas").at(0).at("peaks").at(0);
  EXPECT_EQ(peak.at("op"), "c") << "conv2d_1 itself is not needed any more";
  EXPECT_EQ(peak.at("holders").at(0).at("name"), name);
  EXPECT_EQ(peak.at("holders").at(0).at("kind"), "Conv");
  EXPECT_EQ(peak.at("by_kind").at(0).at("word"), "Conv");
  EXPECT_EQ(peak.at("by_scope").at(0).at("word"), "features.0");
  EXPECT_THAT(explanation.cause, HasSubstr(name));
  EXPECT_THAT(explanation_to_text(explanation, SizeStyle::human), Not(HasSubstr("relu_1")));
}

TEST(Page, HasTheLayersAndLinesOfOps) {
  const Graph graph = conv_relu();
  const Explanation explanation = explain(graph).value();
  const json shown = read_page(page_of(graph, {.label = "net", .explanation = &explanation})).at("plans").at(0);
  EXPECT_EQ(string_at(shown, "ops", "layer", 0), "features.0");
  EXPECT_EQ(string_at(shown, "ops", "source", 0), "net.py:12: x = self.conv(x)");
  EXPECT_EQ(string_at(shown, "ops", "layer", 1), "");
  EXPECT_EQ(shown.at("explain").at("arenas").at(0).at("peaks").at(0).at("scope"), "features.2");
  const std::string text = explanation_to_text(explanation, SizeStyle::human);
  EXPECT_THAT(text, HasSubstr("op 'c' of layer 'features.2' (net.py:14: x = self.pool(x)), 2 holders"));
  EXPECT_THAT(text, HasSubstr("By layer:\n"));
}

TEST(Page, HasTheExplanation) {
  const Graph graph = chain();
  const Explanation explanation = explain(graph, {.budget = Bytes(500)}).value();
  const json shown = read_page(page_of(graph, {.label = "chain", .explanation = &explanation})).at("plans").at(0);
  EXPECT_EQ(shown.at("explain"), json::parse(explanation_to_json(explanation)));
  EXPECT_EQ(shown.at("text"), explanation_to_text(explanation, SizeStyle::human));
}

TEST(Page, OfAnEmptyGraphIsAPage) {
  const json shown = read_page(page_of(GraphBuilder("empty").build().value(), {.label = "-"})).at("plans").at(0);
  EXPECT_EQ(shown.at("tensors").at("name").size(), 0U);
  expect_sound(shown);
}

TEST(Page, OfStandardInputIsCalledAfterTheGraph) {
  EXPECT_EQ(read_page(page_of(chain(), {.label = "-"})).at("title"), "chain");
}

TEST(Page, IsTheSameEachTime) {
  const Graph graph = chain();
  const Planned planned = plan(graph).value();
  EXPECT_EQ(plan_page(planned, {.label = "a"}).value(), plan_page(planned, {.label = "a"}).value());
}

TEST(Page, NamesAreNothingButData) {
  const std::string bare = around_data(page_of(chain(), {.label = "x"}));
  const std::string hostile[] = {"</script><script>alert(1)</script>",
                                 "\"'`${alert(1)}\\",
                                 "<!--",
                                 "a\x01\x1f\x7f\n\r\t",
                                 "\u202Egnp.exe",
                                 "\u2028\u2029",
                                 std::string(10'000, 'n'),
                                 "<!-- stowage:data -->"};
  for (const std::string& name : hostile) {
    SCOPED_TRACE(name.substr(0, 50));
    const std::string page = page_of(chain(name), {.label = "x"});
    EXPECT_EQ(around_data(page), bare);
    const json shown = read_page(page).at("plans").at(0);
    EXPECT_EQ(string_at(shown, "tensors", "name", 0), name + "x");
    EXPECT_EQ(string_at(shown, "ops", "name", 0), name + "up");
    EXPECT_EQ(shown.at("summary").at("name"), name + "chain");
  }
}

TEST(Page, BytesThatAreNoTextAreReplaced) {
  const json shown = read_page(page_of(chain("\xFF\xC0<"), {.label = "\xFE.json"})).at("plans").at(0);
  EXPECT_EQ(string_at(shown, "tensors", "name", 0), "\uFFFD\uFFFD<x");
  EXPECT_EQ(shown.at("label"), "\uFFFD.json");
}

TEST(Page, TheTitleIsEscaped) {
  const std::string bare = around_data(page_of(chain(), {.label = "x"}));
  const auto titled = [&](const std::string& label) {
    const std::string page = around_data(page_of(chain(), {.label = label}));
    const std::size_t start = bare.find("<title>") + 7;
    EXPECT_EQ(page.substr(0, start), bare.substr(0, start));
    const std::size_t end = page.find("</title>");
    EXPECT_EQ(page.substr(end), bare.substr(bare.find("</title>"))) << "the rest is the same";
    return page.substr(start, end - start);
  };
  EXPECT_THAT(titled("a/b&c.json"), HasSubstr("b&amp;c.json - stowage"));
  EXPECT_THAT(titled("<title><script>.json"), HasSubstr("&lt;title&gt;&lt;script&gt;.json"));
  EXPECT_THAT(titled("\"'"), HasSubstr("&quot;&#39;"));
  EXPECT_THAT(titled("\xFF\x01"), HasSubstr("\uFFFD?"));
  EXPECT_LT(titled(std::string(10'000, '<')).size(), 1000U);
}

Summary table_summary() {
  Summary summary;
  summary.name = "t.csv";
  summary.peak = Bytes(15);
  summary.arenas = {{"table", "table", "shared", Bytes(15), Bytes(15), true}};
  return summary;
}

TEST(Page, OfATableHasAStepForEachTime) {
  const CsvProblem table = parse_csv("id,lower,upper,size\na,0,3,10\nb,1,2,5\nc,3,4,0\n", "t.csv").value();
  const Summary summary = table_summary();
  const std::vector<Position> positions{{0, Bytes(0)}, {0, Bytes(10)}, {0, Bytes(0)}};
  const json shown = read_page(table_page(table, positions, summary, {.label = "t.csv"}).value()).at("plans").at(0);
  expect_sound(shown);
  EXPECT_EQ(shown.at("summary"), json::parse(summary_to_json(summary)));
  EXPECT_EQ(shown.at("steps"), 4);
  EXPECT_EQ(string_at(shown, "ops", "name", 3), "step 3");
  EXPECT_EQ(string_at(shown, "tensors", "name", 1), "b");
  EXPECT_EQ(shown.at("tensors").at("holder"), json({0, 1, -1})) << "what has no bytes has no place";
  EXPECT_EQ(shown.at("pieces").at("first"), json({0, 1}));
  EXPECT_EQ(shown.at("pieces").at("end"), json({3, 2}));
  EXPECT_EQ(shown.at("pieces").at("low"), json({0, 10}));
  EXPECT_EQ(shown.at("pieces").at("size"), json({10, 5}));
}

TEST(Page, OfATableWithTimesFarApartHasOnlyThoseAtWhichSomethingHappens) {
  const CsvProblem table =
      parse_csv("id,lower,upper,size\na,1000000000000,4000000000000,10\nb,2000000000000,3000000000000,5\n", "t.csv")
          .value();
  const std::vector<Position> positions{{0, Bytes(0)}, {0, Bytes(10)}};
  const json shown =
      read_page(table_page(table, positions, table_summary(), {.label = "t.csv"}).value()).at("plans").at(0);
  expect_sound(shown);
  EXPECT_EQ(shown.at("steps"), 3);
  EXPECT_EQ(string_at(shown, "ops", "name", 1), "step 2000000000000");
  EXPECT_EQ(shown.at("pieces").at("first"), json({0, 1}));
  EXPECT_EQ(shown.at("pieces").at("end"), json({3, 2}));
}

TEST(Page, OfADiffHasBothPlans) {
  const Graph before = chain();
  const Graph after = chain("new_");
  const Planned first = plan(before).value();
  const Planned second = plan(after).value();
  const PlanDiff difference = diff({before, *first.plan}, {after, *second.plan});
  const json page = read_page(diff_page({first, "a.json"}, {second, "b.json"}, {}, difference).value());
  EXPECT_EQ(page.at("title"), "a.json \u2192 b.json");
  EXPECT_EQ(page.at("diff"), json::parse(diff_to_json(difference)));
  ASSERT_EQ(page.at("plans").size(), 2U);
  for (const json& shown : page.at("plans")) expect_sound(shown);
  EXPECT_EQ(string_at(page.at("plans").at(1), "tensors", "name", 0), "new_x");
}

TEST(Page, APlanFromElsewhereHasTheTimesOfItsGraph) {
  const Graph graph = chain();
  const Planned planned = plan(graph, {.in_place = false}).value();
  const PlanDiff same = diff({graph, *planned.plan}, {graph, *planned.plan});
  const json plans = read_page(diff_page({planned, "a"}, {graph, *planned.plan, "b"}, {}, same).value()).at("plans");
  expect_sound(plans.at(1));
  for (const char* const part : {"ops", "tensors", "reads", "arenas"})
    EXPECT_EQ(plans.at(0).at(part), plans.at(1).at(part)) << part;
  for (const char* const column : {"arena", "tensor", "op", "kind", "scope", "first", "end"})
    EXPECT_EQ(plans.at(0).at("holders").at(column), plans.at(1).at("holders").at(column)) << column;
  for (const char* const column : {"first", "end", "low"})
    EXPECT_EQ(plans.at(0).at("pieces").at(column), plans.at(1).at("pieces").at(column)) << column;
  EXPECT_EQ(plans.at(0).at("summary").at("peak_bytes"), plans.at(1).at("summary").at("peak_bytes"));
}

TEST(Page, APlanWithoutItsGraphHasNumbersOrTheNamesOfTheFileAndNoTimes) {
  const Graph graph = chain();
  const Planned planned = plan(graph).value();
  PlanFile file = localise(graph, *planned.plan);
  const auto page_of_file = [&] {
    return read_page(diff_page({file, "a"}, {file, "b"}, {}, diff(file, file)).value()).at("plans").at(0);
  };
  EXPECT_EQ(string_at(page_of_file(), "tensors", "name", 1), "blk.0.a");
  for (InBody<Placement>& each : file.placements) each.name.clear();
  const json shown = page_of_file();
  expect_sound(shown);
  EXPECT_EQ(shown.at("steps"), 0);
  EXPECT_EQ(string_at(shown, "tensors", "name", 1), "tensor 1");
  EXPECT_EQ(shown.at("holders").at("arena").size(), 0U);
  EXPECT_EQ(shown.at("arenas").size(), planned.plan->arenas.size());
}

TEST(Page, APlanThatIsNonsenseIsShownAsFarAsItGoes) {
  const Graph graph = chain();
  Plan plan = *stowage::plan(graph).value().plan;
  plan.placements[0].arena = ArenaId(7);
  plan.placements[1].region = 3;
  plan.placements[2].offset = kMaxBytes;
  plan.arenas[0].memory = MemoryId(9);
  plan.arenas[0].regions = {kMaxBytes, kMaxBytes};
  plan.placements[2].region = 1;
  const json shown =
      read_page(diff_page({graph, plan, "a"}, {graph, plan, "b"}, {}, diff({graph, plan}, {graph, plan})).value())
          .at("plans")
          .at(0);
  expect_sound(shown);
  EXPECT_EQ(shown.at("holders").at("arena").size(), 2U) << "the output and the workspace";
  plan.workspaces[0].offset = kMaxBytes;
  const json beyond =
      read_page(diff_page({graph, plan, "a"}, {graph, plan, "b"}, {}, diff({graph, plan}, {graph, plan})).value())
          .at("plans")
          .at(0);
  EXPECT_EQ(beyond.at("holders").at("arena").size(), 1U) << "the workspace ends where no byte is";
}

TEST(Page, OfAReplayHasItsSamples) {
  ReplayReport report{.allocator = "a", .device = "sim", .events = 9};
  report.samples = {{0, Bytes(1), Bytes(2), Bytes(3)}, {8, Bytes(4), Bytes(5), Bytes(6)}};
  const json page = read_page(replay_page("dir/</script>.csv", report).value());
  EXPECT_EQ(page.at("plans").size(), 0U);
  EXPECT_EQ(page.at("title"), "script>.csv");
  const json& shown = page.at("replay");
  EXPECT_EQ(shown.at("trace"), "dir/</script>.csv");
  EXPECT_EQ(shown.at("report"), json::parse(replay_to_json(report)));
  EXPECT_EQ(shown.at("events"), 9);
  EXPECT_EQ(shown.at("at"), json({0, 8}));
  EXPECT_EQ(shown.at("requested"), json({1, 4}));
  EXPECT_EQ(shown.at("reserved"), json({2, 5}));
  EXPECT_EQ(shown.at("largest_idle"), json({3, 6}));
}

}  // namespace
}  // namespace stowage
