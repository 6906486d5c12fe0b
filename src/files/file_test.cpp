#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files/interface/gzip.hpp"
#include "stowage/files.hpp"

namespace {

/// What `fsync` does in a test, if anything; returns 0 or errno.
std::function<int(int fd)> on_fsync;

}  // namespace

/// In this program the library calls this one instead of the C library's.
extern "C" int fsync(int fd) {
  if (on_fsync) {
    errno = on_fsync(fd);
    return errno == 0 ? 0 : -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace stowage {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Each test has its own directory.
class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "stowage-file-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override {
    on_fsync = {};
    fs::remove_all(directory_);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (directory_ / name).string(); }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  static std::string raw(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void put(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  static mode_t mode(const std::string& path) {
    struct stat info = {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777u : 0u;
  }

  fs::path directory_;
};

TEST_F(FileTest, ReadsWhatWasWritten) {
  const std::string content("bytes\0of\r\nany kind", 18);
  ASSERT_TRUE(write_file(path("a"), content));
  EXPECT_EQ(raw(path("a")), content);
  EXPECT_EQ(read_file(path("a")).value(), content);
}

TEST_F(FileTest, EmptyFilesAreFiles) {
  ASSERT_TRUE(write_file(path("a"), ""));
  EXPECT_EQ(read_file(path("a")).value(), "");
}

TEST_F(FileTest, AMissingFileIsAnIoErrorThatNamesIt) {
  const auto result = read_file(path("missing"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::io);
  EXPECT_EQ(to_string(result.error()), path("missing") + ": cannot open: No such file or directory");
}

TEST_F(FileTest, ADirectoryIsAnIoError) {
  EXPECT_EQ(read_file(directory_.string()).error().code, ErrorCode::io);
  EXPECT_EQ(write_file(directory_.string(), "x").error().code, ErrorCode::io);
}

TEST_F(FileTest, GzipIsKnownByItsContentNotItsName) {
  put(path("a.json"), files::pack_gzip("text").value());
  EXPECT_EQ(read_file(path("a.json")).value(), "text");
  put(path("plain.gz"), "text");
  EXPECT_EQ(read_file(path("plain.gz")).value(), "text");
}

TEST_F(FileTest, GzipThatHoldsFarMoreThanUsualIsRefused) {
  put(path("bomb.json"), files::pack_gzip(std::string(std::size_t{80} << 20, ' ')).value());
  const Result<std::string> read = read_file(path("bomb.json"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::unsupported);
  EXPECT_THAT(to_string(read.error()), HasSubstr("bomb.json: these "));
  EXPECT_THAT(to_string(read.error()), HasSubstr("unpack it first, with gunzip"));
}

TEST_F(FileTest, ATruncatedGzipNamesTheFile) {
  const std::string packed = files::pack_gzip("text").value();
  put(path("a.gz"), packed.substr(0, packed.size() - 1));
  const auto result = read_file(path("a.gz"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::parse);
  EXPECT_EQ(result.error().where.file, path("a.gz"));
}

TEST_F(FileTest, ANameThatEndsInGzIsPacked) {
  ASSERT_TRUE(write_file(path("a.gz"), "text"));
  EXPECT_TRUE(files::is_gzip(raw(path("a.gz"))));
  EXPECT_EQ(read_file(path("a.gz")).value(), "text");
}

TEST_F(FileTest, ANewFileHasThePermissionsOfTheUmask) {
  const mode_t old = ::umask(022);
  ASSERT_TRUE(write_file(path("a"), "x"));
  ::umask(old);
  EXPECT_EQ(mode(path("a")), 0644u);
}

TEST_F(FileTest, ReplacingKeepsThePermissions) {
  put(path("a"), "old");
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  ASSERT_TRUE(write_file(path("a"), "new"));
  EXPECT_EQ(mode(path("a")), 0640u);
  EXPECT_EQ(raw(path("a")), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, ALinkStaysALink) {
  fs::create_directory(path("sub"));
  put(path("sub/target"), "old");
  fs::create_symlink("sub/target", path("link"));
  fs::create_symlink("link", path("link to link"));
  ASSERT_TRUE(write_file(path("link to link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("link to link")));
  EXPECT_EQ(raw(path("sub/target")), "new");
}

TEST_F(FileTest, ALinkToNothingCreatesItsTarget) {
  fs::create_symlink("target", path("link"));
  ASSERT_TRUE(write_file(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(raw(path("target")), "new");
}

TEST_F(FileTest, ACircleOfLinksIsAnIoError) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  EXPECT_EQ(write_file(path("a"), "x").error().code, ErrorCode::io);
  EXPECT_TRUE(fs::is_symlink(path("a")));
  EXPECT_EQ(entries(), 2u);
}

TEST_F(FileTest, AMissingDirectoryIsAnIoError) {
  const Status status = write_file(path("missing/a"), "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::io);
  EXPECT_EQ(to_string(status.error()), path("missing/a") + ": cannot create: No such file or directory");
}

TEST_F(FileTest, AFileInPlaceOfADirectoryStaysAsItWas) {
  put(path("a"), "old");
  EXPECT_EQ(write_file(path("a/b"), "new").error().code, ErrorCode::io);
  EXPECT_EQ(raw(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, AFileTooLargeLeavesTheOldOne) {
  put(path("a"), "old");
  // The limit applies to root too. It must not affect the output of this process, hence a separate process.
  const auto write_under_limit = [&] {
    rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    const Status status = write_file(path("a"), std::string(100'000, 'x'));
    std::_Exit(!status && status.error().code == ErrorCode::io ? 0 : 1);
  };
  EXPECT_EXIT(write_under_limit(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(raw(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, TheContentIsOnTheDiskBeforeItReplacesTheOldOne) {
  put(path("a"), "old");
  int calls = 0;
  on_fsync = [&](int fd) {
    ++calls;
    struct stat info = {};
    EXPECT_EQ(::fstat(fd, &info), 0);
    EXPECT_EQ(info.st_size, 100'000) << "all of it";
    EXPECT_EQ(raw(path("a")), "old");
    return 0;
  };
  ASSERT_TRUE(write_file(path("a"), std::string(100'000, 'x')));
  EXPECT_EQ(calls, 1);
}

TEST_F(FileTest, ContentThatDoesNotReachTheDiskLeavesTheOldOne) {
  put(path("a"), "old");
  on_fsync = [](int) { return EIO; };
  const Status status = write_file(path("a"), "new");
  ASSERT_FALSE(status);
  EXPECT_EQ(to_string(status.error()), path("a") + ": cannot write: Input/output error");
  EXPECT_EQ(raw(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, ADeviceIsWrittenDirectly) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const Status status = write_file("/dev/full", "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(to_string(status.error()), "/dev/full: cannot write: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_TRUE(write_file("/dev/null", "x"));
}

TEST_F(FileTest, APipeIsReadAndWritten) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string content(300'000, 'p');
  std::thread writer([&] { EXPECT_TRUE(write_file(path("pipe"), content)); });
  EXPECT_EQ(read_file(path("pipe")).value(), content);
  writer.join();
}

TEST_F(FileTest, APipeIsWrittenOnceAReaderComes) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(read_file(path("pipe")).value(), "text");
  });
  EXPECT_TRUE(write_file(path("pipe"), "text"));
  reader.join();
}

TEST_F(FileTest, APipeThatNobodyReadsIsAnError) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const Status status = write_file(path("pipe"), "text");
  ASSERT_FALSE(status);
  EXPECT_EQ(to_string(status.error()), path("pipe") + ": cannot write: it is a pipe, and no program reads from it");
}

TEST_F(FileTest, ALinkOfAnotherUserInAFolderForAllIsNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a link of another user";
  constexpr uid_t kOther = 12345;
  put(path("mine"), "old");
  fs::create_symlink("mine", path("planted"));
  fs::create_symlink("mine", path("own"));
  ASSERT_EQ(::lchown(path("planted").c_str(), kOther, kOther), 0);
  ASSERT_EQ(::chmod(directory_.c_str(), 01777), 0);
  const Status status = write_file(path("planted"), "new");
  ASSERT_FALSE(status);
  EXPECT_EQ(to_string(status.error()), path("planted") + ": cannot open for writing: Permission denied");
  EXPECT_EQ(raw(path("mine")), "old");
  EXPECT_TRUE(write_file(path("own"), "new"));
  EXPECT_EQ(raw(path("mine")), "new");
}

TEST_F(FileTest, AbandonedWritesLeaveNothingBehind) {
  put(path("a"), "old");
  const std::string content(200'000'000, 'x');  // takes longer to write than its file to appear
  const auto abandon = [&] {
    std::thread([&] { (void)write_file(path("a"), content); }).detach();
    while (entries() < 2) std::this_thread::yield();
    abandon_writes();
    std::_Exit(0);
  };
  EXPECT_EXIT(abandon(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(raw(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, ADashIsStandardInputAndOutput) {
  put(path("in"), "from the input");
  const auto copy = [&] {
    if (std::freopen(path("in").c_str(), "r", stdin) == nullptr) std::_Exit(2);
    if (std::freopen(path("out").c_str(), "w", stdout) == nullptr) std::_Exit(2);
    std::fputs("first, ", stdout);
    std::_Exit(write_file("-", read_file("-").value()) ? 0 : 1);
  };
  EXPECT_EXIT(copy(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(raw(path("out")), "first, from the input");
}

TEST_F(FileTest, ReadersSeeOneContentOrTheOther) {
  const std::string contents[] = {std::string(100'000, 'a'), std::string(50'000, 'b')};
  ASSERT_TRUE(write_file(path("a"), contents[0]));
  std::vector<std::thread> writers;
  for (const std::string& content : contents) {
    writers.emplace_back([&] {
      for (int i = 0; i < 10; ++i) EXPECT_TRUE(write_file(path("a"), content));
    });
  }
  for (int i = 0; i < 50; ++i) {
    const std::string read = read_file(path("a")).value();
    EXPECT_TRUE(read == contents[0] || read == contents[1]) << read.size();
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(entries(), 1u);
}

}  // namespace
}  // namespace stowage
