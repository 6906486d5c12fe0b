// A small residual CNN whose shortcut runs on a second stream, described layer by layer, then planned and shown.
//
//   small_cnn [FILE.json]     also writes the graph there, for `stowage plan FILE.json`

#include <string>
#include <utility>

#include "show_plan.hpp"
#include "stowage/stowage.hpp"

namespace {

using namespace stowage;

/// A feature map: channels × height × width in f32, and the tensor that holds it.
struct Map {
  TensorId id;
  std::int64_t channels;
  std::int64_t side;
};

class Network {
 public:
  Network() : builder_("small_cnn") { builder_.add(Memory{.name = "device", .alignment = Bytes(256)}); }

  Map input(std::int64_t channels, std::int64_t side) { return map("image", channels, side, TensorFlag::input); }

  /// 3 × 3, with a workspace to unfold one row of the image.
  Map conv(const std::string& name, Map in, std::int64_t channels, std::int64_t stride = 1) {
    const TensorId weight = vector(name + ".weight", channels * in.channels * 9, TensorFlag::constant);
    const Map out = map(name, channels, in.side / stride);
    const Workspace unfolded{.size = floats(in.channels * 9 * out.side)};
    add(Op{.name = name, .kind = "CONV", .inputs = {in.id, weight}, .outputs = {out.id}, .workspaces = {unfolded}});
    return out;
  }

  /// These two may overwrite their input; whether they do is the planner's choice.
  Map batch_norm(const std::string& name, Map in) {
    const TensorId scale = vector(name + ".scale", 2 * in.channels, TensorFlag::constant);
    const Map out = map(name, in.channels, in.side);
    add(Op{.name = name, .kind = "BATCH_NORM", .inputs = {in.id, scale}, .outputs = {out.id}, .in_place = {{0, 0}}});
    return out;
  }
  Map relu(const std::string& name, Map in) {
    const Map out = map(name, in.channels, in.side);
    add(Op{.name = name, .kind = "RELU", .inputs = {in.id}, .outputs = {out.id}, .in_place = {{0, 0}}});
    return out;
  }

  /// May overwrite either of its inputs.
  Map sum(const std::string& name, Map a, Map b) {
    const Map out = map(name, a.channels, a.side);
    add(Op{.name = name, .kind = "ADD", .inputs = {a.id, b.id}, .outputs = {out.id}, .in_place = {{0, 0}, {0, 1}}});
    return out;
  }

  Map pool(const std::string& name, Map in, std::int64_t window) {
    const Map out = map(name, in.channels, in.side / window);
    add(Op{.name = name, .kind = "MAX_POOL", .inputs = {in.id}, .outputs = {out.id}});
    return out;
  }

  void dense(const std::string& name, Map in, std::int64_t classes) {
    const TensorId weight = vector(name + ".weight", classes * in.channels * in.side * in.side, TensorFlag::constant);
    const TensorId out = vector(name, classes, TensorFlag::output);
    add(Op{.name = name, .kind = "DENSE", .inputs = {in.id, weight}, .outputs = {out}});
  }

  /// Layers added from now on run on this stream. A stream waits for results of other streams that it reads.
  void on_stream(std::size_t stream) { stream_ = StreamId(stream); }

  Result<Graph> build() { return builder_.build(); }

 private:
  static Bytes floats(std::int64_t count) { return Bytes(count * static_cast<std::int64_t>(sizeof(float))); }

  Map map(const std::string& name, std::int64_t channels, std::int64_t side, TensorFlags flags = {}) {
    const Bytes size = floats(channels * side * side);
    const Tensor tensor{.name = name, .size = size, .dtype = "f32", .shape = {channels, side, side}, .flags = flags};
    return {builder_.add(tensor), channels, side};
  }
  TensorId vector(const std::string& name, std::int64_t length, TensorFlags flags) {
    return builder_.add(
        Tensor{.name = name, .size = floats(length), .dtype = "f32", .shape = {length}, .flags = flags});
  }
  void add(Op op) {
    op.stream = stream_;
    builder_.add(std::move(op));
  }

  GraphBuilder builder_;
  StreamId stream_;
};

/// Two convolutions, and in parallel, on stream 1, the shortcut that gives the input the shape of their result.
Map residual(Network& net, const std::string& name, Map in, std::int64_t channels) {
  net.on_stream(1);
  const Map shortcut = net.batch_norm(name + ".shortcut.bn", net.conv(name + ".shortcut", in, channels, 2));
  net.on_stream(0);
  const Map first =
      net.relu(name + ".relu1", net.batch_norm(name + ".bn1", net.conv(name + ".conv1", in, channels, 2)));
  const Map second = net.batch_norm(name + ".bn2", net.conv(name + ".conv2", first, channels));
  return net.relu(name + ".relu2", net.sum(name + ".sum", second, shortcut));
}

}  // namespace

int main(int argc, char** argv) {
  Network net;
  const Map image = net.input(3, 64);
  const Map stem = net.pool("pool", net.relu("stem.relu", net.batch_norm("stem.bn", net.conv("stem", image, 16))), 2);
  const Map body = residual(net, "block2", residual(net, "block1", stem, 32), 64);
  net.dense("scores", net.pool("global_pool", body, body.side), 10);
  return examples::show_plan(net.build(), {"image", "stem", "stem.relu", "pool", "block1.shortcut", "scores"},
                             argc > 1 ? argv[1] : "");
}
