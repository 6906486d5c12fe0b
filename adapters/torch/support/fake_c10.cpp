/// The parts of torch's libc10_cuda.so that are needed to throw its out-of-memory exception. The classes differ in size
/// from torch's, because no code may rely on that size.
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#define FAKE_API __attribute__((visibility("default")))

namespace c10 {

struct FAKE_API SourceLocation {
  const char* function;
  const char* file;
  std::uint32_t line;
};

class FAKE_API Error : public std::exception {
 public:
  Error(SourceLocation location, std::string message);
  ~Error() override;
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
  std::string file_;
};

int alive = 0;

Error::Error(SourceLocation location, std::string message) : message_(std::move(message)), file_(location.file) {
  ++alive;
}
Error::~Error() { --alive; }

class FAKE_API OutOfMemoryError : public Error {
  using Error::Error;
};

}  // namespace c10

extern "C" {

/// What `work` throws, as torch would see it: the class, a colon and the message. Empty if nothing is thrown. Valid
/// until the next call.
FAKE_API const char* fake_c10_catch(void (*work)()) {
  static std::string caught;
  try {
    work();
    caught.clear();
  } catch (const c10::OutOfMemoryError& error) {
    caught = std::string("OutOfMemoryError: ") + error.what();
  } catch (const std::exception& error) {
    caught = std::string("exception: ") + error.what();
  }
  return caught.c_str();
}

/// The number of torch's exceptions that were not destroyed.
FAKE_API int fake_c10_alive() { return c10::alive; }

/// Never called; it makes the compiler emit the class.
FAKE_API void fake_c10_throw() { throw c10::OutOfMemoryError({"function", "file", 1}, "message"); }
}
