#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "stowage/report/export.hpp"

namespace stowage {
namespace {

/// The name as a C identifier: letters, digits and underscores, beginning with a letter.
std::string identifier(const std::string& name, int (*letter_case)(int)) {
  std::string result = name.empty() || std::isalpha(static_cast<unsigned char>(name[0])) == 0 ? "g_" + name : name;
  for (char& c : result) {
    const auto byte = static_cast<unsigned char>(c);
    c = byte < 128 && std::isalnum(byte) != 0 ? static_cast<char>(letter_case(byte)) : '_';
  }
  return result;
}

/// The text without control characters and without anything that begins or ends a comment.
std::string comment(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool touches_star =
        byte == '/' && ((i > 0 && text[i - 1] == '*') || (i + 1 < text.size() && text[i + 1] == '*'));
    if (byte < 32 || byte == 127 || touches_star) text[i] = '_';
  }
  return text;
}

/// What the header says about TFLM.
struct Runtime {
  Result<TflmMemory> memory;
};

class HeaderWriter {
 public:
  HeaderWriter(const Graph& graph, const Plan& plan, const std::string& name, const Runtime* runtime)
      : graph_(graph),
        plan_(plan),
        runtime_(runtime),
        lower_(identifier(name, std::tolower)),
        upper_(identifier(name, std::toupper)),
        offsets_(graph.tensors().size(), -1) {}

  Result<std::string> run() {
    STOWAGE_TRY_STATUS(check());
    for (const Placement& placement : plan_.placements) {
      if (placement.tensor.index() >= offsets_.size())
        return Error{ErrorCode::invalid, "the plan belongs to another graph"};
      if (placement.arena.index() == arena_) offsets_[placement.tensor.index()] = placement.offset.value();
    }
    return head() + tensors() + workspaces() + fmt::format("\n#endif /* {}_OFFSETS_H */\n", upper_);
  }

 private:
  Status check() {
    const auto fail = [](const char* what) {
      return Error{ErrorCode::unsupported, fmt::format("a C header cannot express this plan: {}", what)};
    };
    for (std::size_t a = 0; a < plan_.arenas.size(); ++a) {
      if (!is_paid(plan_.arenas[a].kind)) continue;
      if (arena_) return fail("the plan has several arenas");
      if (plan_.arenas[a].regions.size() > 1) return fail("the arena has several regions");
      arena_ = a;
    }
    if (!plan_.clears.empty()) return fail("memory must be cleared");
    if (!plan_.bindings.empty()) return fail("tensors lie in the caller's buffers");
    if (!plan_.edges.empty()) return fail("the plan orders ops");
    if (!plan_.copies.empty()) return fail("tensors must be copied");
    return Done{};
  }

  [[nodiscard]] Bytes size() const { return arena_ ? plan_.arenas[*arena_].size : Bytes(0); }
  [[nodiscard]] const char* type() const {
    return size() > Bytes(std::numeric_limits<std::int32_t>::max()) ? "int64_t" : "int32_t";
  }

  /// The smallest alignment that serves every tensor in the arena.
  [[nodiscard]] Bytes alignment() const {
    Bytes largest(1);
    for (std::size_t t = 0; t < offsets_.size(); ++t) {
      if (offsets_[t] >= 0) largest = std::max(largest, graph_.alignment(TensorId(t)));
    }
    return largest;
  }

  [[nodiscard]] std::string head() const {
    std::string text =
        fmt::format("/* {}: where each tensor lies in the arena. Written by stowage. */\n", comment(graph_.name()));
    text += fmt::format("#ifndef {0}_OFFSETS_H\n#define {0}_OFFSETS_H\n\n#include <stdint.h>\n\n", upper_);
    text += arena();
    text += fmt::format("#define {}_ARENA_ALIGNMENT {}\n", upper_, alignment().value());
    return text + fmt::format("#define {}_TENSOR_COUNT {}\n", upper_, offsets_.size());
  }

