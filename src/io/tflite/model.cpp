#include "io/tflite/model.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <tflite_generated.h>

#include "io/tflite/types.hpp"

namespace stowage::io::tflite {
namespace {

constexpr std::size_t kMaxRank = 64;
// A model may take this many bytes plus this many times the size of its file.
constexpr std::size_t kModelAllowance = std::size_t{1} << 20;
constexpr std::size_t kFactor = 4;

/// Tables and lists of a flatbuffer may be referenced any number of times, so a small file can describe an enormous
/// model. Real writers hardly use that.
class Budget {
 public:
  explicit Budget(std::size_t file_size) : left_(kModelAllowance + kFactor * file_size) {}

  bool take(std::size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  std::size_t left_;
};

template <class List>
std::size_t length(const List* list) {
  return list ? list->size() : 0;
}

class Reader {
 public:
  explicit Reader(const File& file) : file_(file), model_(file.model()), budget_(file.bytes().size()) {
    if (!model_.external_buffers()) return;
    for (const schema::ExternalBuffer* buffer : *model_.external_buffers())
      external_bytes_.emplace(buffer->id(), buffer->length());
  }

  Result<ModelInfo> run() {
    if (length(model_.subgraphs()) == 0) return fail("subgraphs", "the model has no subgraph");
    for (const schema::SubGraph* subgraph : *model_.subgraphs()) {
      if (!subgraph->tensors()) continue;
      for (const schema::Tensor* tensor : *subgraph->tensors()) knows_ranks_ = knows_ranks_ || tensor->has_rank();
    }
    ModelInfo model;
    for (std::uint32_t s = 0; s < model_.subgraphs()->size(); ++s) {
      path_ = fmt::format("subgraphs[{}]", s);
      STOWAGE_TRY(SubgraphInfo subgraph, read(*model_.subgraphs()->Get(s)));
      model.subgraphs.push_back(std::move(subgraph));
    }
    return model;
  }

 private:
  [[nodiscard]] Error fail(std::string path, std::string message) const {
    return file_.fault(ErrorCode::parse, std::move(path), std::move(message));
  }
  [[nodiscard]] std::string at(const char* list, std::size_t i) const {
    return fmt::format("{}.{}[{}]", path_, list, i);
  }

  Status spend(std::size_t bytes) {
    if (budget_.take(bytes)) return Done{};
    return fail(path_, "the file uses its own parts so often that the model would be many times larger than the file");
  }

  Result<SubgraphInfo> read(const schema::SubGraph& from) {
    SubgraphInfo subgraph;
    for (std::uint32_t t = 0; t < length(from.tensors()); ++t) {
      STOWAGE_TRY(TensorInfo tensor, read(*from.tensors()->Get(t), t));
      subgraph.tensors.push_back(std::move(tensor));
    }
    tensor_count_ = subgraph.tensors.size();
    STOWAGE_TRY(subgraph.inputs, read_tensors(from.inputs(), path_ + ".inputs"));
    STOWAGE_TRY(subgraph.outputs, read_tensors(from.outputs(), path_ + ".outputs"));
    for (std::uint32_t k = 0; k < length(from.operators()); ++k) {
      STOWAGE_TRY(OperatorInfo op, read(*from.operators()->Get(k), at("operators", k)));
      subgraph.operators.push_back(std::move(op));
    }
    mark_empty_constants(subgraph);
    return subgraph;
  }

  // ---------------------------------------------------------------------------------------------------------- tensors

  Result<TensorInfo> read(const schema::Tensor& from, std::uint32_t number) {
    const ElementType type = element_type(from.type());
    STOWAGE_TRY_STATUS(spend(sizeof(schema::Tensor*) + length(from.name())));
    TensorInfo tensor{.name = length(from.name()) > 0 ? from.name()->str() : fmt::format("tensor_{}", number),
                      .dtype = type.name};
    tensor.sub_byte = type.bits && *type.bits < 8;
    tensor.channels = channels(from);
    STOWAGE_TRY_STATUS(read_shape(from, number, tensor));
    read_size(from, type, tensor);
    STOWAGE_TRY_STATUS(read_holding(from, number, tensor));
    read_tflm_size(from, type, tensor);
    return tensor;
  }

  /// TFLM ignores quantization without both lists.
  [[nodiscard]] static std::size_t channels(const schema::Tensor& from) {
    const schema::Quantization* const quantization = from.quantization();
    if (!quantization || length(quantization->zero_point()) == 0) return 0;
    return length(quantization->scale());
  }

  static void read_tflm_size(const schema::Tensor& from, const ElementType& type, TensorInfo& tensor) {
    if (is_tflm_type(from.type()) && type.bits) tensor.tflm_size = size_of(std::max(*type.bits, 8), tensor.shape);
  }

