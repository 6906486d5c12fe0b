#include "growth_limit.hpp"

#include "common_options.hpp"

namespace stowage::cli {

bool GrowthLimit::exceeded(Bytes before, Bytes after) const {
  if (!share) return after - before > bytes;
  return static_cast<long double>((after - before).value()) >
         static_cast<long double>(*share) * static_cast<long double>(before.value());
}

CLI::Option* add_growth_option(CLI::App& command, std::optional<GrowthLimit>& limit, const std::string& help) {
  const auto read = [&limit](const std::string& text) {
    GrowthLimit wanted{text, parse_percentage(text), {}};
    const std::optional<Bytes> bytes = wanted.share ? Bytes(0) : parse_bytes(text);
    if (!bytes) throw CLI::ValidationError("'" + text + "' is neither a percentage such as 2% nor a size such as 1MiB");
    wanted.bytes = *bytes;
    limit = wanted;
  };
  return command.add_option_function<std::string>("--fail-if-grows", read, help)->type_name("N%|SIZE");
}

}  // namespace stowage::cli
