#pragma once

#include <cstddef>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stowage/verify.hpp"

namespace stowage::testing {

/// How many wrong plans were refused because of each rule.
class RuleTally {
 public:
  void add(const std::vector<Finding>& findings) {
    std::set<Rule> rules;
    for (const Finding& each : findings) rules.insert(each.rule);
    for (const Rule rule : rules) ++refused_[rule];
  }

  [[nodiscard]] std::size_t operator[](Rule rule) const { return refused_.contains(rule) ? refused_.at(rule) : 0; }

  void print() const {
    std::printf("  refused because of");
    for (const auto& [rule, count] : refused_) std::printf(" %s %zu", std::string(to_string(rule)).c_str(), count);
    std::printf("\n");
  }

 private:
  std::map<Rule, std::size_t> refused_;
};

}  // namespace stowage::testing