  Status read_shape(const schema::Tensor& from, std::uint32_t number, TensorInfo& tensor) {
    if (length(from.shape()) > kMaxRank)
      return fail(at("tensors", number),
                  fmt::format("'{}' has {} dimensions, more than {}", tensor.name, from.shape()->size(), kMaxRank));
    if (from.shape()) tensor.shape.assign(from.shape()->begin(), from.shape()->end());
    return spend(sizeof(std::int32_t) * tensor.shape.size());
  }

  void read_size(const schema::Tensor& from, const ElementType& type, TensorInfo& tensor) {
    if (!type.bits) {
      tensor.unsized = fmt::format("elements of type {} have no fixed size", type.name);
    } else if (!has_shape(from, tensor)) {
      tensor.unsized = "it has no shape of a known rank";
    } else if (std::any_of(tensor.shape.begin(), tensor.shape.end(), [](std::int64_t dim) { return dim < 0; })) {
      tensor.unsized = fmt::format("its shape [{}] has a dynamic dimension", fmt::join(tensor.shape, ", "));
    } else {
      tensor.size = size_of(*type.bits, tensor.shape);
      if (!tensor.size)
        tensor.unsized = fmt::format("its shape [{}] is larger than any memory", fmt::join(tensor.shape, ", "));
    }
  }

  /// An empty shape means a scalar or an unknown rank. Newer writers set `has_rank` for every tensor of known rank;
  /// older
  /// ones wrote an empty list for scalars and no list if the rank was unknown.
  [[nodiscard]] bool has_shape(const schema::Tensor& from, const TensorInfo& tensor) const {
    if (length(from.shape_signature()) > 0 && from.shape_signature()->size() != tensor.shape.size()) return false;
    return !tensor.shape.empty() || from.has_rank() || tensor.dtype == "resource" || (from.shape() && !knows_ranks_);
  }

  Status read_holding(const schema::Tensor& from, std::uint32_t number, TensorInfo& tensor) {
    if (from.buffer() != 0 && from.buffer() >= length(model_.buffers()))
      return fail(at("tensors", number), fmt::format("'{}' has its data in buffer {}, but there are {} buffers",
                                                     tensor.name, from.buffer(), length(model_.buffers())));
    if (from.is_variable()) {
      tensor.holding = Holding::variable;
      return Done{};
    }
    const std::optional<std::uint64_t> stored = stored_bytes(from);
    if (!stored) return Done{};
    if (*stored > static_cast<std::uint64_t>(kMaxBytes.value()))
      return fail(at("tensors", number), fmt::format("'{}' claims {} bytes of data", tensor.name, *stored));
    tensor.holding = Holding::constant;
    tensor.stored_apart = is_stored_apart(from);
    tensor.size = Bytes(
        static_cast<std::int64_t>(*stored));  // regardless of the shape: sparse data and strings have their own length
    return Done{};
  }

  /// The bytes of data that the model has for a tensor.
  [[nodiscard]] std::optional<std::uint64_t> stored_bytes(const schema::Tensor& tensor) const {
    if (tensor.external_buffer() != 0) return external_bytes(tensor.external_buffer());
    if (tensor.buffer() >= length(model_.buffers())) return std::nullopt;
    const schema::Buffer& buffer = *model_.buffers()->Get(tensor.buffer());
    if (length(buffer.data()) > 0) return buffer.data()->size();
    if (buffer.offset() > 1) return buffer.size();
    return std::nullopt;
  }

  [[nodiscard]] bool is_stored_apart(const schema::Tensor& tensor) const {
    return tensor.external_buffer() != 0 || length(model_.buffers()->Get(tensor.buffer())->data()) == 0;
  }

  [[nodiscard]] std::uint64_t external_bytes(std::uint32_t id) const {
    const auto found = external_bytes_.find(id);
    return found == external_bytes_.end() ? 0 : found->second;
  }

  /// A constant without elements has no data that would identify it as one.
  static void mark_empty_constants(SubgraphInfo& subgraph) {
    std::vector<bool> given(subgraph.tensors.size());
    for (const std::uint32_t input : subgraph.inputs) given[input] = true;
    for (const OperatorInfo& op : subgraph.operators) {
      for (const std::uint32_t output : op.outputs) given[output] = true;
    }
    for (std::size_t t = 0; t < subgraph.tensors.size(); ++t) {
      TensorInfo& tensor = subgraph.tensors[t];
      if (!given[t] && tensor.holding == Holding::computed && tensor.size == Bytes(0))
        tensor.holding = Holding::constant;
    }
  }

  // -------------------------------------------------------------------------------------------------------- operators

  using Numbers = flatbuffers::Vector<std::int32_t>;

