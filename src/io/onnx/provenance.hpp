#pragma once

#include <string>
#include <string_view>

/// Where a node comes from, as its metadata says. PyTorch's exporter writes it; other tools may use the same keys. All
/// of it is for people: what cannot be understood counts as absent.
namespace stowage::io::onnx {

/// Collects the metadata of one node.
class Provenance {
 public:
  /// An entry of the node's `metadata_props`. Entries with other keys than these are ignored:
  /// `pkg.torch.onnx.name_scopes`, `namespace` (if there is no such list), `pkg.torch.onnx.stack_trace`.
  void add(std::string_view key, std::string_view value);

  /// "encoder.layer.5.attention"; empty if unknown, or if the node belongs to the model itself.
  [[nodiscard]] std::string layer() const { return has_scopes_ ? scopes_ : space_; }
  /// "transformers/models/bert/modeling_bert.py:408: x = self.attention(x)"; empty if unknown.
  [[nodiscard]] const std::string& source() const { return source_; }

 private:
  bool has_scopes_ = false;
  std::string scopes_;  ///< Of the list of name scopes.
  std::string space_;   ///< Of the namespace.
  std::string source_;
};

/// The innermost module of a Python list such as `['', 'encoder', 'encoder.layer.5', 'linear_34']`, whose last element
/// is the node itself. Empty if it is not such a list.
[[nodiscard]] std::string layer_of_scopes(std::string_view list);

/// The same of a path such as `: net.Encoder/encoder.layer.5: net.Layer/linear_34: aten.linear.default`, whose last
/// part is the node itself. A path without colons consists of layers only.
[[nodiscard]] std::string layer_of_namespace(std::string_view path);

/// The innermost frame of a Python stack trace that is not in PyTorch itself, or the innermost of all; without the path
/// to installed packages, and with at most 120 bytes of the line. Empty if the text has no frame.
[[nodiscard]] std::string source_of_trace(std::string_view trace);

}  // namespace stowage::io::onnx
