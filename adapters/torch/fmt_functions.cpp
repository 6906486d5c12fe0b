/// What the modules of the library want of libfmt, from its headers: the machine that torch runs on may not have it.
#include <cstdio>

#include <fmt/format.h>

#ifndef FMT_HEADER_ONLY
#error "to be compiled with fmt::fmt-header-only"
#endif

namespace {

using Print = void (*)(std::FILE*, fmt::string_view, fmt::format_args);
using Format = std::string (*)(fmt::string_view, fmt::format_args);

[[gnu::used]] const Print print = &fmt::vprint;
[[gnu::used]] const Format format = &fmt::vformat;

}  // namespace
