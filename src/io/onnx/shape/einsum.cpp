#include "io/onnx/shape/einsum.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"

namespace stowage::io::onnx::shape {
namespace {

constexpr std::string_view kEllipsis = "...";

struct Term {
  std::string before;  ///< Letters.
  bool ellipsis = false;
  std::string after;
};

bool is_letter(char each) { return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z'); }

Term parse_term(std::string_view text) {
  Term term;
  const std::size_t dots = text.find(kEllipsis);
  term.before = text.substr(0, dots);
  if (dots != std::string_view::npos) {
    term.ellipsis = true;
    term.after = text.substr(dots + kEllipsis.size());
  }
  for (const char each : term.before + term.after) {
    if (!is_letter(each)) stop(fmt::format("its equation has '{}'", each));
  }
  return term;
}

std::vector<Term> parse_terms(std::string_view text) {
  std::vector<Term> terms;
  for (;;) {
    const std::size_t comma = text.find(',');
    terms.push_back(parse_term(text.substr(0, comma)));
    if (comma == std::string_view::npos) return terms;
    text.remove_prefix(comma + 1);
  }
}

/// The dims of the letters and of the ellipsis of an equation.
class Labels {
 public:
  void add(const Term& term, const Dims& dims) {
    const std::size_t letters = term.before.size() + term.after.size();
    if (term.ellipsis ? letters > dims.size() : letters != dims.size())
      stop(fmt::format("a term of its equation does not fit {}", to_string(dims)));
    const auto first = dims.begin() + length(term.before);
    const auto last = dims.end() - length(term.after);
    add_letters(term.before, dims.begin());
    add_letters(term.after, last);
    if (term.ellipsis) dots_ = broadcast(dots_, Dims(first, last));
  }

  [[nodiscard]] Dims resolve(const Term& term) const {
    Dims dims = resolve_letters(term.before);
    if (term.ellipsis) dims.insert(dims.end(), dots_.begin(), dots_.end());
    const Dims after = resolve_letters(term.after);
    dims.insert(dims.end(), after.begin(), after.end());
    return dims;
  }

  /// The result of an equation without an arrow: the ellipsis, then the letters that occur once, in alphabetical order.
  [[nodiscard]] Dims resolve_rest() const {
    Dims dims = dots_;
    for (const auto& [letter, label] : letters_) {
      if (label.uses == 1) dims.push_back(label.size);
    }
    return dims;
  }

 private:
  struct Label {
    std::int64_t size = 1;
    int uses = 0;
  };

  void add_letters(const std::string& letters, Dims::const_iterator dims) {
    for (const char letter : letters) {
      Label& label = letters_[letter];
      const std::int64_t size = *dims++;
      if (label.uses++ == 0 || label.size == 1) {
        label.size = size;
      } else if (size != 1 && size != label.size) {
        stop(fmt::format("'{}' of its equation is both {} and {}", letter, label.size, size));
      }
    }
  }

  [[nodiscard]] Dims resolve_letters(const std::string& letters) const {
    Dims dims;
    for (const char letter : letters) {
      const auto found = letters_.find(letter);
      if (found == letters_.end()) stop(fmt::format("'{}' of its result is in no term", letter));
      dims.push_back(found->second.size);
    }
    return dims;
  }

  std::map<char, Label> letters_;
  Dims dots_;
};

}  // namespace

Dims einsum_dims(std::string_view equation, const std::vector<Dims>& operands) {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text), [](char each) { return each != ' '; });
  const std::size_t arrow = text.find("->");
  const std::vector<Term> terms = parse_terms(std::string_view(text).substr(0, arrow));
  if (terms.size() != operands.size())
    stop(fmt::format("its equation has {} terms, for {} inputs", terms.size(), operands.size()));
  Labels labels;
  for (std::size_t i = 0; i < terms.size(); ++i) labels.add(terms[i], operands[i]);
  if (arrow == std::string::npos) return labels.resolve_rest();
  return labels.resolve(parse_term(std::string_view(text).substr(arrow + 2)));
}

}  // namespace stowage::io::onnx::shape
