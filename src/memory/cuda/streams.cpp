#include "memory/cuda/streams.hpp"

#include <mutex>

namespace stowage::memory::cuda {

StreamTable::~StreamTable() {
  const Result<Scope> scope = context_.enter();
  if (!scope) return;
  for (const auto& [id, entry] : streams_) {
    if (!entry.own) continue;
    context_.driver().try_call<&Functions::cuStreamSynchronize>(entry.stream);
    context_.driver().try_call<&Functions::cuStreamDestroy>(entry.stream);
  }
}

Result<StreamId> StreamTable::adopt(Stream stream) {
  const std::lock_guard lock(mutex_);
  if (const auto found = ids_.find(stream); found != ids_.end()) return found->second;
  STOWAGE_TRY_STATUS(context_.check_stream(stream));
  while (streams_.contains(StreamId(first_free_))) ++first_free_;
  const StreamId id(first_free_);
  streams_.emplace(id, KnownStream{.stream = stream, .own = false});
  ids_.emplace(stream, id);
  return id;
}

Result<Stream> StreamTable::find(StreamId id) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = streams_.find(id); found != streams_.end()) return found->second.stream;
  }
  const std::lock_guard lock(mutex_);
  if (const auto found = streams_.find(id); found != streams_.end()) return found->second.stream;
  Stream made = nullptr;
  STOWAGE_TRY_STATUS(context_.driver().call<&Functions::cuStreamCreate>(&made, kStreamNonBlocking));
  streams_.emplace(id, KnownStream{.stream = made, .own = true});
  ids_.emplace(made, id);
  return made;
}

}  // namespace stowage::memory::cuda
