#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files/interface/gzip.hpp"
#include "stowage/io.hpp"
#include "support/tflite/model.hpp"

namespace stowage {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kTable = "id,lower,upper,size\na,0,2,8\n";
constexpr std::string_view kGraph =
    R"({"schema":"stowage.graph/1","name":"g","memories":[{"name":"m","alignment":32}],"tensors":[{"name":"t","size":8}]})";

/// ir_version 8, opset 13 and a graph without nodes.
std::string onnx_model() { return std::string("\x08\x08\x42\x02\x10\x0d\x3a\x03\x12\x01g", 11); }
/// The same with the graph before the version.
std::string onnx_model_in_another_order() { return std::string("\x3a\x03\x12\x01g\x42\x02\x10\x0d\x08\x08", 11); }
std::string tflite_model() { return io::tflite::testing::bytes_of(io::tflite::testing::small_model()); }

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A file of every format, which the fuzzer starts from too, and some that are harder to recognise.
std::vector<std::pair<std::string, std::string>> examples() {
  std::vector<std::pair<std::string, std::string>> list{{"graph", std::string(kGraph)},
                                                        {"graph", "\xEF\xBB\xBF\n " + std::string(kGraph)},
                                                        {"onnx", onnx_model()},
                                                        {"onnx", onnx_model_in_another_order()},
                                                        {"tflite", tflite_model()},
                                                        {"csv", std::string(kTable)},
                                                        {"csv", "\n \"buffer\" ,start,end,size\n"}};
  const std::filesystem::path seeds = std::filesystem::path(STOWAGE_SOURCE_DIR) / "fuzz" / "corpus" / "fuzz_import";
  for (const Format& format : formats()) {
    if (std::filesystem::exists(seeds / format.name)) list.emplace_back(format.name, content_of(seeds / format.name));
  }
  return list;
}

std::string_view format_of(std::string_view bytes, std::string_view name) {
  const Format* const format = find_format(bytes, name);
  return format ? format->name : "none";
}

std::string error_of(std::string_view bytes, const std::string& name, const ImportOptions& options = {}) {
  const Result<Imported> imported = import_bytes(bytes, name, options);
  return imported ? "none" : to_string(imported.error());
}

TEST(Formats, AreRecognisedByContentWhateverTheName) {
  std::set<std::string, std::less<>> seen;
  for (const auto& [name, bytes] : examples()) {
    seen.insert(name);
    for (const char* file : {"-", "model", "a.json", "a.onnx.gz", "a.tflite", "a.csv", "a.bin", ""}) {
      EXPECT_EQ(format_of(bytes, file), name) << file;
    }
  }
  for (const Format& format : formats())
    EXPECT_TRUE(seen.contains(format.name)) << "no fuzz/corpus/fuzz_import/" << format.name;
}

TEST(Formats, EachIsRecognisedByOneFormatOnly) {
  for (const auto& [name, bytes] : examples()) {
    const auto recognises = [&content = bytes](const Format& format) { return format.recognises(content); };
    EXPECT_EQ(std::count_if(formats().begin(), formats().end(), recognises), 1) << name;
  }
}

TEST(Formats, PackedFilesAreRecognisedOnceTheyAreRead) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "stowage_formats_test_model";
  for (const auto& [name, bytes] : examples()) {
    std::ofstream(file, std::ios::binary) << files::pack_gzip(bytes).value();
    EXPECT_EQ(format_of(read_file(file.string()).value(), file.string()), name);
  }
  std::filesystem::remove(file);
}

TEST(Formats, ByNameWhereTheContentDoesNotTell) {
  for (const Format& format : formats()) {
    for (const char* bytes : {"", "?", "no format at all"}) {
      EXPECT_EQ(format_of(bytes, "dir/file" + std::string(format.suffix)), format.name);
      EXPECT_EQ(format_of(bytes, "file" + std::string(format.suffix) + ".gz"), format.name);
      EXPECT_EQ(format_of(bytes, std::string(format.suffix) + "/file"), "none");
    }
  }
}

TEST(Formats, ATfliteModelThatBeginsLikeAnotherFormatIsOne) {
  for (const char first : {'\x08', '{'}) {
    const std::string bytes = std::string{first, '\0', '\0', '\0'} + "TFL3" + std::string(16, '\0');
    EXPECT_EQ(format_of(bytes, "-"), "tflite");
  }
}

