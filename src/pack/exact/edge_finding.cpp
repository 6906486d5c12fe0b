#include "pack/exact/edge_finding.hpp"

#include <algorithm>

namespace stowage::pack {
namespace {

/// Reverses the direction of time.
void mirror(std::vector<EdgeTask>& tasks) {
  for (EdgeTask& task : tasks) {
    const std::int64_t release = task.release;
    task.release = -task.deadline;
    task.deadline = -release;
  }
}

}  // namespace

bool EdgeFinder::run(std::vector<EdgeTask>& tasks) {
  if (!raise_releases(tasks)) return false;
  mirror(tasks);
  const bool fits = raise_releases(tasks);
  mirror(tasks);
  return fits;
}

bool EdgeFinder::raise_releases(std::vector<EdgeTask>& tasks) {
  std::sort(tasks.begin(), tasks.end(), [](const EdgeTask& a, const EdgeTask& b) {
    return a.release != b.release ? a.release < b.release : a.tag < b.tag;
  });
  ends_.resize(tasks.size());
  raised_.assign(tasks.size(), kNothing);
  longest_ = 0;
  deadlines_.clear();
  for (const EdgeTask& task : tasks) {
    longest_ = std::max(longest_, task.length);
    deadlines_.push_back(task.deadline);
  }
  std::sort(deadlines_.begin(), deadlines_.end());
  deadlines_.erase(std::unique(deadlines_.begin(), deadlines_.end()), deadlines_.end());
  for (const std::int64_t deadline : deadlines_) {
    if (!apply_deadline(tasks, deadline)) return false;
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].release = std::max(tasks[i].release, raised_[i]);
  return true;
}

/// Compares the sets of tasks that must all end by `deadline` with each task that need not.
bool EdgeFinder::apply_deadline(const std::vector<EdgeTask>& tasks, std::int64_t deadline) {
  std::int64_t work = 0;
  std::int64_t end = kNothing;
  for (std::size_t i = tasks.size(); i-- > 0;) {
    if (tasks[i].deadline <= deadline) {
      work += tasks[i].length;
      end = std::max(end, tasks[i].release + work);
      if (end > deadline) return false;
    }
    ends_[i] = end;
  }
  if (end + longest_ <= deadline) return true;  // every other task is short enough to come first
  std::int64_t held = kNothing;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].deadline <= deadline) {
      held = std::max(held, tasks[i].release + work);
      work -= tasks[i].length;
      continue;
    }
    if (tasks[i].release + work + tasks[i].length > deadline) raised_[i] = std::max(raised_[i], ends_[i]);
    if (held + tasks[i].length > deadline) raised_[i] = std::max(raised_[i], end);
  }
  return true;
}

}  // namespace stowage::pack