  Result<std::vector<std::optional<std::uint32_t>>> read_optional_tensors(const Numbers* from,
                                                                          const std::string& path) {
    std::vector<std::optional<std::uint32_t>> list;
    STOWAGE_TRY_STATUS(spend(sizeof(std::int32_t) * length(from)));
    for (std::uint32_t i = 0; i < length(from); ++i) {
      const std::int32_t number = from->Get(i);
      if (number < -1 || number >= static_cast<std::int64_t>(tensor_count_))
        return fail(fmt::format("{}[{}]", path, i),
                    fmt::format("names tensor {}, but there are {}", number, tensor_count_));
      list.push_back(number == -1 ? std::nullopt : std::optional(static_cast<std::uint32_t>(number)));
    }
    return list;
  }

  Result<std::vector<std::uint32_t>> read_tensors(const Numbers* from, const std::string& path) {
    STOWAGE_TRY(const auto optional, read_optional_tensors(from, path));
    std::vector<std::uint32_t> list;
    for (std::size_t i = 0; i < optional.size(); ++i) {
      if (!optional[i]) return fail(fmt::format("{}[{}]", path, i), "a required tensor is omitted");
      list.push_back(*optional[i]);
    }
    return list;
  }

  Result<OperatorInfo> read(const schema::Operator& from, const std::string& path) {
    if (from.opcode_index() >= length(model_.operator_codes()))
      return fail(path, fmt::format("has operator code {}, but there are {}", from.opcode_index(),
                                    length(model_.operator_codes())));
    const schema::OperatorCode& code = *model_.operator_codes()->Get(from.opcode_index());
    const std::int64_t number = std::max<std::int64_t>(code.short_code(), code.code());
    STOWAGE_TRY_STATUS(spend(sizeof(schema::Operator*) + length(code.custom_name())));
    OperatorInfo op{
        .kind = operator_name(number, code.custom_name() ? code.custom_name()->string_view() : std::string_view()),
        .traits = operator_traits(number),
        .custom = is_custom(number)};
    STOWAGE_TRY(op.inputs, read_optional_tensors(from.inputs(), path + ".inputs"));
    STOWAGE_TRY(const auto outputs, read_optional_tensors(from.outputs(), path + ".outputs"));
    for (const std::optional<std::uint32_t>& output : outputs) {
      if (output) op.outputs.push_back(*output);  // an omitted output is not written
    }
    STOWAGE_TRY_STATUS(read_flow(from, op, path));
    return op;
  }

  Status read_flow(const schema::Operator& from, OperatorInfo& op, const std::string& path) {
    std::vector<std::int64_t> named;
    if (const auto* call = from.options_as_CallOptions()) {
      op.flow = Flow::call;
      named = {call->subgraph()};
    } else if (const auto* once = from.options_as_CallOnceOptions()) {
      op.flow = Flow::call;
      named = {once->init_subgraph()};
    } else if (const auto* composite = from.more_options_as_HloCompositeOptions()) {
      op.flow = Flow::call;
      named = {composite->decomposition()};
    } else if (const auto* branch = from.options_as_IfOptions()) {
      op.flow = Flow::branch;
      named = {branch->then_subgraph(), branch->else_subgraph()};
    } else if (const auto* choice = from.more_options_as_HloCaseOptions(); choice && choice->branches()) {
      op.flow = Flow::branch;
      STOWAGE_TRY_STATUS(spend(sizeof(std::int32_t) * choice->branches()->size()));
      named.assign(choice->branches()->begin(), choice->branches()->end());
    } else if (const auto* loop = from.options_as_WhileOptions()) {
      op.flow = Flow::loop;
      named = {loop->cond_subgraph(), loop->body_subgraph()};
    } else if (const auto* hlo_loop = from.more_options_as_HloWhileOptions()) {
      op.flow = Flow::loop;
      named = {hlo_loop->cond_subgraph(), hlo_loop->body_subgraph()};
    }
    for (const std::int64_t number : named) {
      if (number < 0 || number >= static_cast<std::int64_t>(model_.subgraphs()->size()))
        return fail(path,
                    fmt::format("{} runs subgraph {}, but there are {}", op.kind, number, model_.subgraphs()->size()));
      op.subgraphs.push_back(static_cast<std::uint32_t>(number));
    }
    return Done{};
  }

  const File& file_;
  const schema::Model& model_;
  Budget budget_;
  bool knows_ranks_ = false;  ///< Some tensor has `has_rank`, so the writer supports it.
  std::unordered_map<std::uint32_t, std::uint64_t> external_bytes_;  ///< By the id of the buffer.
  std::string path_;                                                 ///< The path of the subgraph being read.
  std::size_t tensor_count_ = 0;
};

}  // namespace

Result<ModelInfo> read_model(const File& file) { return Reader(file).run(); }

}  // namespace stowage::io::tflite