TEST(Formats, WhatNobodyRecognisesListsTheKnownFormats) {
  const std::string said = error_of("something else", "data.bin");
  EXPECT_THAT(said,
              StartsWith("data.bin: unknown format: neither the content nor the name identifies one; known formats: "
                         "graph (.json), onnx (.onnx), "));
  for (const Format& format : formats())
    EXPECT_THAT(said, HasSubstr(std::string(format.name) + " (" + std::string(format.suffix) + ")"));
  EXPECT_THAT(error_of("", "-"), StartsWith("-: the file is empty, and its name does not identify a format; known"));
  EXPECT_EQ(import_bytes("", "-").error().code, ErrorCode::parse);
}

TEST(Formats, BytesOfAnyKindAreRefusedWithAReason) {
  std::string bytes;
  for (int length = 0; length < 40; ++length) {
    for (int value = 0; value < 256; value += 5) {
      for (const Format& format : formats()) {
        const std::string said = error_of(bytes + static_cast<char>(value), "x" + std::string(format.suffix));
        EXPECT_TRUE(said == "none" || said.starts_with("x" + std::string(format.suffix)))
            << length << ' ' << value << ' ' << said;
      }
    }
    bytes += static_cast<char>(length * 37);
  }
}

TEST(Formats, EveryTruncationIsRecognisedOrRefused) {
  for (const auto& [name, bytes] : examples()) {
    for (std::size_t length = 0; length < std::min<std::size_t>(bytes.size(), 64); ++length) {
      const std::string said = error_of(bytes.substr(0, length), "-");
      EXPECT_TRUE(said == "none" || said.starts_with("-:")) << name << ' ' << length << ' ' << said;
    }
  }
}

TEST(Formats, AFileThatIsMeantForAnotherCommandSaysSo) {
  EXPECT_THAT(error_of(R"({"schema":"stowage.plan/1"})", "p.csv"), HasSubstr("schema is 'stowage.plan/1'"));
  EXPECT_THAT(error_of("op,id,size,stream\n", "trace"), HasSubstr("unknown column 'op'"));
}

TEST(Formats, AnAlignmentIsThatOfEveryMemoryOrRow) {
  ImportOptions options;
  options.alignment = Bytes(256);
  const auto memory_of = [&](const std::string& bytes) {
    return std::get<Graph>(import_bytes(bytes, "-", options).value()).memory(MemoryId(0)).alignment;
  };
  EXPECT_EQ(memory_of(std::string(kGraph)), Bytes(256));
  EXPECT_EQ(memory_of(onnx_model()), Bytes(256));
  EXPECT_EQ(memory_of(tflite_model()), Bytes(256));
  const std::string_view rows = "id,lower,upper,size,alignment\na,0,2,8,\nb,0,2,8,4\n";
  const auto table = std::get<CsvProblem>(import_bytes(rows, "-", options).value());
  EXPECT_EQ(table.problem.items[0].alignment, Bytes(256));
  EXPECT_EQ(table.problem.items[1].alignment, Bytes(4));
}

TEST(Formats, ADimThatTheFileCannotHaveIsRefused) {
  ImportOptions options;
  options.dims["batch"] = 4;
  for (const auto& [name, bytes] : examples()) {
    const Result<Imported> imported = import_bytes(bytes, "-", options);
    ASSERT_FALSE(imported) << name;
    EXPECT_EQ(imported.error().code, ErrorCode::unknown_name) << name;
    EXPECT_THAT(imported.error().message, HasSubstr("'batch'")) << name;
  }
  EXPECT_EQ(error_of(tflite_model(), "-", options),
            "-: there is no dim 'batch': dims have no names in the format tflite, only in onnx");
}

TEST(Formats, EachHasAFuzzTargetAndASectionInTheDocumentation) {
  const std::filesystem::path project = STOWAGE_SOURCE_DIR;
  const std::string documentation = content_of(project / "docs" / "formats.md");
  std::set<std::string_view> names;
  for (const Format& format : formats()) {
    const std::string target = "fuzz_" + std::string(format.name);
    EXPECT_TRUE(std::filesystem::exists(project / "fuzz" / (target + ".cpp"))) << target;
    EXPECT_THAT(documentation,
                HasSubstr("| `" + std::string(format.name) + "` | `" + std::string(format.suffix) + "` |"));
    EXPECT_TRUE(names.insert(format.name).second) << format.name << " occurs twice";
    EXPECT_FALSE(format.description.empty() || format.holds.empty() || !format.suffix.starts_with('.')) << format.name;
  }
}

}  // namespace
}  // namespace stowage