  [[nodiscard]] std::string define(const char* what, Bytes bytes) const {
    return fmt::format("#define {}_{} {}\n", upper_, what, bytes.value());
  }

  [[nodiscard]] std::string arena() const {
    const std::string planned =
        "/* The bytes at the planned offsets alone: without constants, and without what a runtime keeps for itself. "
        "*/\n" +
        define("PLANNED_SIZE", size());
    if (!runtime_) return planned + define("ARENA_SIZE", size());
    if (!runtime_->memory)
      return planned + fmt::format("/* No size of TFLM's arena: {}. Take it from TFLM. */\n",
                                   comment(runtime_->memory.error().message));
    const TflmMemory& memory = *runtime_->memory;
    return planned +
           fmt::format(
               "/* What TFLM needs of one arena with these offsets, as {} with its reference kernels and the "
               "recording\n   allocator: the head has tensors and scratch buffers, the tail TFLM's own "
               "structures and variables. While it\n   prepares the model, it may need more than both. With "
               "reference kernels, a 32-bit target needs no more. */\n",
               tflm_version()) +
           define("TFLM_HEAD_SIZE", memory.head) + define("TFLM_TAIL_SIZE", memory.tail) +
           define("ARENA_SIZE", memory.arena);
  }

  /// C has no empty arrays: empty if there are no tensors.
  [[nodiscard]] std::string tensors() const {
    if (offsets_.empty()) return {};
    std::string text =
        fmt::format("\n/* By tensor; -1: not in the arena. */\nstatic const {} {}_offsets[{}_TENSOR_COUNT] = {{\n",
                    type(), lower_, upper_);
    for (std::size_t t = 0; t < offsets_.size(); ++t) {
      const Tensor& tensor = graph_.tensors()[t];
      text += fmt::format("    {}, /* {}: {}, {} bytes{} */\n", offsets_[t], t, comment(tensor.name),
                          tensor.size.value(), residence(tensor));
    }
    return text + "};\n";
  }

  [[nodiscard]] static const char* residence(const Tensor& tensor) {
    if (tensor.flags.has(TensorFlag::constant)) return ", constant";
    if (tensor.flags.has(TensorFlag::variable)) return ", variable";
    if (tensor.flags.has(TensorFlag::external)) return ", external";
    if (tensor.flags.has(TensorFlag::input)) return ", input";
    return tensor.flags.has(TensorFlag::output) ? ", output" : "";
  }

  [[nodiscard]] std::string workspaces() const {
    if (plan_.workspaces.empty()) return {};
    std::string text = fmt::format("\n/* Workspaces, by op and number. */\nstatic const {} {}_workspaces[{}] = {{\n",
                                   type(), lower_, plan_.workspaces.size());
    for (const WorkspacePlacement& workspace : plan_.workspaces) {
      text += fmt::format("    {}, /* op {}, workspace {}: {} bytes */\n", workspace.offset.value(),
                          workspace.op.index(), workspace.index, workspace.size.value());
    }
    return text + "};\n";
  }

  const Graph& graph_;
  const Plan& plan_;
  const Runtime* runtime_;  ///< Null: none is known.
  std::string lower_;
  std::string upper_;
  std::optional<std::size_t> arena_;
  std::vector<std::int64_t> offsets_;  ///< By tensor of the graph.
};

}  // namespace

Result<std::string> plan_to_header(const Graph& graph, const Plan& plan, const std::string& name) {
  return HeaderWriter(graph, plan, name.empty() ? graph.name() : name, nullptr).run();
}

Result<std::string> tflite_plan_to_header(const ModelFile& model, const Graph& graph, const Plan& plan,
                                          const ImportOptions& options, const std::string& name) {
  const Runtime runtime{tflm_memory(model, plan, options)};
  return HeaderWriter(graph, plan, name.empty() ? graph.name() : name, &runtime).run();
}

}  // namespace stowage
