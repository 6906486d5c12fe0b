#include "instruction_count.hpp"

#include <csignal>

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stowage::bench {
namespace {

/// The two stops enclose only the work. The cost of entering and leaving
/// them is counted with empty work, and subtracted.
[[noreturn]] void run_child(const std::function<void()>& warm_up, const std::function<void()>& work) {
  warm_up();
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
  raise(SIGSTOP);
  work();
  raise(SIGSTOP);
  _exit(0);
}

bool stopped_by(pid_t child, int signal) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}

std::optional<long long> count_raw(const std::function<void()>& warm_up, const std::function<void()>& work) {
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) run_child(warm_up, work);
  std::optional<long long> count;
  if (stopped_by(child, SIGSTOP)) {
    long long steps = 0;
    while (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) == 0 && stopped_by(child, SIGTRAP)) ++steps;
    count = steps;
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return count;
}

}  // namespace

std::optional<long long> count_instructions(const std::function<void()>& warm_up, const std::function<void()>& work) {
  const std::optional<long long> empty = count_raw([] {}, [] {});
  const std::optional<long long> all = count_raw(warm_up, work);
  if (!empty || !all || *empty == 0) return std::nullopt;
  return *all - *empty;
}

}  // namespace stowage::bench
