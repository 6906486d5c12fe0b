#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

/// Prints a warning if the program keeps ggml's own allocators although this library was preloaded.
///
/// A preloaded function replaces another only if the other is called through the dynamic linker. That is not the case
/// in a program that ggml was linked into statically, nor in a libggml whose calls to itself were bound at link time
/// (-Bsymbolic, -Bsymbolic-functions): there the scheduler silently continues with the stock allocator.
///
/// So each object of the process is checked: it contains ggml's allocator if a name from it is among its constants
/// (which works for stripped objects too); the allocator can be replaced if there is a relocation for it. The check
/// runs when this library is loaded, and again at exit for objects that were loaded later.
namespace {

/// The stock allocator uses this name in its messages.
constexpr std::string_view kInside = "ggml_gallocr_reserve_n_impl";
/// The scheduler calls this function.
constexpr std::string_view kReplaced = "ggml_gallocr_reserve_n";

bool said = false;

bool contains(const dl_phdr_info& object, std::string_view text) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0 || (segment.p_flags & PF_W) != 0) continue;
    const void* const begin = reinterpret_cast<const void*>(object.dlpi_addr + segment.p_vaddr);
    if (memmem(begin, segment.p_filesz, text.data(), text.size())) return true;
  }
  return false;
}

/// The tables that the dynamic linker uses.
struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * calls = nullptr;
  std::size_t calls_size = 0;
  const ElfW(Rela) * data = nullptr;
  std::size_t data_size = 0;

  explicit Dynamic(const dl_phdr_info& object) {
    for (int i = 0; i < object.dlpi_phnum; ++i) {
      if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
      const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
      for (; entry->d_tag != DT_NULL; ++entry) take(*entry, object.dlpi_addr);
    }
  }

  void take(const ElfW(Dyn) & entry, ElfW(Addr) base) {
    // glibc has already added the object's address, other systems have not.
    const ElfW(Addr) at = entry.d_un.d_ptr + (entry.d_un.d_ptr < base ? base : 0);
    if (entry.d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(at);
    if (entry.d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(at);
    if (entry.d_tag == DT_JMPREL) calls = reinterpret_cast<const ElfW(Rela)*>(at);
    if (entry.d_tag == DT_PLTRELSZ) calls_size = entry.d_un.d_val;
    if (entry.d_tag == DT_RELA) data = reinterpret_cast<const ElfW(Rela)*>(at);
    if (entry.d_tag == DT_RELASZ) data_size = entry.d_un.d_val;
  }

  [[nodiscard]] bool names_in(const ElfW(Rela) * table, std::size_t size, std::string_view name) const {
    for (std::size_t i = 0; table && i < size / sizeof(*table); ++i) {
      const auto symbol = static_cast<std::size_t>(table[i].r_info >> 32);
      if (symbol != 0 && names + symbols[symbol].st_name == name) return true;
    }
    return false;
  }

  [[nodiscard]] bool relocates(std::string_view name) const {
    if (!symbols || !names) return false;
    return names_in(calls, calls_size, name) || names_in(data, data_size, name);
  }
};

bool is_this_library(const dl_phdr_info& object) {
  Dl_info info{};
  return dladdr(&said, &info) != 0 && reinterpret_cast<ElfW(Addr)>(info.dli_fbase) == object.dlpi_addr;
}

int check_object(dl_phdr_info* object, std::size_t /*size*/, void* /*nothing*/) {
  if (said || is_this_library(*object) || !contains(*object, kInside) || Dynamic(*object).relocates(kReplaced))
    return 0;
  said = true;
  const bool program = !object->dlpi_name || !*object->dlpi_name;
  std::fprintf(
      stderr,
      "stowage: %s keeps ggml's own graph allocator: it was linked in a way that bypasses preloading (%s). Link "
      "libstowage_ggml instead.\n",
      program ? "the program" : object->dlpi_name,
      program ? "ggml is linked statically" : "-Bsymbolic-functions, or static");
  return 0;
}

/// The check is only for preloading; a program that links the library has decided what is called.
bool is_preloaded() {
  Dl_info info{};
  const char* const preload = std::getenv("LD_PRELOAD");
  if (!preload || dladdr(&said, &info) == 0 || !info.dli_fname) return false;
  const char* const slash = std::strrchr(info.dli_fname, '/');
  return std::strstr(preload, slash ? slash + 1 : info.dli_fname) != nullptr;
}

[[gnu::constructor]] void check_when_loaded() {
  if (is_preloaded()) dl_iterate_phdr(check_object, nullptr);
}

[[gnu::destructor]] void check_at_the_end() {
  if (is_preloaded()) dl_iterate_phdr(check_object, nullptr);
}

}  // namespace
