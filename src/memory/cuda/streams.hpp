#pragma once

#include <shared_mutex>
#include <unordered_map>

#include "memory/cuda/context.hpp"

namespace stowage::memory::cuda {

/// Which stream of the driver an id stands for. Thread-safe.
class StreamTable {
 public:
  explicit StreamTable(const DeviceContext& context) : context_(context) {}
  StreamTable(const StreamTable&) = delete;
  StreamTable& operator=(const StreamTable&) = delete;
  /// Waits for its own streams and destroys them.
  ~StreamTable();

  /// The same id for the same stream, and else the lowest that is free.
  StreamId adopt(Stream stream);
  /// Makes an own stream of an id that stands for none yet. Precondition: the context is current.
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
