#include "runtime/plan_ahead/stream_ordering.hpp"

#include <algorithm>
#include <utility>

#include "runtime/exiting.hpp"

namespace stowage::runtime {
namespace {

constexpr std::size_t kMostMarks = 8;

}  // namespace

StreamOrdering::StreamOrdering(Device& device, std::vector<StreamId> streams)
    : device_(device),
      streams_(std::move(streams)),
      last_free_(streams_.size()),
      last_round_(streams_.size()),
      ordered_(streams_.size() * streams_.size()),
      marks_(streams_.size()) {}

StreamOrdering::~StreamOrdering() {
  if (process_is_exiting()) return;
  for (const std::deque<Mark>& marks : marks_) {
    for (const Mark& mark : marks) device_.forget(mark.event);
  }
}

void StreamOrdering::mark(std::size_t stream) {
  const Result<EventId> event = device_.record(streams_[stream]);
  if (!event) return;  // `mark_for` tries again when the event is needed
  std::deque<Mark>& marks = marks_[stream];
  marks.push_back({*event, clock_});
  if (marks.size() <= kMostMarks) return;
  device_.forget(marks.front().event);
  marks.pop_front();
}

const StreamOrdering::Mark* StreamOrdering::mark_for(std::size_t stream, Moment moment) {
  const std::deque<Mark>& marks = marks_[stream];
  if (marks.empty() || marks.back().moment < moment) mark(stream);
  const auto found =
      std::find_if(marks.begin(), marks.end(), [moment](const Mark& each) { return each.moment >= moment; });
  return found == marks.end() ? nullptr : &*found;
}

bool StreamOrdering::wait(std::size_t from, std::size_t to, Moment moment) {
  const Mark* const mark = mark_for(from, moment);
  if (mark == nullptr) return false;
  const Result<bool> complete = device_.is_complete(mark->event);
  if (!complete) return false;
  if (!*complete) {
    if (!device_.wait(streams_[to], mark->event)) return false;
    ++waits_;
  }
  ordered_[from * streams_.size() + to] = mark->moment;
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
