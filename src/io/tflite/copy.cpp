#include "io/tflite/copy.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <tflite_generated.h>

/// Adds metadata to a model without parsing all of it.
///
/// References in a flatbuffer are forward distances. The new file therefore consists of a new head (root, list of
/// buffers, list of metadata, the new entries with their data) followed by the whole old file: the new root and lists
/// point into the old file, and inside it every distance is unchanged. So nothing in an old table is lost, known or
/// not. The size of the head is a multiple of 64, so that all data stays aligned. Offsets from the beginning of the
/// file (data outside of the flatbuffer, in large models) are adjusted.
///
/// If there already are entries with the same names and lengths, their data is overwritten instead: planning a copy
/// again does not let it grow.
namespace stowage::io::tflite {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Table;
using flatbuffers::voffset_t;

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kDataAlignment = 16;
constexpr std::size_t kMaxSize = (std::size_t{1} << 31) - (std::size_t{1} << 24);  // leaves 16 MiB for the head
constexpr voffset_t kFirstField = 4;
constexpr voffset_t kKnownFields = 10;  // fields of a model

constexpr voffset_t field(voffset_t id) { return static_cast<voffset_t>(kFirstField + 2 * id); }
constexpr std::size_t entry_size(const MetadataEntry& entry) { return entry.numbers.size() * sizeof(std::int32_t); }

std::size_t rounded(std::size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

bool is_among(const schema::Metadata& old, std::span<const MetadataEntry> entries) {
  return old.name() && std::any_of(entries.begin(), entries.end(),
                                   [&](const MetadataEntry& entry) { return entry.name == old.name()->string_view(); });
}

/// Writes a new file that ends with the old one.
class Copier {
 public:
  Copier(const File& file, std::span<const MetadataEntry> entries)
      : file_(file),
        model_(file.model()),
        entries_(entries),
        end_(rounded(file.bytes().size())),
        builder_(end_ + kAlignment) {}

  Result<std::string> run() {
    STOWAGE_TRY_STATUS(check_root());
    builder_.Align(kAlignment);
    builder_.Pad(end_ - file_.bytes().size());
    builder_.PushBytes(start(), file_.bytes().size());
    const std::vector<std::uint32_t> buffers = add_buffers();
    const auto metadata = add_metadata(buffers);
    builder_.Finish(add_root(metadata), schema::ModelIdentifier());
    std::string copy(reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize());
    move_file_offsets(copy, builder_.GetSize() - end_);
    return copy;
  }

 private:
  [[nodiscard]] const std::uint8_t* start() const {
    return reinterpret_cast<const std::uint8_t*>(file_.bytes().data());
  }
  [[nodiscard]] const Table& root() const { return *reinterpret_cast<const Table*>(&model_); }
  /// An object of the old file as an offset of the builder, which counts from the end.
  template <class T>
  [[nodiscard]] Offset<T> old(const void* where) const {
    return Offset<T>(static_cast<flatbuffers::uoffset_t>(
        end_ - static_cast<std::size_t>(static_cast<const std::uint8_t*>(where) - start())));
  }

  /// Checks the fields that are only place holders in the schema, which the flatbuffer verifier does not check.
  Status check_root() const {
    const std::uint8_t* const vtable = root().GetVTable();
    const auto bytes = flatbuffers::ReadScalar<voffset_t>(vtable);
    for (voffset_t at = kFirstField; at + sizeof(voffset_t) <= bytes;
         at = static_cast<voffset_t>(at + sizeof(voffset_t))) {
      if (root().GetOptionalFieldOffset(at) == 0) continue;
      if (at >= field(kKnownFields))
        return file_.fault(
            ErrorCode::unsupported, {},
            fmt::format("the model has a field {} that this version does not know and therefore cannot copy",
                        (at - kFirstField) / 2));
      const auto position = static_cast<std::size_t>(root().GetAddressOf(at) - start());
      if (position + sizeof(flatbuffers::uoffset_t) > file_.bytes().size() ||
          position % sizeof(flatbuffers::uoffset_t) != 0 ||
          (at != field(0) &&
           position + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(start() + position) >= file_.bytes().size()))
        return file_.fault(ErrorCode::parse, {}, "damaged: a field of the model points outside of the file");
    }
    return Done{};
  }

  /// Returns the indices of the entries' buffers in the new list.
  std::vector<std::uint32_t> add_buffers() {
    std::vector<Offset<schema::Buffer>> list;
    if (model_.buffers()) {
      for (const schema::Buffer* buffer : *model_.buffers()) list.push_back(old<schema::Buffer>(buffer));
    }
    if (list.empty()) list.push_back(schema::CreateBuffer(builder_));  // by convention the first buffer has no data
    std::vector<std::uint32_t> numbers;
    for (const MetadataEntry& entry : entries_) {
      builder_.ForceVectorAlignment(entry_size(entry), 1, kDataAlignment);
      const auto data =
          builder_.CreateVector(reinterpret_cast<const std::uint8_t*>(entry.numbers.data()), entry_size(entry));
      numbers.push_back(static_cast<std::uint32_t>(list.size()));
      list.push_back(schema::CreateBuffer(builder_, data));
    }
    buffers_ = builder_.CreateVector(list);
    return numbers;
  }

  Offset<void> add_metadata(const std::vector<std::uint32_t>& buffers) {
    std::vector<Offset<schema::Metadata>> list;
    if (model_.metadata()) {
      for (const schema::Metadata* entry : *model_.metadata()) {
        if (!is_among(*entry, entries_)) list.push_back(old<schema::Metadata>(entry));
      }
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto name = builder_.CreateString(entries_[i].name.data(), entries_[i].name.size());
      list.push_back(schema::CreateMetadata(builder_, name, buffers[i]));
    }
    return builder_.CreateVector(list).Union();
  }

  Offset<schema::Model> add_root(Offset<void> metadata) {
    const auto begin = builder_.StartTable();
    for (voffset_t id = 1; id < kKnownFields; ++id) {
      const voffset_t at = field(id);
      if (at == schema::Model::VT_BUFFERS) {
        builder_.AddOffset(at, buffers_);
      } else if (at == schema::Model::VT_METADATA) {
        builder_.AddOffset(at, metadata);
      } else if (const void* const target = root().GetPointer<const void*>(at)) {
        builder_.AddOffset(at, old<void>(target));
      }
    }
    builder_.AddElement<std::uint32_t>(schema::Model::VT_VERSION, model_.version(), 0);
    return Offset<schema::Model>(builder_.EndTable(begin));
  }

  void move_file_offsets(std::string& copy, std::size_t distance) const {
    std::set<std::size_t> fields;  // a table may be used several times
    const auto note = [&](const void* table, voffset_t at) {
      const std::uint8_t* const address = static_cast<const Table*>(table)->GetAddressOf(at);
      if (address) fields.insert(static_cast<std::size_t>(address - start()));
    };
    if (model_.buffers()) {
      for (const schema::Buffer* buffer : *model_.buffers()) {
        if (buffer->offset() > 1) note(buffer, schema::Buffer::VT_OFFSET);
      }
    }
    for (const schema::SubGraph* subgraph : *model_.subgraphs()) {
      if (!subgraph->operators()) continue;
      for (const schema::Operator* op : *subgraph->operators()) {
        if (op->large_custom_options_offset() > 1) note(op, schema::Operator::VT_LARGE_CUSTOM_OPTIONS_OFFSET);
      }
    }
    for (const std::size_t position : fields) {
      std::uint64_t value = 0;
      std::memcpy(&value, copy.data() + distance + position, sizeof value);
      value += distance;
      std::memcpy(copy.data() + distance + position, &value, sizeof value);
    }
  }

  const File& file_;
  const schema::Model& model_;
  std::span<const MetadataEntry> entries_;
  std::size_t end_;
  FlatBufferBuilder builder_;
  Offset<flatbuffers::Vector<Offset<schema::Buffer>>> buffers_;
};

/// The position of the data of an existing entry, if the entry occurs exactly once, has the same length, and nothing
/// else uses its data.
std::optional<std::size_t> place_of(const File& file, const MetadataEntry& entry) {
  const schema::Model& model = file.model();
  if (!model.metadata() || !model.buffers()) return std::nullopt;
  std::optional<std::uint32_t> buffer;
  for (const schema::Metadata* old : *model.metadata()) {
    if (!is_among(*old, {&entry, 1})) continue;
    if (buffer || old->buffer() >= model.buffers()->size()) return std::nullopt;
    buffer = old->buffer();
  }
  if (!buffer) return std::nullopt;
  const auto* data = model.buffers()->Get(*buffer)->data();
  if (!data || data->size() != entry_size(entry)) return std::nullopt;
  std::size_t uses = 0;
  for (const schema::Buffer* other : *model.buffers()) uses += other->data() == data ? 1U : 0U;
  for (const schema::Metadata* other : *model.metadata()) uses += other->buffer() == *buffer ? 1U : 0U;
  for (const schema::SubGraph* subgraph : *model.subgraphs()) {
    if (!subgraph->tensors()) continue;
    for (const schema::Tensor* tensor : *subgraph->tensors()) uses += tensor->buffer() == *buffer ? 1U : 0U;
  }
  if (uses != 2) return std::nullopt;  // its own buffer, its own entry
  return static_cast<std::size_t>(reinterpret_cast<const char*>(data->data()) - file.bytes().data());
}

}  // namespace

Result<std::string> with_metadata(const File& file, std::span<const MetadataEntry> entries) {
  std::vector<std::size_t> places;
  for (const MetadataEntry& entry : entries) {
    if (const std::optional<std::size_t> place = place_of(file, entry)) places.push_back(*place);
  }
  if (places.size() < entries.size()) {
    if (file.bytes().size() > kMaxSize)
      return file.fault(ErrorCode::unsupported, {}, "the model is too large to be copied: 2 GiB is the most");
    return Copier(file, entries).run();
  }
  std::string copy(file.bytes());
  for (std::size_t i = 0; i < entries.size(); ++i)
    std::memcpy(copy.data() + places[i], entries[i].numbers.data(), entry_size(entries[i]));
  return copy;
}

}  // namespace stowage::io::tflite
