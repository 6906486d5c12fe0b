#include "support/child.hpp"

#include <array>
#include <cstddef>
#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

#include "stowage/base.hpp"

namespace stowage::testing {
namespace {

constexpr int kDone = 77;

[[noreturn]] void work_and_exit(const std::function<std::string()>& work, int to) {
  dup2(to, STDERR_FILENO);
  const std::string text = work();
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(to, text.data() + at, text.size() - at);
    if (written <= 0) _exit(1);
    at += static_cast<std::size_t>(written);
  }
  _exit(kDone);
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t count = 0; (count = read(from, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(count));
  return text;
}

}  // namespace

ChildResult run_in_child(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  STOWAGE_CHECK(pipe(ends.data()) == 0, "no pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  STOWAGE_CHECK(child >= 0, "no process");
  if (child == 0) {
    close(ends[0]);
    work_and_exit(work, ends[1]);
  }
  close(ends[1]);
  ChildResult result{.died = false, .text = read_all(ends[0])};
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  result.died = !WIFEXITED(status) || WEXITSTATUS(status) != kDone;
  return result;
}

}  // namespace stowage::testing
