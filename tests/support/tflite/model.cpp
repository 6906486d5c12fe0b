#include "support/tflite/model.hpp"

#include <tflite_generated.h>

namespace stowage::io::tflite::testing {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

class Writer {
 public:
  explicit Writer(const TestModel& model) : model_(model) { buffers_.push_back(schema::CreateBuffer(builder_)); }

  std::string run() {
    std::vector<Offset<schema::SubGraph>> subgraphs;
    for (const TestSubgraph& subgraph : model_.subgraphs) subgraphs.push_back(write(subgraph));
    std::vector<Offset<schema::Metadata>> metadata;
    for (const TestMetadata& entry : model_.metadata) metadata.push_back(write(entry));
    if (model_.file_offset > 0) buffers_.push_back(schema::CreateBuffer(builder_, 0, model_.file_offset, 16));
    const auto subgraph_list = builder_.CreateVector(subgraphs);
    const auto codes = builder_.CreateVector(codes_);
    const auto buffers = builder_.CreateVector(buffers_);
    const auto metadata_list = builder_.CreateVector(metadata);
    const auto description = builder_.CreateString("a model for tests");
    const auto begin = builder_.StartTable();
    builder_.AddElement<std::uint32_t>(schema::Model::VT_VERSION, model_.version, 0);
    builder_.AddOffset(schema::Model::VT_OPERATOR_CODES, codes);
    builder_.AddOffset(schema::Model::VT_SUBGRAPHS, subgraph_list);
    builder_.AddOffset(10, description);
    builder_.AddOffset(schema::Model::VT_BUFFERS, buffers);
    if (!metadata.empty()) builder_.AddOffset(schema::Model::VT_METADATA, metadata_list);
    if (model_.future_field) builder_.AddElement<std::uint32_t>(44, 7, 0);
    builder_.Finish(Offset<schema::Model>(builder_.EndTable(begin)), schema::ModelIdentifier());
    return {reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize()};
  }

 private:
  std::uint32_t add_buffer(const void* data, std::size_t size) {
    builder_.ForceVectorAlignment(size, 1, 16);
    const auto bytes = builder_.CreateVector(static_cast<const std::uint8_t*>(data), size);
    buffers_.push_back(schema::CreateBuffer(builder_, bytes));
    return static_cast<std::uint32_t>(buffers_.size() - 1);
  }

  Offset<schema::Metadata> write(const TestMetadata& entry) {
    const std::uint32_t buffer = add_buffer(entry.numbers.data(), entry.numbers.size() * sizeof(std::int32_t));
    return schema::CreateMetadata(builder_, builder_.CreateString(entry.name), buffer);
  }

  Offset<schema::SubGraph> write(const TestSubgraph& subgraph) {
    std::vector<Offset<schema::Tensor>> tensors;
    for (const TestTensor& tensor : subgraph.tensors) tensors.push_back(write(tensor));
    std::vector<Offset<schema::Operator>> ops;
    for (const TestOp& op : subgraph.ops) ops.push_back(write(op));
    const auto tensor_list = builder_.CreateVector(tensors);
    const auto inputs = builder_.CreateVector(subgraph.inputs);
    const auto outputs = builder_.CreateVector(subgraph.outputs);
    const auto op_list = builder_.CreateVector(ops);
    return schema::CreateSubGraph(builder_, tensor_list, inputs, outputs, op_list);
  }

  Offset<schema::Tensor> write(const TestTensor& tensor) {
    const std::uint32_t buffer = tensor.data.empty() ? 0 : add_buffer(tensor.data.data(), tensor.data.size());
    Offset<flatbuffers::Vector<std::int32_t>> shape;
    if (tensor.shape) shape = builder_.CreateVector(*tensor.shape);
    Offset<flatbuffers::Vector<std::int32_t>> signature;
    if (!tensor.signature.empty()) signature = builder_.CreateVector(tensor.signature);
    const auto name = builder_.CreateSharedString(tensor.name);
    Offset<schema::Quantization> quantization;
    if (tensor.channels > 0) {
      const auto scales = builder_.CreateVector(std::vector<float>(tensor.channels, 1.0F));
      const auto zeros = builder_.CreateVector(std::vector<std::int64_t>(tensor.channels, 0));
      quantization = schema::CreateQuantization(builder_, scales, zeros);
    }
    return schema::CreateTensor(builder_, shape, tensor.type, tensor.buffer.value_or(buffer), name, quantization,
                                tensor.variable, signature, tensor.has_rank);
  }

