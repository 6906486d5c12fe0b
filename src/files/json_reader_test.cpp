#include "files/interface/json_reader.hpp"

#include <array>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace stowage::files {
namespace {

std::string error_of(std::string_view text, NamedLists named = {}) {
  const Result<JsonDocument> result = parse_json(text, "f.json", named);
  if (result) return "no error";
  EXPECT_EQ(result.error().code, ErrorCode::parse);
  return to_string(result.error());
}

TEST(JsonReader, SyntaxErrorsHaveLineAndColumn) {
  EXPECT_EQ(
      error_of("{\"a\":1,\n  \"b\" 2}"),
      "f.json:2: column 7: syntax error while parsing object separator - unexpected number literal; expected ':'");
  EXPECT_EQ(error_of(""),
            "f.json:1: column 1: syntax error while parsing value - unexpected end of input; expected '[', '{', or a "
            "literal");
  EXPECT_EQ(error_of("{\"a\":[1,2"),
            "f.json:1: column 10: syntax error while parsing array - unexpected end of input; expected ']'");
  EXPECT_EQ(error_of("[] []"),
            "f.json:1: column 4: syntax error while parsing value - unexpected '['; expected end of input");
}

TEST(JsonReader, ErrorsDoNotRepeatTheInput) {
  EXPECT_EQ(error_of("[\"" + std::string(1000, 'x')),
            "f.json:1: column 1003: syntax error while parsing value - invalid string: missing closing quote");
  EXPECT_LT(error_of("[1e" + std::string(1000, '9') + "]").size(), 300u);
}

TEST(JsonReader, InvalidUtf8IsAnError) {
  EXPECT_EQ(error_of("[\"\xff\"]"),
            "f.json:1: column 3: syntax error while parsing value - invalid string: ill-formed UTF-8 byte");
}

TEST(JsonReader, EveryTruncationIsAnError) {
  const std::string_view text = R"({"a":[1,-2,3.5,true,null,"t\u00e4xt"],"b":{"c":{}}})";
  ASSERT_TRUE(parse_json(text, "f"));
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(error_of(text.substr(0, length)), "no error") << length;
}

TEST(JsonReader, DuplicateFieldsAreNamedWithTheirPath) {
  EXPECT_EQ(error_of(R"({"a":1,"a":2})"), "f.json: duplicate field 'a'");
  EXPECT_EQ(error_of(R"({"a":[0,{"b":{"x":1,"y":2,"x":1}}]})"), "f.json: a[1].b: duplicate field 'x'");
  constexpr std::string_view kText = R"({"parts":[{},{"name":"t","size":1,"size":2}]})";
  constexpr NamedList kNamed[] = {{"parts", "part"}};
  EXPECT_EQ(error_of(kText), "f.json: parts[1]: duplicate field 'size'");
  EXPECT_EQ(error_of(kText, kNamed), "f.json: parts[1]: part 't' (1): duplicate field 'size'");
}

TEST(JsonReader, DeepNestingIsRefused) {
  EXPECT_TRUE(parse_json(std::string(320, '[') + std::string(320, ']'), "f"));
  EXPECT_NE(error_of(std::string(321, '[') + std::string(321, ']')).find("nested deeper than 320 levels"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(10'000'000, '[')).find("nested deeper"), std::string::npos);
}

/// The error of reading `text` with `read`.
template <class Read>
std::string fault(std::string_view text, Read read) {
  const Result<JsonDocument> document = parse_json(text, "f");
  JsonErrors errors;
  read(JsonValue(*document, errors));
  return errors.first() ? to_string(*errors.first()) : "none";
}

TEST(JsonReader, IntegersAreExactAndInRange) {
  const auto read = [](const JsonValue& value) { return value.integer(-1, 4'000'000'000'000'000'000); };
  EXPECT_EQ(fault("-1", read), "none");
  EXPECT_EQ(fault("4000000000000000000", read), "none");
  for (const char* text : {"-2", "4000000000000000001", "18446744073709551615", "1.5", "2.0"}) {
    EXPECT_EQ(fault(text, read), std::string("f: must be an integer from -1 to 4000000000000000000, not ") + text);
  }
  EXPECT_EQ(fault("99999999999999999999", read), "f: must be an integer from -1 to 4000000000000000000, not 1e+20");
  EXPECT_EQ(fault("\"7\"", read), "f: must be an integer from -1 to 4000000000000000000, not string");
  EXPECT_EQ(fault("true", read), "f: must be an integer from -1 to 4000000000000000000, not boolean");
}

TEST(JsonReader, TheFirstFaultIsKept) {
  EXPECT_EQ(fault(R"({"a":[1,"x",true]})",
                  [](const JsonValue& value) {
                    const JsonValue array = value.require("a");
                    return array.list([](const JsonValue& element) { return element.position(); });
                  }),
            "f: a[1]: must be an integer from 0 to 4294967295, not string");
}

TEST(JsonReader, MissingAndUnknownFieldsAreNamed) {
  constexpr std::string_view kKnown[] = {"a"};
  const auto read = [&](const JsonValue& value) { value.allow_fields(kKnown); };
  EXPECT_EQ(fault(R"({"a":1})", read), "none");
  EXPECT_EQ(fault(R"({"c":1})", read), "f: unknown field 'c'");
  EXPECT_EQ(fault("[]", read), "f: must be an object, not array");
  EXPECT_EQ(fault("{}", [](const JsonValue& value) { return value.require("x").text(); }), "f: missing field 'x'");
}

TEST(JsonReader, ObjectsAreLimited) {
  EXPECT_TRUE(parse_json("[{},{}]", "f", {}, {.objects = 2}));
  const Result<JsonDocument> refused = parse_json("[{},{},{}]", "f", {}, {.objects = 2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_EQ(to_string(refused.error()), "f: it has more than 2 objects, which is the limit; --limit raises it");
}

TEST(JsonReader, AListOfWrongElementsTakesNoMoreMemoryThanItsText) {
  std::string text = "[0";
  for (int i = 0; i < 1'000'000; ++i) text += ",0";
  struct Large {
    std::array<char, 100'000> bytes;
  };
  const auto read = [](const JsonValue& value) {
    return value.list([](const JsonValue& element) {
      element.require_object();
      return Large{};
    });
  };
  EXPECT_EQ(fault(text + "]", read), "f: [0]: must be an object, not number");
}

/// The value as the library sees it.
nlohmann::json rebuilt(const JsonNode*& node) {
  using Kind = JsonNode::Kind;
  const JsonNode& own = *node++;
  if (own.kind == Kind::array) {
    nlohmann::json list = nlohmann::json::array();
    for (std::uint32_t i = 0; i < own.size; ++i) list.push_back(rebuilt(node));
    return list;
  }
  if (own.kind == Kind::object) {
    nlohmann::json object = nlohmann::json::object();
    for (std::uint32_t i = 0; i < own.size; ++i) {
      const std::string key((node++)->string());
      object[key] = rebuilt(node);
    }
    return object;
  }
  if (own.kind == Kind::string) return std::string(own.string());
  if (own.kind == Kind::boolean) return own.size == 1;
  if (own.kind == Kind::integer) return own.integer;
  if (own.kind == Kind::unsigned_integer) return own.unsigned_integer;
  if (own.kind == Kind::number) return own.number;
  return nullptr;
}

/// Reads what the library reads, as the same values, and refuses everything else.
void expect_like_library(const std::string& text) {
  const Result<JsonDocument> document = parse_json(text, "f");
  const nlohmann::json expected = nlohmann::json::parse(text, nullptr, false);
  if (!document) {
    const bool ours = to_string(document.error()).find("duplicate field") != std::string::npos;
    EXPECT_TRUE(expected.is_discarded() || ours) << text << ": " << to_string(document.error());
    EXPECT_EQ(to_string(document.error()).find("not read as JSON"), std::string::npos) << text;
    return;
  }
  ASSERT_FALSE(expected.is_discarded()) << text;
  const JsonNode* node = document->nodes.data();
  EXPECT_EQ(rebuilt(node), expected) << text;
}

TEST(JsonReader, ReadsWhatTheLibraryReads) {
  for (const char* text : {"0",
                           "-0",
                           "-",
                           "01",
                           "-01",
                           "1.",
                           ".1",
                           "1.5e3",
                           "1e",
                           "1e+",
                           "1E-2",
                           "1e400",
                           "-1e400",
                           "1e-400",
                           "9223372036854775807",
                           "9223372036854775808",
                           "-9223372036854775808",
                           "-9223372036854775809",
                           "18446744073709551615",
                           "18446744073709551616",
                           "\"\\u0041\\n\\/\"",
                           "\"\\ud83d\\ude00\"",
                           "\"\\ud83d\"",
                           "\"\\ude00\"",
                           "\"\\ud83dx\"",
                           "\"\\u12\"",
                           "\"\\x\"",
                           "\"\t\"",
                           "\"\x7f\"",
                           "\"\xc3\xa4\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "\"\xf0\x9f\x98\x80\"",
                           "\"\xe2\x82\"",
                           "tru",
                           "true",
                           "truex",
                           "null",
                           "nul",
                           "[1,]",
                           "[,1]",
                           "{\"a\":}",
                           "{\"a\"}",
                           "{a:1}",
                           "{\"a\":1,}",
                           "{\"\":{}}",
                           "[",
                           "]",
                           " [ 1 , {\"a\" : [ ] } ] \n",
                           "\xef\xbb\xbf[1]",
                           "\xef\xbb[1]",
                           "[1]x",
                           "/**/1",
                           "[1 2]"})
    expect_like_library(text);
}

TEST(JsonReader, ReadsMutatedTextAsTheLibraryDoes) {
  std::mt19937 random(7);
  const std::string text = R"({"a":[1,-2.5e3,true,null,"t\u00e4xt\n"],"b":{"c":{},"d":"\ud83d\ude00ä"},"e":[[],{}]})";
  constexpr std::string_view kBytes = "{}[],:\"\\u0dea1-.+ tfn\xc3\xa4\x80\n";
  for (int round = 0; round < 20'000; ++round) {
    std::string mutated = text;
    for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = random() % mutated.size();
      const char byte = kBytes[random() % kBytes.size()];
      random() % 2 == 0 ? mutated.replace(at, random() % 3, 1, byte) : mutated.erase(at, 1);
    }
    expect_like_library(mutated);
  }
}

}  // namespace
}  // namespace stowage::files
