#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

/// Says so when the program keeps ggml's own allocators although this library was preloaded.
///
/// A preloaded function replaces another only where that one is called through the dynamic linker. It is not in a
/// program that ggml was linked into statically, nor in a libggml whose calls to itself were bound when it was linked
/// (-Bsymbolic, -Bsymbolic-functions): there the scheduler goes on with the stock allocator, and nothing looks wrong.
///
/// So, for each object of the process: it contains ggml's allocator if a name from there is among its constants,
/// stripped or not; it can be replaced if there is a relocation for it. Looked at when this library is loaded, and, for
/// what was loaded later, at the end.
namespace {

constexpr std::string_view kInside =
    "ggml_gallocr_reserve_n_impl";  // what the stock allocator calls itself in its messages
constexpr std::string_view kReplaced = "ggml_gallocr_reserve_n";  // what the scheduler calls

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

/// The tables that the dynamic linker works with.
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
    // glibc has added the object's address already, other systems have not.
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
      "stowage: %s keeps ggml's own graph allocator: it was linked so that a preloaded one is bypassed (%s). Link "
      "libstowage_ggml "
      "instead.\n",
      program ? "the program" : object->dlpi_name,
      program ? "ggml is linked statically" : "-Bsymbolic-functions, or static");
  return 0;
}

/// The check is for those who preload; whoever links the library has decided what is called.
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