  Offset<schema::Operator> write(const TestOp& op) {
    const auto name = op.code == kCustom ? builder_.CreateString(model_.custom_name) : Offset<flatbuffers::String>();
    codes_.push_back(
        schema::CreateOperatorCode(builder_, static_cast<std::int8_t>(std::min(op.code, 127)), name, op.code));
    const auto inputs = builder_.CreateVector(op.inputs);
    const auto outputs = builder_.CreateVector(op.outputs);
    schema::Options type = schema::Options::NONE;
    schema::MoreOptions more_type = schema::MoreOptions::NONE;
    Offset<void> options;
    Offset<void> more_options;
    if (const auto* branch = std::get_if<If>(&op.options)) {
      type = schema::Options::IfOptions;
      options = schema::CreateIfOptions(builder_, branch->then_subgraph, branch->else_subgraph).Union();
    } else if (const auto* loop = std::get_if<While>(&op.options)) {
      type = schema::Options::WhileOptions;
      options = schema::CreateWhileOptions(builder_, loop->cond, loop->body).Union();
    } else if (const auto* once = std::get_if<CallOnce>(&op.options)) {
      type = schema::Options::CallOnceOptions;
      options = schema::CreateCallOnceOptions(builder_, once->init).Union();
    } else if (const auto* composite = std::get_if<Composite>(&op.options)) {
      more_type = schema::MoreOptions::HloCompositeOptions;
      more_options = schema::CreateHloCompositeOptions(builder_, composite->decomposition).Union();
    }
    return schema::CreateOperator(builder_, static_cast<std::uint32_t>(codes_.size() - 1), inputs, outputs, type,
                                  options, 0, more_type, more_options);
  }

  const TestModel& model_;
  FlatBufferBuilder builder_;
  std::vector<Offset<schema::Buffer>> buffers_;
  std::vector<Offset<schema::OperatorCode>> codes_;
};

}  // namespace

std::string bytes_of(const TestModel& model) { return Writer(model).run(); }

TestModel small_model() {
  return {.subgraphs = {
              {.tensors = {{.name = "x"}, {.name = "y", .shape = Shape{4, 4}}, {.name = "z", .shape = Shape{4, 4}}},
               .ops = {{kReshape, {0}, {1}}, {kNeg, {1}, {2}}},
               .inputs = {0},
               .outputs = {2}}}};
}

TestModel loop_model() {
  const TestTensor counter{.name = "i", .shape = Shape{}, .type = kI32, .has_rank = true};
  const auto rank = [](TestTensor tensor) {
    tensor.has_rank = true;
    return tensor;
  };
  const TestTensor limit = rank({.name = "limit", .shape = Shape{}, .type = kI32, .data = {10, 0, 0, 0}});
  const TestTensor flag = rank({.name = "again", .shape = Shape{}, .type = kBool});
  return {.subgraphs = {
              {.tensors = {counter, rank({.name = "x", .shape = Shape{64}}), counter,
                           rank({.name = "y", .shape = Shape{64}})},
               .ops = {{kWhile, {0, 1}, {2, 3}, While{1, 2}}},
               .inputs = {0, 1},
               .outputs = {3}},
              {.tensors = {counter, rank({.name = "v", .shape = Shape{64}}), limit, flag},
               .ops = {{kLess, {0, 2}, {3}}},
               .inputs = {0, 1},
               .outputs = {3}},
              {.tensors = {counter, rank({.name = "v", .shape = Shape{64}}), rank({.name = "t", .shape = Shape{256}}),
                           limit, counter, rank({.name = "w", .shape = Shape{64}})},
               .ops = {{kConv, {1}, {2}}, {kConv, {2}, {5}}, {kAdd, {0, 3}, {4}}},
               .inputs = {0, 1},
               .outputs = {4, 5}},
          }};
}

TestModel branch_model() {
  const auto body = [](std::int32_t size) {
    return TestSubgraph{.tensors = {{.name = "in"}, {.name = "t", .shape = Shape{size}}, {.name = "out"}},
                        .ops = {{kConv, {0}, {1}}, {kConv, {1}, {2}}},
                        .inputs = {0},
                        .outputs = {2}};
  };
  return {.subgraphs = {{.tensors = {{.name = "c", .shape = Shape{1}, .type = kBool}, {.name = "x"}, {.name = "y"}},
                         .ops = {{kIf, {0, 1}, {2}, If{1, 2}}},
                         .inputs = {0, 1},
                         .outputs = {2}},
                        body(64),
                        body(128)}};
}

}  // namespace stowage::io::tflite::testing
