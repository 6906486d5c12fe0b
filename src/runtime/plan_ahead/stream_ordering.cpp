#include "runtime/plan_ahead/stream_ordering.hpp"

#include <utility>

namespace stowage::runtime {

StreamOrdering::StreamOrdering(Device& device, std::vector<StreamId> streams)
    : device_(device),
      streams_(std::move(streams)),
      last_free_(streams_.size()),
      last_round_(streams_.size()),
      marks_(streams_.size()),
      ordered_(streams_.size() * streams_.size()) {}

StreamOrdering::~StreamOrdering() {
  for (const Mark& mark : marks_) {
    if (mark.event) device_.forget(*mark.event);
  }
}

void StreamOrdering::mark(std::size_t stream) {
  if (!renew(stream)) return;  // whoever needs it tries again
}

bool StreamOrdering::renew(std::size_t stream) {
  const Result<EventId> event = device_.record(streams_[stream]);
  if (!event) return false;
  if (marks_[stream].event) device_.forget(*marks_[stream].event);
  marks_[stream] = {*event, clock_};
  return true;
}

bool StreamOrdering::wait(std::size_t from, std::size_t to, Moment moment) {
  Mark& mark = marks_[from];
  if ((!mark.event || mark.moment < moment) && !renew(from)) return false;
  const Result<bool> complete = device_.is_complete(*mark.event);
  if (!complete) return false;
  if (!*complete) {
    if (!device_.wait(streams_[to], *mark.event)) return false;
    ++waits_;
  }
  ordered_[from * streams_.size() + to] = mark.moment;
  return true;
}

bool StreamOrdering::order_after_last_round(std::size_t to) {
  for (std::size_t from = 0; from < streams_.size(); ++from) {
    if (!order(from, to, last_round_[from])) return false;
  }
  return true;
}

bool StreamOrdering::order_after_all(std::size_t to) {
  for (std::size_t from = 0; from < streams_.size(); ++from) {
    if (!order(from, to, last_free_[from])) return false;
  }
  return true;
}

}  // namespace stowage::runtime
