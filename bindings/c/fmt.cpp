/// The functions of fmt that our objects call, compiled into libraries that must not depend on libfmt.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template auto thousands_sep_impl(locale_ref locale) -> thousands_sep_result<char>;
template char decimal_point_impl(locale_ref locale);

}  // namespace detail
FMT_END_NAMESPACE
