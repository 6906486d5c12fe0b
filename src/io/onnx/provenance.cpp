#include "io/onnx/provenance.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace stowage::io::onnx {
namespace {

constexpr std::size_t kMaxCode = 120;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t start = text.find_first_not_of(kSpace);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kSpace) + 1 - start);
}

/// Takes a quoted string from the front of `text`; false if there is none.
bool take_quoted(std::string_view& text, std::string& value) {
  if (text.empty() || (text.front() != '\'' && text.front() != '"')) return false;
  const char quote = text.front();
  value.clear();
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == quote) {
      text.remove_prefix(at + 1);
      return true;
    }
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    value += text[at];
  }
  return false;
}

/// A line of a program; `code` is its text.
struct Frame {
  std::string_view file;
  std::string_view line;
  std::string_view code;
};

/// `File "net.py", line 12, in forward`; the file is empty if the text is something else.
Frame parse_frame(std::string_view text) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  if (!text.starts_with(kFile)) return {};
  const std::size_t end = text.find(kLine, kFile.size());
  if (end == std::string_view::npos) return {};
  const std::string_view rest = text.substr(end + kLine.size());
  return {text.substr(kFile.size(), end - kFile.size()), rest.substr(0, rest.find_first_not_of("0123456789")), {}};
}

std::vector<Frame> frames_of(std::string_view trace) {
  std::vector<Frame> frames;
  bool awaits_code = false;
  while (!trace.empty()) {
    const std::size_t end = std::min(trace.find('\n'), trace.size());
    const std::string_view line = trimmed(trace.substr(0, end));
    trace.remove_prefix(std::min(end + 1, trace.size()));
    if (const Frame frame = parse_frame(line); !frame.file.empty()) {
      frames.push_back(frame);
      awaits_code = true;
    } else if (awaits_code) {
      frames.back().code = line;
      awaits_code = false;
    }
  }
  return frames;
}

/// The path inside the folder of installed packages, or the whole path.
std::string_view inside_packages(std::string_view path) {
  constexpr std::string_view kFolder = "-packages/";  // site-packages, dist-packages
  const std::size_t at = path.rfind(kFolder);
  return at == std::string_view::npos ? path : path.substr(at + kFolder.size());
}

/// As many bytes as fit, without a part of a character.
std::string_view shortened(std::string_view text) {
  std::size_t end = std::min(text.size(), kMaxCode);
  if (end < text.size()) {
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  }
  return text.substr(0, end);
}

}  // namespace

std::string layer_of_scopes(std::string_view list) {
  list = trimmed(list);
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return {};
  list.remove_prefix(1);
  std::string layer;
  std::string last;
  std::string element;
  while (true) {
    list = trimmed(list);
    if (!take_quoted(list, element)) return {};
    layer = std::move(last);
    last = std::move(element);
    list = trimmed(list);
    if (list == "]") return layer;
    if (!list.starts_with(',')) return {};
    list.remove_prefix(1);
  }
}

std::string layer_of_namespace(std::string_view path) {
  constexpr std::string_view kClass = ": ";
  if (path.find(kClass) == std::string_view::npos) return std::string(path);
  const std::size_t node = path.rfind('/');
  if (node == std::string_view::npos) return {};
  path = path.substr(0, node);
  const std::string_view innermost = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  return std::string(innermost.substr(0, innermost.find(kClass)));
}

std::string source_of_trace(std::string_view trace) {
  const std::vector<Frame> frames = frames_of(trace);
  if (frames.empty()) return {};
  const auto own = std::find_if(frames.rbegin(), frames.rend(),
                                [](const Frame& frame) { return !inside_packages(frame.file).starts_with("torch/"); });
  const Frame& frame = own == frames.rend() ? frames.back() : *own;
  std::string source = fmt::format("{}:{}", inside_packages(frame.file), frame.line);
  if (!frame.code.empty()) source += fmt::format(": {}", shortened(frame.code));
  return source;
}

void Provenance::add(std::string_view key, std::string_view value) {
  if (key == "pkg.torch.onnx.name_scopes") {
    scopes_ = layer_of_scopes(value);
    has_scopes_ = true;
  } else if (key == "namespace") {
    space_ = layer_of_namespace(value);
  } else if (key == "pkg.torch.onnx.stack_trace") {
    source_ = source_of_trace(value);
  }
}

}  // namespace stowage::io::onnx
