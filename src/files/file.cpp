#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/interface/gzip.hpp"
#include "files/temporary.hpp"
#include "stowage/files.hpp"

namespace stowage {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;
constexpr int kMaxLinks = 40;  // the limit of Linux
constexpr mode_t kModeBits = 07777;
constexpr std::chrono::seconds kWaitForReader(2);  // long enough for a program that starts beside ours
constexpr std::chrono::milliseconds kPollReader(10);
// Model files shrink to a 25th. What gzip holds beyond this is either hostile or constant, and the user can unpack it.
constexpr std::size_t kUnpackedFree = std::size_t{64} << 20;
constexpr std::size_t kUnpackedPerByte = 64;

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

/// The unpacked content, if it is not far larger than packed content usually is.
Result<std::string> unpack(std::string_view packed) {
  const std::size_t limit = std::min(files::kMaxUnpacked, kUnpackedFree + kUnpackedPerByte * packed.size());
  Result<std::string> unpacked = files::unpack_gzip(packed, limit);
  if (!unpacked && unpacked.error().code == ErrorCode::unsupported) {
    return Error{ErrorCode::unsupported,
                 fmt::format("these {} bytes of gzip hold more than {} bytes: if the file can be trusted, unpack it "
                             "first, with gunzip",
                             packed.size(), limit),
                 {}};
  }
  return unpacked;
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

/// Opens a file that is not regular. A pipe can only be opened once somebody reads it: waits for a reader, but not for
/// ever. Returns -1 and errno if it fails.
int open_for_writing(const std::string& path) {
  const auto deadline = std::chrono::steady_clock::now() + kWaitForReader;
  while (true) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
      ::fcntl(fd, F_SETFL, 0);  // writing waits again
      return fd;
    }
    if (errno != ENXIO || std::chrono::steady_clock::now() >= deadline) return -1;
    std::this_thread::sleep_for(kPollReader);
  }
}

Status write_directly(const std::string& path, std::string_view content) {
  Descriptor file(open_for_writing(path));
  if (!file.is_open() && errno == ENXIO)
    return Error{ErrorCode::io,
                 "cannot write: it is a pipe, and no program reads from it",
                 {.file = path, .line = {}, .path = {}}};
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

/// Whether anyone may create files in the directory, and only their owners may remove them: such as /tmp.
bool is_open_to_all(const struct stat& directory) {
  return (directory.st_mode & S_ISVTX) != 0 && (directory.st_mode & S_IWOTH) != 0;
}

/// Whether the link may have been planted by another user, to make us write a file of our own. The rule of Linux's
/// protected_symlinks, which may be off, and which does not apply to links that we read ourselves.
bool may_be_planted(const std::filesystem::path& path) {
  struct stat link = {};
  struct stat directory = {};
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (::lstat(path.c_str(), &link) != 0 || ::stat(parent.c_str(), &directory) != 0) return false;
  return is_open_to_all(directory) && link.st_uid != ::geteuid() && link.st_uid != directory.st_uid;
}

/// Changes `path` to the target of the symbolic link that it is, if it is one, even to a file that does not exist yet.
/// Returns 0 or errno.
int follow_links(std::filesystem::path& path) {
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code error;
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) return 0;
    if (may_be_planted(path)) return EACCES;
    path = path.parent_path() / next;
  }
  return ELOOP;
}

/// Gives the new file the permissions and, if allowed, the owner of the file that it replaces. Returns 0 or errno.
int adopt_permissions(int fd, const struct stat& old) {
  if (::fchown(fd, old.st_uid, old.st_gid) != 0 && errno != EPERM) return errno;
  return ::fchmod(fd, old.st_mode & kModeBits) == 0 ? 0 : errno;
}

/// Everything except for the rename. Returns 0 or errno.
int fill(files::Temporary& file, const std::optional<struct stat>& old, std::string_view content) {
  if (old) {
    if (const int error = adopt_permissions(file.descriptor(), *old); error != 0) return error;
  }
  if (const int error = write_all(file.descriptor(), content); error != 0) return error;
  if (::fsync(file.descriptor()) != 0) return errno;
  return file.close();
}

Status replace(const std::string& path, const std::optional<struct stat>& old, std::string_view content) {
  std::filesystem::path target = path;
  if (const int error = follow_links(target); error != 0) return failed("open for writing", error, path);
  // A rename needs no permission to write the old file, but a file that is write-protected must not be replaced.
  if (old && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)
    return failed("open for writing", errno, path);
  files::Temporary file(target);
  if (file.descriptor() < 0) return failed("create", errno, path);
  if (const int error = fill(file, old, content); error != 0) return failed("write", error, path);
  if (const int error = file.rename_to(target); error != 0) return failed("replace", error, path);
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

Result<std::string> read_file(const std::string& path) try {
  Descriptor file(path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return failed("open", errno, path);
  std::string content;
  if (const int error = read_all(file.get(), content); error != 0) return failed("read", error, path);
  if (!files::is_gzip(content)) return content;
  Result<std::string> unpacked = unpack(content);
  if (!unpacked) return in_file(std::move(unpacked).error(), path);
  return unpacked;
} catch (const std::bad_alloc&) {
  return in_file({ErrorCode::out_of_memory, "cannot read: there is not enough memory for its content", {}}, path);
}

Status write_file(const std::string& path, std::string_view content) {
  if (!path.ends_with(".gz")) return write_bytes(path, content);
  Result<std::string> packed = files::pack_gzip(content);
  if (!packed) return in_file(std::move(packed).error(), path);
  return write_bytes(path, *packed);
}

}  // namespace stowage
