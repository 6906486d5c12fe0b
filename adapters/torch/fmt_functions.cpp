/// The functions of libfmt that the library's modules need, compiled from its headers: the machine with torch may not
/// have libfmt.
#include <cstdio>

#include <fmt/format.h>

#ifndef FMT_HEADER_ONLY
#error "must be compiled with fmt::fmt-header-only"
#endif

namespace {

using Print = void (*)(std::FILE*, fmt::string_view, fmt::format_args);
using Format = std::string (*)(fmt::string_view, fmt::format_args);

[[gnu::used]] const Print print = &fmt::vprint;
[[gnu::used]] const Format format = &fmt::vformat;

}  // namespace
