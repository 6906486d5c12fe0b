#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/io.hpp"
#include "support/builders/items.hpp"

namespace stowage {
namespace {

std::string message_of(std::string_view text) {
  const Result<CsvProblem> table = parse_csv(text, "p.csv");
  return table ? "no error" : to_string(table.error());
}

using testing::piece;

std::vector<Piece> pieces_of(std::string_view gaps) {
  const auto table = parse_csv("id,lower,upper,size,gaps\na,0,10,8," + std::string(gaps) + "\n", "p.csv");
  EXPECT_TRUE(table) << to_string(table.error());
  return table->problem.items[0].pieces;
}

std::string gaps_error(std::string_view gaps) {
  return message_of("id,lower,upper,size,gaps\na,2,10,8," + std::string(gaps) + "\n");
}

TEST(Csv, RowsBecomeItems) {
  const CsvProblem table = parse_csv("id,lower,upper,size\nb1,0,3,7\nb2,3,9,0\n", "p.csv").value();
  EXPECT_EQ(table.ids, (std::vector<std::string>{"b1", "b2"}));
  EXPECT_EQ(table.problem, (Problem{.items = {{.pieces = {piece(0, 3, 0, 7)}, .size = Bytes(7)},
                                              {.pieces = {piece(3, 9, 0, 0)}, .size = Bytes(0)}}}));
  EXPECT_EQ(table.header, (std::vector<std::string>{"id", "lower", "upper", "size"}));
  EXPECT_EQ(table.rows[1], (std::vector<std::string>{"b2", "3", "9", "0"}));
}

TEST(Csv, ColumnsComeInAnyOrderUnderAnyOfTheirNames) {
  const Problem problem = parse_csv("id,lower,upper,size\nx,2,5,8\n", "p").value().problem;
  EXPECT_EQ(parse_csv("size,end,begin,buffer\n8,4,2,x\n", "p").value().problem, problem);
  EXPECT_EQ(parse_csv(" size , buffer_id ,\tstart,upper\n8,x,2,5\n", "p").value().problem, problem);
}

TEST(Csv, OptionalColumnsAreRead) {
  const CsvProblem table =
      parse_csv("id,lower,upper,size,alignment,hint,offset\na,0,1,8,16,32,64\nb,0,1,8,,-1,-1\nc,0,1,8,1,,\n", "p")
          .value();
  EXPECT_EQ(table.problem.items[0].alignment, Bytes(16));
  EXPECT_EQ(table.problem.items[0].pinned, Bytes(64));
  EXPECT_EQ(table.hints, (std::vector<std::optional<Bytes>>{Bytes(32), std::nullopt, std::nullopt}));
  EXPECT_EQ(table.problem.items[1], (Item{.pieces = {piece(0, 1, 0, 8)}, .size = Bytes(8)}));
  EXPECT_EQ(table.problem.items[2], table.problem.items[1]);
}

TEST(Csv, BlankLinesSpacesAndForeignLineEndsAreFine) {
  const CsvProblem table =
      parse_csv("\xEF\xBB\xBF\r\nid,lower,upper,size\r\n\r\n a , 0,1 ,8\r\n \t\r\nb,0,1,8", "p").value();
  EXPECT_EQ(table.ids, (std::vector<std::string>{"a", "b"}));
}

TEST(Csv, AHeaderAloneIsAnEmptyProblem) {
  EXPECT_TRUE(parse_csv("id,lower,upper,size\n", "p").value().problem.items.empty());
}

TEST(Csv, QuotedIdsAreRead) {
  const CsvProblem table = parse_csv("id,lower,upper,size\n\"a,\"\"b\"\"\",0,1,8\n", "p").value();
  EXPECT_EQ(table.ids[0], "a,\"b\"");
  EXPECT_EQ(parse_csv("id,lower,upper,size\na\"\"b,0,1,8\n", "p").value().ids[0], "a\"\"b");
  EXPECT_EQ(message_of("id,lower,upper,size\n\"a,0,1,8\n"), "p.csv:2: a quote is not closed");
}

TEST(Csv, GapsCutTheLife) {
  EXPECT_EQ(pieces_of(""), (std::vector{piece(0, 10, 0, 8)}));
  EXPECT_EQ(pieces_of("3-5"), (std::vector{piece(0, 3, 0, 8), piece(5, 10, 0, 8)}));
  EXPECT_EQ(pieces_of("3-5@2:4"), (std::vector{piece(0, 3, 0, 8), piece(3, 5, 2, 4), piece(5, 10, 0, 8)}));
  EXPECT_EQ(pieces_of("6-10 0-2"), (std::vector{piece(2, 6, 0, 8)}));
  EXPECT_EQ(pieces_of("0-5@0:1  5-10@0:1"), (std::vector{piece(0, 10, 0, 1)}));
  EXPECT_EQ(pieces_of("3-5@0:8"), (std::vector{piece(0, 10, 0, 8)}));
}

TEST(Csv, AnInclusiveEndMakesGapsInclusive) {
  const CsvProblem table = parse_csv("id,lower,end,size,gaps\na,0,9,8,3-4@2:4\n", "p").value();
  EXPECT_EQ(table.problem.items[0].pieces, pieces_of("3-5@2:4"));
  EXPECT_TRUE(parse_csv("id,lower,end,size\na,3,3,8\n", "p"));
}

TEST(Csv, BadGapsAreNamedWithTheirLine) {
  EXPECT_EQ(gaps_error("1-5"), "p.csv:2: id 'a': column 'gaps' has the gap '1-5' outside the lifetime");
  EXPECT_EQ(gaps_error("5-11"), "p.csv:2: id 'a': column 'gaps' has the gap '5-11' outside the lifetime");
  EXPECT_EQ(gaps_error("5-5"), "p.csv:2: id 'a': column 'gaps' has the empty gap '5-5'");
  EXPECT_EQ(gaps_error("3-6 5-7"), "p.csv:2: id 'a': column 'gaps' has gaps that overlap at 5");
  EXPECT_EQ(gaps_error("2-10"), "p.csv:2: id 'a': column 'gaps' leaves nothing of the item");
  EXPECT_EQ(gaps_error("3-5@4:9"),
            "p.csv:2: id 'a': column 'gaps' has the gap '3-5@4:9', whose window is empty or outside the size 8");
  EXPECT_EQ(gaps_error("3-5@4:4"),
            "p.csv:2: id 'a': column 'gaps' has the gap '3-5@4:4', whose window is empty or outside the size 8");
  for (const std::string gap :
       {"3", "3-", "-5", "3-x", "3-5@", "3-5@1", "3-5@1:", "3-5@1:2:3", "3-5-6", "3--5", "3-99999999999999999999"}) {
    EXPECT_EQ(gaps_error(gap),
              "p.csv:2: id 'a': column 'gaps' has '" + gap + "', which is not of the form lower-upper[@lower:upper]");
  }
}

TEST(Csv, BadHeadersAreNamed) {
  EXPECT_EQ(message_of(""), "p.csv: the file is empty: a header is missing");
  EXPECT_EQ(message_of("id,lower,size\n"), "p.csv:1: column 'upper' is missing");
  EXPECT_EQ(message_of("lower,upper,size\n"), "p.csv:1: column 'id' is missing");
  EXPECT_EQ(message_of("id,lower,upper,size,colour\n"), "p.csv:1: unknown column 'colour'");
  EXPECT_EQ(message_of("id,lower,upper,size,\n"), "p.csv:1: unknown column ''");
  EXPECT_EQ(message_of("\nid,lower,upper,size,size\n"), "p.csv:2: column 'size' occurs twice, first as 'size'");
  EXPECT_EQ(message_of("id,lower,upper,end,size\n"), "p.csv:1: column 'end' occurs twice, first as 'upper'");
}

TEST(Csv, BadRowsAreNamedWithTheirLine) {
  const auto row = [](std::string_view text) {
    return message_of("id,lower,upper,size,alignment,offset\n\n" + std::string(text));
  };
  EXPECT_EQ(row("a,0,1,8,1"), "p.csv:3: 5 fields where the header has 6 columns");
  EXPECT_EQ(row(",0,1,8,1,0"), "p.csv:3: the id is empty");
  EXPECT_EQ(row("a,5,5,8,1,0"), "p.csv:3: id 'a': column 'upper' ends the lifetime at 5, but it begins at 5");
  EXPECT_EQ(row("a,5,4,8,1,0"), "p.csv:3: id 'a': column 'upper' ends the lifetime at 4, but it begins at 5");
  EXPECT_EQ(row("a,x,4,8,1,0"),
            "p.csv:3: id 'a': column 'lower' must be an integer from 0 to 4611686018427387904, not 'x'");
  EXPECT_EQ(row("a,-1,4,8,1,0"),
            "p.csv:3: id 'a': column 'lower' must be an integer from 0 to 4611686018427387904, not '-1'");
  EXPECT_EQ(row("a,0,4,8,3,0"), "p.csv:3: id 'a': column 'alignment' is 3, not a power of two");
  EXPECT_EQ(row("a,0,4,8,1,-2"),
            "p.csv:3: id 'a': column 'offset' must be an integer from -1 to 4611686018427387904, not '-2'");
  for (const std::string size : {"", "-1", "1.5", "8 8", "0x10", "4611686018427387905", "99999999999999999999"}) {
    EXPECT_EQ(row("a,0,4," + size + ",1,0"),
              "p.csv:3: id 'a': column 'size' must be an integer from 0 to 4611686018427387904, not '" + size + "'");
  }
}

TEST(Csv, DuplicateIdsAreNamed) {
  EXPECT_EQ(message_of("id,lower,upper,size\na,0,1,8\nb,0,1,8\n\"a\",0,1,8\n"), "p.csv:4: id 'a' occurs twice");
}

TEST(Csv, SizesThatSumAboveTheLimitNameTheRow) {
  const Result<CsvProblem> table =
      parse_csv("id,lower,upper,size\na,0,1,4611686018427387000\n\nb,0,1,4611686018427387000\n", "p.csv");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().where.line, 4);
  EXPECT_TRUE(table.error().message.starts_with("id 'b' ")) << table.error().message;
}

TEST(Csv, OffsetsAreAddedToTheRowsAsTheyWere) {
  const CsvProblem table = parse_csv("buffer, start,end,size\r\n\"a,b\", 0,1,8\r\n\r\nc,0,1,4\r\n", "p").value();
  const std::vector<Position> positions{{0, Bytes(4)}, {0, Bytes(0)}};
  EXPECT_EQ(csv_with_offsets(table, positions), "buffer,start,end,size,offset\n\"a,b\", 0,1,8,4\nc,0,1,4,0\n");
}

TEST(Csv, AnOffsetColumnIsReplaced) {
  const CsvProblem table = parse_csv("id,offset,lower,upper,size\na,-1,0,1,8\nb,,0,1,8\n", "p").value();
  const std::vector<Position> positions{{0, Bytes(8)}, {0, Bytes(0)}};
  const std::string text = csv_with_offsets(table, positions);
  EXPECT_EQ(text, "id,offset,lower,upper,size\na,8,0,1,8\nb,0,0,1,8\n");
  EXPECT_EQ(parse_csv(text, "p").value().problem.items[0].pinned, Bytes(8));
}

TEST(Csv, AProblemIsWrittenWithTheColumnsItNeeds) {
  const Problem plain{.items = {{.pieces = {piece(0, 3, 0, 7)}, .size = Bytes(7)}}};
  EXPECT_EQ(problem_to_csv(plain, std::vector<std::string>{"a"}).value(), "id,lower,upper,size\na,0,3,7\n");
  const Problem rich{
      .items = {
          {.pieces = {piece(0, 3, 0, 7)}, .size = Bytes(7), .alignment = Bytes(4), .pinned = Bytes(8)},
          {.pieces = {piece(0, 2, 0, 8), piece(2, 4, 0, 4), piece(2, 4, 4, 6), piece(6, 9, 0, 8)}, .size = Bytes(8)}}};
  const std::vector<std::string> ids{"a", "b,\"c\""};
  const std::string text = problem_to_csv(rich, ids).value();
  EXPECT_EQ(text, "id,lower,upper,size,alignment,gaps,offset\na,0,3,7,4,,8\n\"b,\"\"c\"\"\",0,9,8,1,2-4@0:6 4-6,-1\n");
  const CsvProblem again = parse_csv(text, "p").value();
  EXPECT_EQ(again.ids, ids);
  EXPECT_EQ(problem_to_csv(again.problem, ids).value(), text);
}

TEST(Csv, IdsWithOddCharactersReadBackEqual) {
  const Item item{.pieces = {piece(0, 1, 0, 8)}, .size = Bytes(8)};
  const std::vector<std::string> ids{"a\rb", "c\r", " d ", "\"", "e\"\"f", "g,h", "\t"};
  const std::string text = problem_to_csv({.items = std::vector<Item>(ids.size(), item)}, ids).value();
  EXPECT_EQ(parse_csv(text, "p").value().ids, ids);
}

TEST(Csv, AProblemThatACsvCannotSayIsRefused) {
  const std::vector<std::string> ids{"a"};
  const Problem plain{.items = {{.pieces = {piece(0, 3, 0, 7)}, .size = Bytes(7)}}};
  const auto message = [&](const Problem& problem) {
    const auto result = problem_to_csv(problem, ids);
    EXPECT_TRUE(!result && result.error().code == ErrorCode::unsupported);
    return result ? "no error" : result.error().message;
  };
  Problem problem = plain;
  problem.regions.resize(2);
  EXPECT_EQ(message(problem), "a CSV has one region, not 2");
  problem = plain;
  problem.regions[0].limit = Bytes(100);
  EXPECT_EQ(message(problem), "a CSV cannot express a region limit");
  problem = plain;
  problem.capacity = Bytes(100);
  EXPECT_EQ(message(problem), "a CSV cannot express a capacity");
  problem = plain;
  problem.order = {.streams = 1, .threshold = {Step(3)}, .first = {Step(0)}};
  EXPECT_EQ(message(problem), "a CSV cannot express stream order");
  problem = plain;
  problem.items[0].pieces = {piece(0, 3, 0, 2), piece(1, 3, 5, 7)};
  EXPECT_EQ(message(problem), "item 'a' occupies separate byte ranges at step 1, which a CSV cannot express");
  EXPECT_EQ(problem_to_csv(plain, std::vector<std::string>{"a\nb"}).error().code, ErrorCode::unsupported);
}

TEST(Csv, RowsAreKeptApartByTheirIds) {
  const std::string_view text = "id,lower,upper,size,apart\na,0,2,8,c b\nb,2,4,8,\nc,4,6,8, a\t\n";
  const Result<CsvProblem> table = parse_csv(text, "p.csv");
  ASSERT_TRUE(table) << to_string(table.error());
  EXPECT_EQ(table->problem.apart, (std::vector<ApartPair>{{0, 1}, {0, 2}})) << "said twice is said once";
  EXPECT_EQ(table_to_csv(*table).value(), "id,lower,upper,size,apart\na,0,2,8,\nb,2,4,8,a\nc,4,6,8,a\n");
  EXPECT_EQ(csv_with_offsets(*table, std::vector<Position>{{0, Bytes(0)}, {0, Bytes(8)}, {0, Bytes(16)}}),
            "id,lower,upper,size,apart,offset\na,0,2,8,c b,0\nb,2,4,8,,8\nc,4,6,8, a\t,16\n");
}

TEST(Csv, IdsOfAnyKindAreKeptApart) {
  const Problem problem{.items = {{.pieces = {piece(0, 1, 0, 8)}, .size = Bytes(8)},
                                  {.pieces = {piece(1, 2, 0, 8)}, .size = Bytes(8)},
                                  {.pieces = {piece(2, 3, 0, 8)}, .size = Bytes(8)}},
                        .apart = {{0, 1}, {0, 2}}};
  const std::vector<std::string> ids = {"with space", "with,\"comma", "plain"};
  const std::string text = problem_to_csv(problem, ids).value();
  EXPECT_EQ(text,
            "id,lower,upper,size,apart\n\"with space\",0,1,8,\"with,\"\"comma plain\"\n\"with,\"\"comma\",1,2,8,\n"
            "plain,2,3,8,\n");
  EXPECT_EQ(parse_csv(text, "p").value().problem, problem);
  const std::vector<std::string> spaces = {"a b", "c d", "e"};
  EXPECT_EQ(problem_to_csv(problem, spaces).error().message,
            "'a b' and 'c d' are kept apart, but the column of a CSV cannot name an id with spaces");
}

TEST(Csv, SomeBytesOnlyCannotBeKeptApart) {
  const Problem problem{
      .items = {{.pieces = {piece(0, 1, 0, 8)}, .size = Bytes(8)}, {.pieces = {piece(1, 2, 0, 8)}, .size = Bytes(8)}},
      .apart = {{0, 1, ByteRange{Bytes(0), Bytes(4)}, std::nullopt}}};
  const std::vector<std::string> ids = {"a", "b"};
  EXPECT_EQ(problem_to_csv(problem, ids).error().message,
            "only some bytes of 'a' and 'b' are kept apart, which a CSV cannot express");
}

TEST(Csv, FaultsOfApartNameTheRow) {
  const auto message = [](std::string_view apart) {
    return message_of("id,lower,upper,size,apart\na,0,2,8,\nb,2,4,8," + std::string(apart) + "\n");
  };
  EXPECT_EQ(message("a c"), "p.csv:3: id 'b': column 'apart' names 'c', which is the id of no row");
  EXPECT_EQ(message("b"), "p.csv:3: id 'b': column 'apart' names the row itself");
  EXPECT_EQ(message_of("id,lower,upper,size,apart,apart\n"), "p.csv:1: column 'apart' occurs twice, first as 'apart'");
}

}  // namespace
}  // namespace stowage
