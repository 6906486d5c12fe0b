#include "reuse_options.hpp"

#include <map>
#include <string>

#include <fmt/format.h>

namespace stowage::cli {
namespace {

/// Adds an option that takes one of a few words, each of which is a value of a knob.
template <class Value>
void add_knob(CLI::App& command, PlanOptions& options, const std::string& name, Value ReuseKnobs::* knob,
              const std::map<std::string, Value>& values, const std::string& help) {
  std::vector<std::string> words;
  for (const auto& [word, value] : values) words.push_back(word);
  const auto read = [&options, knob, values](const std::string& word) {
    if (!options.reuse) options.reuse.emplace();
    (*options.reuse).*knob = values.at(word);
  };
  command.add_option_function<std::string>(name, read, help)
      ->check(CLI::IsMember(words))
      ->type_name(fmt::format("{}", fmt::join(words, "|")));
}

}  // namespace

void add_reuse_options(CLI::App& command, PlanOptions& options) {
  using Sort = ReuseKnobs::Sort;
  using Release = ReuseKnobs::Release;
  using SizeClasses = ReuseKnobs::SizeClasses;
  add_knob<Sort>(command, options, "--sort", &ReuseKnobs::sort,
                 {{"ascending", Sort::ascending}, {"descending", Sort::descending}},
                 "Also try the solver blocks, nesting blocks in this order (default: descending)");
  add_knob<Release>(command, options, "--release", &ReuseKnobs::release,
                    {{"first", Release::first}, {"last", Release::last}},
                    "Also try the solver blocks, reusing the block that was released first or last (default: last)");
  add_knob<SizeClasses>(command, options, "--size-classes", &ReuseKnobs::size_classes,
                        {{"exact", SizeClasses::exact}, {"range", SizeClasses::range}, {"one", SizeClasses::one}},
                        "Also try the solver blocks, sharing blocks between these sizes (default: exact)");
  command.add_flag("--memory-priority", options.memory_priority,
                   "Try all of GE's strategies, and planning without in-place reuse");
}

}  // namespace stowage::cli
