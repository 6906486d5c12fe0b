/// Exceptions of torch's without torch's headers. An exception of class type is an object and its type_info; torch's
/// libraries export what makes both up, since they throw it from one library and catch it in another: the constructor
/// of the base class c10::Error, the vtable and the type_info of c10::OutOfMemoryError, which adds nothing to its base.
/// So the base is constructed in memory that is large enough, becomes the derived class by its vtable, and is thrown
/// under the derived type.
///
/// Rejected: linking libc10 (a build for each torch), and an exception class of the same name here (two definitions of
/// one class).
#include "out_of_memory_error.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <typeinfo>

#include <cxxabi.h>
#include <dlfcn.h>

namespace stowage::torch {
namespace {

/// c10::SourceLocation.
struct Location {
  const char* function;
  const char* file;
  std::uint32_t line;
};

/// A constructor is a function whose first argument is the object.
using ConstructError = void (*)(void* object, Location location, std::string message);
using Destroy = void (*)(void* object);

struct OutOfMemoryClass {
  ConstructError construct_base = nullptr;
  void* vtable = nullptr;
  std::type_info* type = nullptr;
};

constexpr const char* kConstructError =
    "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
constexpr const char* kVtable = "_ZTVN3c1016OutOfMemoryErrorE";
constexpr const char* kType = "_ZTIN3c1016OutOfMemoryErrorE";
/// c10::Error has about 150 bytes.
constexpr std::size_t kRoom = 1024;

/// Of a library that is loaded already. Torch's are loaded with their names for themselves: the global scope does not
/// have them.
void* find(const char* symbol) {
  constexpr std::array kLibraries = {"libc10_cuda.so", "libc10.so", "libtorch_cuda.so", "libtorch_cpu.so",
                                     "libtorch_python.so"};
  for (const char* const name : kLibraries) {
    void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* const found = dlsym(library, symbol);
    dlclose(library);  // it was loaded before, and is still
    if (found != nullptr) return found;
  }
  return nullptr;
}

OutOfMemoryClass find_class() {
  OutOfMemoryClass all;
  all.construct_base = reinterpret_cast<ConstructError>(find(kConstructError));
  all.vtable = find(kVtable);
  all.type = static_cast<std::type_info*>(find(kType));
  return all;
}

/// The first function of the vtable of whatever derives from std::exception.
void destroy(void* object) {
  Destroy* functions = nullptr;
  std::memcpy(&functions, object, sizeof functions);
  functions[0](object);
}

}  // namespace

void throw_out_of_memory(const std::string& message) {
  static const OutOfMemoryClass torchs = find_class();
  if (torchs.construct_base == nullptr || torchs.vtable == nullptr || torchs.type == nullptr)
    throw std::runtime_error(message);
  void* const object = abi::__cxa_allocate_exception(kRoom);
  torchs.construct_base(object, {"allocate", "stowage", 0}, message);
  void* const functions = static_cast<void**>(torchs.vtable) + 2;  // behind the offset to the top and the type
  std::memcpy(object, &functions, sizeof functions);
  abi::__cxa_throw(object, torchs.type, destroy);
}

}  // namespace stowage::torch
