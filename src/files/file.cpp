#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/interface/gzip.hpp"
#include "stowage/files.hpp"

namespace stowage {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;
constexpr int kMaxLinks = 40;  // the limit of Linux
constexpr mode_t kModeBits = 07777;

Error failed(std::string_view doing, int error, const std::string& path) {
  const std::string reason = std::generic_category().message(error);
  return Error{ErrorCode::io, fmt::format("cannot {}: {}", doing, reason), {.file = path, .line = {}, .path = {}}};
}

Error in_file(Error error, const std::string& path) {
  error.where.file = path;
  return error;
}

/// Owns an open file descriptor and closes it.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  /// Returns 0 or errno: some file systems report a failed write only on close.
  int close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

 private:
  int fd_;
};

/// Appends everything that `fd` holds to `content`. Returns 0 or errno.
int read_all(int fd, std::string& content) {
  std::size_t length = content.size();
  while (true) {
    if (content.size() - length < kBlock) content.resize(std::max(2 * content.size(), length + kBlock));
    const ssize_t got = ::read(fd, content.data() + length, content.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  content.resize(length);
  return 0;
}

/// Returns 0 or errno.
int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

Status write_directly(const std::string& path, std::string_view content) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return failed("open for writing", errno, path);
  if (const int error = write_all(file.get(), content); error != 0) return failed("write", error, path);
  if (const int error = file.close(); error != 0) return failed("write", error, path);
  return Done{};
}

Status write_standard_output(std::string_view content) {
  std::fflush(stdout);  // keeps the order with what the program printed before
  if (const int error = write_all(STDOUT_FILENO, content); error != 0) return failed("write", error, "-");
  return Done{};
}

/// The target of `path` if it is a symbolic link, even to a file that does not exist yet; otherwise `path`.
std::filesystem::path follow_links(std::filesystem::path path) {
  std::error_code error;
  for (int i = 0; i < kMaxLinks; ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;
  }
  return path;
}

/// A name in the directory of `target` that no other thread or process generates at the same time. It is short even if
/// the name of the target is long.
std::string temporary_name(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter = 0;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return (target.parent_path() / fmt::format(".stowage-{}-{}-{:x}.tmp", ::getpid(), ++counter, now)).string();
}

/// Deletes a file when it goes out of scope, unless the file was kept.
class Temporary {
 public:
  explicit Temporary(std::string name) : name_(std::move(name)) {}
  ~Temporary() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  void keep() { name_.clear(); }

 private:
  std::string name_;
};

/// Gives the new file the permissions and, if allowed, the owner of the file that it replaces. Returns 0 or errno.
int adopt_permissions(int fd, const struct stat& old) {
  if (::fchown(fd, old.st_uid, old.st_gid) != 0 && errno != EPERM) return errno;
  return ::fchmod(fd, old.st_mode & kModeBits) == 0 ? 0 : errno;
}

/// Everything except for the rename. Returns 0 or errno.
int fill(Descriptor& file, const std::optional<struct stat>& old, std::string_view content) {
  if (old) {
    if (const int error = adopt_permissions(file.get(), *old); error != 0) return error;
  }
  if (const int error = write_all(file.get(), content); error != 0) return error;
  if (::fsync(file.get()) != 0) return errno;
  return file.close();
}

Status replace(const std::string& path, const std::optional<struct stat>& old, std::string_view content) {
  const std::filesystem::path target = follow_links(path);
  // A rename needs no permission to write the old file, but a file that is write-protected must not be replaced.
  if (old && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)
    return failed("open for writing", errno, path);
  const std::string name = temporary_name(target);
  Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.is_open()) return failed("create", errno, path);
  Temporary temporary(name);
  if (const int error = fill(file, old, content); error != 0) return failed("write", error, path);
  if (::rename(name.c_str(), target.c_str()) != 0) return failed("replace", errno, path);
  temporary.keep();
  return Done{};
}

Status write_bytes(const std::string& path, std::string_view content) {
  if (path == "-") return write_standard_output(content);
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? replace(path, std::nullopt, content) : failed("open for writing", errno, path);
  }
  if (!S_ISREG(info.st_mode)) return write_directly(path, content);
  return replace(path, info, content);
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  Descriptor file(path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return failed("open", errno, path);
  std::string content;
  if (const int error = read_all(file.get(), content); error != 0) return failed("read", error, path);
  if (!files::is_gzip(content)) return content;
  Result<std::string> unpacked = files::unpack_gzip(content);
  if (!unpacked) return in_file(std::move(unpacked).error(), path);
  return unpacked;
}

Status write_file(const std::string& path, std::string_view content) {
  if (!path.ends_with(".gz")) return write_bytes(path, content);
  Result<std::string> packed = files::pack_gzip(content);
  if (!packed) return in_file(std::move(packed).error(), path);
  return write_bytes(path, *packed);
}

}  // namespace stowage
