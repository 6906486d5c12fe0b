#include "io/foreign.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace stowage::io {
namespace {

constexpr std::string_view kExportOnnx = "export the model as ONNX (torch.onnx.export) and plan that";
constexpr std::string_view kConvertTensorFlow =
    "convert the model to TFLite (tf.lite.TFLiteConverter) or ONNX (tf2onnx) and plan that";

constexpr ForeignFormat kGguf{"a GGUF file, which has weights but no graph",
                              "the graph is made by the program that runs it: see docs/ggml.md for planning it there"};
constexpr ForeignFormat kSafetensors{"a safetensors file, which has weights but no graph", kExportOnnx};
constexpr ForeignFormat kTorchArchive{"a PyTorch archive", kExportOnnx};
constexpr ForeignFormat kPickle{"a Python pickle, perhaps of PyTorch", kExportOnnx};
constexpr ForeignFormat kTorchExport{
    "a program of torch.export", "load it (torch.export.load), export it as ONNX (torch.onnx.export) and plan that"};
constexpr ForeignFormat kKeras{"a Keras model", kConvertTensorFlow};
constexpr ForeignFormat kHdf5{"an HDF5 file, perhaps of Keras", kConvertTensorFlow};
constexpr ForeignFormat kZip{"a zip archive", "unpack it and plan the model inside"};
constexpr ForeignFormat kTensorFlow{"a TensorFlow graph", kConvertTensorFlow};
constexpr ForeignFormat kMlir{"an MLIR module",
                              "lower it to buffers and write those as stowage.graph/1 (docs/formats.md)"};
constexpr ForeignFormat kCoreMl{"a Core ML model", "convert the original model to ONNX and plan that"};
constexpr ForeignFormat kOnnxText{"ONNX in text form",
                                  "write it as binary (onnx.parser.parse_model, then onnx.save) and plan that"};
constexpr ForeignFormat kOrt{"a model in ONNX Runtime's own format", "plan the ONNX file that it was made from"};
constexpr ForeignFormat kExecuTorch{"an ExecuTorch program",
                                    "its memory is planned already: plan the model it was made from"};
constexpr ForeignFormat kOpenVino{"a model of OpenVINO", "plan the ONNX or TFLite model that it was made from"};
constexpr ForeignFormat kNumPy{"a NumPy array", "it has no graph"};

std::string_view without_space(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

bool has_identifier(std::string_view bytes, std::string_view identifier) {  // of a flatbuffer
  return bytes.size() >= 8 && bytes.substr(4, 4).starts_with(identifier);
}

/// 8 bytes say how long the JSON header is that follows.
bool is_safetensors(std::string_view bytes) {
  if (bytes.size() < 10 || bytes[8] != '{') return false;
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return length <= bytes.size() - 8 && length >= 2;
}

/// What is in a zip archive shows in the name of its first entry.
const ForeignFormat* archive(std::string_view bytes) {
  constexpr std::size_t kNameLength = 26;
  constexpr std::size_t kName = 30;
  if (!bytes.starts_with("PK\x03\x04") || bytes.size() < kName) return nullptr;
  const std::size_t length = static_cast<unsigned char>(bytes[kNameLength]) |
                             static_cast<std::size_t>(static_cast<unsigned char>(bytes[kNameLength + 1])) << 8;
  const std::string_view name = bytes.substr(kName, length);
  if (name.ends_with("data.pkl") || name.ends_with(".format_version") || name.ends_with(".storage_alignment"))
    return &kTorchArchive;
  if (name.ends_with("archive_format") || name.ends_with("serialized_exported_program.json")) return &kTorchExport;
  if (name == "metadata.json" || name == "config.json" || name == "model.weights.h5") return &kKeras;
  return &kZip;
}

/// A GraphDef: its first field is a node (1), whose first field is its name (1), printable and followed by its kind.
bool is_graph_def(std::string_view bytes) {
  constexpr char kField1 = '\x0a';
  constexpr char kField2 = '\x12';
  if (bytes.size() < 6 || bytes[0] != kField1) return false;
  const std::size_t node = static_cast<unsigned char>(bytes[1]) < 0x80 ? 2 : 3;  // after a length of one or two bytes
  if (bytes.size() < node + 2 || bytes[node] != kField1) return false;
  const std::size_t length = static_cast<unsigned char>(bytes[node + 1]);
  const std::size_t kind = node + 2 + length;
  return length > 0 && length < 0x80 && bytes.size() > kind && bytes[kind] == kField2;
}

/// The text behind comments (from `mark` to the end of the line) and lines of aliases (`#map = …`).
std::string_view without_comments(std::string_view text, std::string_view mark) {
  text = without_space(text);
  while (text.starts_with(mark) || text.starts_with("#map") || text.starts_with("#loc")) {
    const std::size_t end = text.find('\n');
    text = end == std::string_view::npos ? std::string_view() : without_space(text.substr(end));
  }
  return text;
}

bool is_mlir(std::string_view bytes) {
  if (bytes.starts_with("ML\xefR")) return true;
  const std::string_view text = without_comments(bytes, "//");
  return text.starts_with("module {") || text.starts_with("module @") || text.starts_with("module attributes") ||
         text.starts_with("func.func ") || text.starts_with("builtin.module");
}

/// A model in the syntax of onnx.parser or of protobuf's text, or a graph alone: "name (float[N] x) => (float[N] y) {".
bool is_onnx_text(std::string_view bytes) {
  std::string_view text = without_comments(bytes, "#");
  if (text.starts_with('<')) text = without_space(text.substr(1));
  if (text.starts_with("ir_version")) return true;
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t arrow = line.find(") => (");
  return arrow != std::string_view::npos && line.find('(') < arrow && text.find('{', arrow) != std::string_view::npos;
}

/// The text of a TensorFlow graph begins with a node.
bool is_graph_def_text(std::string_view bytes) {
  std::string_view text = without_space(bytes);
  if (!text.starts_with("node {")) return false;
  text = without_space(text.substr(6));
  return text.starts_with("name:");
}

bool is_openvino(std::string_view bytes) {
  std::string_view text = without_space(bytes);
  if (text.starts_with("<?xml")) text = without_space(text.substr(std::min(text.size(), text.find('>') + 1)));
  return text.starts_with("<net ");
}

bool is_pickle(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5 && bytes.back() == '.';
}

struct Suffix {
  std::string_view suffix;
  const ForeignFormat* format;
};

constexpr std::array kSuffixes{Suffix{".pb", &kTensorFlow},
                               Suffix{".pbtxt", &kTensorFlow},
                               Suffix{".mlmodel", &kCoreMl},
                               Suffix{".gguf", &kGguf},
                               Suffix{".safetensors", &kSafetensors},
                               Suffix{".pt2", &kTorchExport},
                               Suffix{".pt", &kTorchArchive},
                               Suffix{".pth", &kTorchArchive},
                               Suffix{".keras", &kKeras},
                               Suffix{".h5", &kHdf5},
                               Suffix{".mlir", &kMlir},
                               Suffix{".onnxtxt", &kOnnxText},
                               Suffix{".ort", &kOrt},
                               Suffix{".pte", &kExecuTorch},
                               Suffix{".npy", &kNumPy}};

}  // namespace

const ForeignFormat* find_foreign(std::string_view bytes) {
  if (bytes.starts_with("GGUF")) return &kGguf;
  if (bytes.starts_with("\x89HDF\r\n\x1a\n")) return &kHdf5;
  if (bytes.starts_with("\x93NUMPY")) return &kNumPy;
  if (has_identifier(bytes, "ORTM")) return &kOrt;
  if (has_identifier(bytes, "ET1")) return &kExecuTorch;
  if (const ForeignFormat* const format = archive(bytes)) return format;
  if (is_safetensors(bytes)) return &kSafetensors;
  if (is_pickle(bytes) || bytes.starts_with("\x80\x02\x8a\x0al\xfc\x9c")) return &kPickle;
  if (is_onnx_text(bytes)) return &kOnnxText;
  if (is_mlir(bytes)) return &kMlir;
  if (is_graph_def(bytes) || is_graph_def_text(bytes)) return &kTensorFlow;
  if (is_openvino(bytes)) return &kOpenVino;
  return nullptr;
}

const ForeignFormat* find_foreign_by_name(std::string_view name) {
  for (const Suffix& each : kSuffixes) {
    if (name.ends_with(each.suffix)) return each.format;
  }
  return nullptr;
}

}  // namespace stowage::io
