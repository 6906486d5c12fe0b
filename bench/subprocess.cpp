#include "subprocess.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timing.hpp"

extern char** environ;

namespace stowage::bench {
namespace {

Error io_error(const std::string& what, int code) { return {ErrorCode::io, what + ": " + std::strerror(code), {}}; }

/// Starts the program with its standard error redirected to `errors`; returns 0 or an error number.
int start(const std::vector<std::string>& words, int errors, pid_t& child) {
  std::vector<char*> arguments;
  for (const std::string& word : words)
    arguments.push_back(const_cast<char*>(word.c_str()));  // posix_spawn does not modify them
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  const int failure = posix_spawn(&child, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

/// Reads until the other end is closed, which happens when the program ends;
/// returns false if the limit is reached first.
bool read_all(int from, Clock::time_point limit, std::string& text) {
  std::array<char, 4096> buffer;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
    pollfd waiting{.fd = from, .events = POLLIN, .revents = 0};
    const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready == 0) return false;
    if (ready < 0) continue;  // interrupted
    const ssize_t count = read(from, buffer.data(), buffer.size());
    if (count <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

Result<Ended> run_program(const std::vector<std::string>& words, std::chrono::milliseconds limit) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return io_error("pipe", errno);
  pid_t child = 0;
  const Clock::time_point begin = Clock::now();
  const int failure = start(words, ends[1], child);
  close(ends[1]);
  Ended ended;
  if (failure == 0) {
    ended.killed = !read_all(ends[0], begin + limit, ended.errors);
    if (ended.killed) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ended.wall = milliseconds_since(begin);
    if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  }
  close(ends[0]);
  if (failure != 0) return io_error(words.front(), failure);
  return ended;
}

Result<TemporaryFolder> TemporaryFolder::make() {
  std::string path = (std::filesystem::temp_directory_path() / "stowage_bench.XXXXXX").string();
  if (!mkdtemp(path.data())) return io_error(path, errno);
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace stowage::bench
