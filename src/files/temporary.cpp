#include "files/temporary.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "stowage/files.hpp"

namespace stowage::files {
namespace {

/// The temporary files that exist now. Creating one and adding it here is one step for `abandon`, so none is missed.
class Temporaries {
 public:
  /// Never destroyed: another thread may still write when the process ends.
  static Temporaries& all() {
    static Temporaries& instance = *new Temporaries;
    return instance;
  }

  /// Returns a file descriptor, or -1 and errno.
  int create(const std::string& name) {
    std::unique_lock lock(mutex_);
    never_.wait(lock, [&] { return !abandoned_; });
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) names_.insert(name);
    return fd;
  }
  void remove(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    if (names_.erase(name) != 0) ::unlink(name.c_str());
  }
  /// Returns 0 or errno.
  int rename(const std::string& name, const std::string& target) {
    const std::scoped_lock lock(mutex_);
    if (::rename(name.c_str(), target.c_str()) != 0) return errno;
    names_.erase(name);
    return 0;
  }
  void abandon() {
    const std::scoped_lock lock(mutex_);
    abandoned_ = true;
    for (const std::string& name : names_) ::unlink(name.c_str());
    names_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable never_;  ///< Not notified.
  std::set<std::string> names_;
  bool abandoned_ = false;
};

/// Short even if the name of the target is long.
std::string temporary_name(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter = 0;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return (target.parent_path() / fmt::format(".stowage-{}-{}-{:x}.tmp", ::getpid(), ++counter, now)).string();
}

}  // namespace

Temporary::Temporary(const std::string& target)
    : name_(temporary_name(target)), fd_(Temporaries::all().create(name_)) {}

Temporary::~Temporary() {
  const int error = errno;
  if (fd_ >= 0) ::close(fd_);
  Temporaries::all().remove(name_);
  errno = error;
}

int Temporary::close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

int Temporary::rename_to(const std::string& target) { return Temporaries::all().rename(name_, target); }

}  // namespace stowage::files

namespace stowage {

void abandon_writes() { files::Temporaries::all().abandon(); }

}  // namespace stowage
