/// Throws torch's exception without torch's headers. A thrown exception consists of an object and its type_info.
/// Torch's libraries export both, because they throw it in one library and catch it in another: the constructor of the
/// base class c10::Error, and the vtable and type_info of c10::OutOfMemoryError, which adds no members. So we construct
/// the base in a sufficiently large buffer, turn it into the derived class by setting its vtable, and throw it with the
/// derived type.
///
/// Rejected: linking libc10 (would need a build per torch version), and defining a class of the same name here (two
/// definitions of one class).
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

/// Finds a symbol in a library that is already loaded. Torch's libraries are loaded with local scope, so the global
/// scope does not have their symbols.
void* find(const char* symbol) {
  constexpr std::array kLibraries = {"libc10_cuda.so", "libc10.so", "libtorch_cuda.so", "libtorch_cpu.so",
                                     "libtorch_python.so"};
  for (const char* const name : kLibraries) {
    void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* const found = dlsym(library, symbol);
    dlclose(library);  // it was loaded before, and stays loaded
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

/// Calls the destructor: the first function in the vtable of a class derived from std::exception.
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
  void* const functions = static_cast<void**>(torchs.vtable) + 2;  // after the offset-to-top and the type_info
  std::memcpy(object, &functions, sizeof functions);
  abi::__cxa_throw(object, torchs.type, destroy);
}

}  // namespace stowage::torch
