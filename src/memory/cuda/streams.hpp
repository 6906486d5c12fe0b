#pragma once

#include <shared_mutex>
#include <unordered_map>

#include "memory/cuda/context.hpp"

namespace stowage::memory::cuda {

/// Maps stream ids to streams of the driver. Thread-safe.
class StreamTable {
 public:
  explicit StreamTable(const DeviceContext& context) : context_(context) {}
  StreamTable(const StreamTable&) = delete;
  StreamTable& operator=(const StreamTable&) = delete;
  /// Waits for its own streams and destroys them.
  ~StreamTable();

  /// Returns the id of `stream`; a stream that has none yet gets the lowest free id. Fails with `invalid` for a stream
  /// of another GPU.
  Result<StreamId> adopt(Stream stream);
  /// The stream of an id; creates one when the id is new. Precondition: the context is current.
  Result<Stream> find(StreamId id);

 private:
  struct KnownStream {
    Stream stream = nullptr;
    bool own = false;
  };

  const DeviceContext& context_;
  std::shared_mutex mutex_;
  std::unordered_map<StreamId, KnownStream> streams_;
  std::unordered_map<Stream, StreamId> ids_;
  std::size_t first_free_ = 0;  ///< No id below it is free.
};

}  // namespace stowage::memory::cuda
