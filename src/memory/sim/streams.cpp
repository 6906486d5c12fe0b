#include "memory/sim/streams.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "memory/integers.hpp"

namespace stowage::memory {
namespace {

template <class Visitor>
void for_each_use(const SimWork& work, Visitor&& visitor) {
  for (const auto* extents : {&work.uses, &work.to.device, &work.from.device}) std::ranges::for_each(*extents, visitor);
  for (const auto* operands : {&work.inputs, &work.outputs}) {
    for (const SimOperand& operand : *operands) std::ranges::for_each(operand.place.device, visitor);
  }
}

void read(const SimPlace& place, std::span<std::byte> to) {
  if (place.host != nullptr) std::memcpy(to.data(), place.host, to.size());
  std::size_t done = 0;
  for (const SimExtent& extent : place.device) {
    extent.mapping->bytes->read(extent.mapping->offset + extent.offset, to.subspan(done, to_size_t(extent.size)));
    done += to_size_t(extent.size);
  }
}

void write(const SimPlace& place, std::span<const std::byte> from) {
  if (place.host != nullptr) std::memcpy(place.host, from.data(), from.size());
  std::size_t done = 0;
  for (const SimExtent& extent : place.device) {
    extent.mapping->bytes->write(extent.mapping->offset + extent.offset, from.subspan(done, to_size_t(extent.size)));
    done += to_size_t(extent.size);
  }
}

void compute(const SimWork& work) {
  std::vector<std::vector<std::byte>> inputs;
  for (const SimOperand& operand : work.inputs) read(operand.place, inputs.emplace_back(to_size_t(operand.size)));
  std::vector<std::vector<std::byte>> outputs;
  for (const SimOperand& operand : work.outputs) outputs.emplace_back(to_size_t(operand.size));
  work.compute(inputs, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) write(work.outputs[i].place, outputs[i]);
}

void fill(const SimPlace& place, std::uint8_t value, Bytes size) {
  if (place.host != nullptr) std::memset(place.host, value, to_size_t(size));
  for (const SimExtent& extent : place.device) {
    const Bytes start = extent.mapping->offset + extent.offset;
    extent.mapping->bytes->fill({start, start + extent.size}, value);
  }
}

void run(const SimWork& work) {
  if (work.compute) return compute(work);
  if (work.size == Bytes(0)) return;
  if (work.value) return fill(work.to, *work.value, work.size);
  std::vector<std::byte> bytes(to_size_t(work.size));
  read(work.from, bytes);
  write(work.to, bytes);
}

}  // namespace

void SimStreams::submit(StreamId stream, SimWork work) {
  for_each_use(work, [](const SimExtent& extent) { ++extent.mapping->pending; });
  queues_[stream].emplace_back(std::move(work));
}

std::shared_ptr<SimEvent> SimStreams::record(StreamId stream) {
  auto event = std::make_shared<SimEvent>(SimEvent{.stream = stream});
  queues_[stream].emplace_back(Mark{event});
  settle();
  return event;
}

void SimStreams::wait(StreamId stream, std::shared_ptr<SimEvent> event) {
  queues_[stream].emplace_back(Wait{std::move(event)});
  settle();
}

void SimStreams::finish(StreamId stream, std::size_t count) {
  Queue& queue = queues_[stream];
  for (; count > 0 && !queue.empty() && std::holds_alternative<SimWork>(queue.front()); --count) finish_head(queue);
}

void SimStreams::synchronize(StreamId stream) {
  while (!queues_[stream].empty()) finish_head(queues_[blocker_of(stream)]);
}

void SimStreams::finish_all() {
  for (const auto& [stream, queue] : queues_) synchronize(stream);
}

void SimStreams::settle() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto& [stream, queue] : queues_) changed |= settle(queue);
  }
}

bool SimStreams::settle(Queue& queue) {
  bool marked = false;
  while (!queue.empty()) {
    if (const auto* mark = std::get_if<Mark>(&queue.front())) {
      mark->event->complete = true;
      marked = true;
    } else if (const auto* wait = std::get_if<Wait>(&queue.front()); wait == nullptr || !wait->event->complete) {
      break;
    }
    queue.pop_front();
  }
  return marked;
}

void SimStreams::finish_head(Queue& queue) {
  const auto& work = std::get<SimWork>(queue.front());
  run(work);
  for_each_use(work, [](const SimExtent& extent) { --extent.mapping->pending; });
  queue.pop_front();
  settle();
}

StreamId SimStreams::blocker_of(StreamId stream) const {
  while (const auto* wait = std::get_if<Wait>(&queues_.at(stream).front())) stream = wait->event->stream;
  return stream;
}

}  // namespace stowage::memory
