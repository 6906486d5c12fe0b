/// Streams, whose work is done immediately, and events.
#include "support/cuda/state.hpp"

namespace stowage::memory::cuda::fake {

Code cuStreamCreate(Stream* stream, unsigned flags) {
  Call call("cuStreamCreate");
  if (const auto answer = call.answer_in_context()) return *answer;
  if (flags != kStreamNonBlocking) return call.refuse("flags");
  *stream = call.state.make_handle<Stream>();
  call.state.streams.emplace(*stream, call.device());
  return Code::success;
}

Code cuStreamDestroy(Stream stream) {
  Call call("cuStreamDestroy");
  if (const auto answer = call.answer_in_context()) return *answer;
  if (stream == nullptr || !call.state.is_stream(call.name(), stream, call.device())) return Code::invalid_handle;
  call.state.streams.erase(stream);
  return Code::success;
}

Code cuStreamSynchronize(Stream stream) {
  Call call("cuStreamSynchronize");
  if (const auto answer = call.answer_in_context()) return *answer;
  return call.state.is_stream(call.name(), stream, call.device()) ? Code::success : Code::invalid_handle;
}

Code cuStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  Call call("cuStreamWaitEvent");
  if (const auto answer = call.answer_in_context()) return *answer;
  const auto found = call.state.events.find(event);
  if (found == call.state.events.end() || !found->second.recorded || flags != 0)
    return call.refuse("no event that was recorded");
  return call.state.is_stream(call.name(), stream, call.device()) ? Code::success : Code::invalid_handle;
}

Code cuStreamIsCapturing(Stream stream, CaptureStatus* status) {
  Call call("cuStreamIsCapturing");
  if (const auto answer = call.answer_in_context()) return *answer;
  *status = call.state.capturing ? CaptureStatus::active : CaptureStatus::none;
  return call.state.is_stream(call.name(), stream, call.device()) ? Code::success : Code::invalid_handle;
}

Code cuStreamGetCtx(Stream stream, Context* context) {
  Call call("cuStreamGetCtx");
  if (call.answer()) return *call.answer();
  const auto found = call.state.streams.find(stream);
  if (found == call.state.streams.end()) return call.refuse("no such stream", Code::invalid_handle);
  *context = context_of(found->second);
  return Code::success;
}

Code cuThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  static thread_local CaptureMode current = CaptureMode::global;
  Call call("cuThreadExchangeStreamCaptureMode");
  if (call.answer()) return *call.answer();
  std::swap(current, *mode);
  return Code::success;
}

Code cuEventCreate(Event* event, unsigned flags) {
  Call call("cuEventCreate");
  if (const auto answer = call.answer_in_context()) return *answer;
  if (flags != kEventWithoutTiming) return call.refuse("flags");
  *event = call.state.make_handle<Event>();
  call.state.events.emplace(*event, FakeEvent{.device = call.device()});
  return Code::success;
}

Code cuEventDestroy(Event event) {
  Call call("cuEventDestroy");
  if (const auto answer = call.answer_in_context()) return *answer;
  if (call.state.events.erase(event) == 0) return call.refuse("no such event", Code::invalid_handle);
  return Code::success;
}

Code cuEventRecord(Event event, Stream stream) {
  Call call("cuEventRecord");
  if (const auto answer = call.answer_in_context()) return *answer;
  const auto found = call.state.events.find(event);
  if (found == call.state.events.end()) return call.refuse("no such event", Code::invalid_handle);
  if (found->second.device != call.device()) return call.refuse("an event of another context", Code::invalid_handle);
  if (!call.state.is_stream(call.name(), stream, call.device())) return Code::invalid_handle;
  found->second.recorded = true;
  return Code::success;
}

Code cuEventQuery(Event event) {
  Call call("cuEventQuery");
  if (const auto answer = call.answer_in_context()) return *answer;
  const auto found = call.state.events.find(event);
  if (found == call.state.events.end() || !found->second.recorded) return call.refuse("no event that was recorded");
  return call.state.complete ? Code::success : Code::not_ready;
}

}  // namespace stowage::memory::cuda::fake
