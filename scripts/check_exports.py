#!/usr/bin/env python3
"""Compares what a shared libstowage exports with what its public headers declare.

  scripts/check_exports.py LIBRARY INCLUDE      INCLUDE: the folder that has stowage/*.hpp
  scripts/check_exports.py --self-test          sees that each kind of difference is found

Exit code 1 and one line per offence: a function that is declared, defined in the library and not exported; a class with virtual
functions whose type information is not exported; a symbol that is exported and not declared, or outside of namespace stowage.
"""

import collections
import pathlib
import re
import subprocess
import sys

COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/', re.DOTALL)
DIRECTIVE = re.compile(r'^[ \t]*#(?:\\\n|[^\n])*', re.MULTILINE)
ATTRIBUTE = re.compile(r'\[\[[^\]]*\]\]|\bSTOWAGE_(?:EXPORT|HIDDEN)\b')
LABEL = re.compile(r'^\s*(?:public|protected|private)\s*:(?!:)', re.MULTILINE)
SCOPE = re.compile(r'^(?:class|struct|union)\s+([\w:]+)[^()]*$')
INFORMATION = re.compile(r'^(typeinfo|typeinfo name|vtable) for ')


class Declared:
    """What headers declare, by qualified name."""

    def __init__(self):
        self.functions = collections.Counter()  # those without a body: how many overloads
        self.names = set()  # of all functions, inline ones too
        self.classes = set()
        self.polymorphic = set()


def statements(text):
    """(head, body) of each statement of a scope; body is None where it ends in a semicolon."""
    start = at = 0
    parens = 0
    while at < len(text):
        c = text[at]
        parens += (c == "(") - (c == ")")
        if c == ";" and parens == 0:
            yield text[start:at].strip(), None
            start = at + 1
        elif c == "{" and parens == 0:
            depth, end = 1, at + 1
            while depth:
                depth += (text[end] == "{") - (text[end] == "}")
                end += 1
            head = text[start:at].strip()
            if re.search(r"(?<![=!<>])=(?!=)\s*$", head) or re.match(r"\s*;", text[end:]) and not opens_scope(head):
                at = end - 1  # an initializer: the statement goes on
            else:
                yield head, text[at + 1 : end - 1]
                semicolon = re.match(r"\s*;", text[end:])
                at = end - 1 + (semicolon.end() if semicolon else 0)
                start = at + 1
        at += 1


def opens_scope(head):
    return bool(re.match(r"(?:inline\s+)?namespace\b|(?:class|struct|union|enum)\b|template\b", head))


def function_name(head):
    """The name before the parameters, or None for what is no function."""
    depth = 0
    for at, c in enumerate(head):
        depth += (c == "<") - (c == ">" and head[at - 1] != "-")
        if c in "={" and depth == 0 or c == "(" and head[at + 1 : at + 2] == "*":
            return None  # a variable, a pointer to functions
        if c == "(" and depth == 0 or head.startswith("operator", at):
            match = re.search(r"(operator\s*[^\s\w(]+|operator\(\)|operator\s+\w+|~?\w+)\s*$", head[: head.index("(", at)])
            return match and re.sub(r"\s+", "", match[1])
    return None


def add_function(declared, scope, head, defined):
    name = function_name(head)
    if name is None:
        return
    where = scope.rpartition("::")[0] if head.startswith("friend ") else scope
    declared.names.add(f"{where}::{name}")
    if not defined and not re.search(r"=\s*(0|default|delete)\s*$", head):
        declared.functions[f"{where}::{name}"] += 1


def read_scope(declared, scope, text):
    for head, body in statements(text):
        if not head or re.match(r"(using|typedef|template|enum|static_assert)\b", head) or head.startswith("extern"):
            continue
        if match := re.match(r"(?:inline\s+)?namespace\s+([\w:]+)$", head):
            read_scope(declared, f"{scope}::{match[1]}" if scope else match[1], body)
        elif match := SCOPE.match(head):
            if body is not None and not head.endswith("="):
                name = f"{scope}::{match[1]}"
                declared.classes.add(name)
                if re.search(r"\b(virtual|override)\b", body):
                    declared.polymorphic.add(name)
                read_scope(declared, name, body)
        elif scope:
            add_function(declared, scope, re.sub(r"^(?:(?:static|inline|constexpr|explicit|virtual)\s+)+", "", head), body is not None)


def read_headers(texts):
    declared = Declared()
    for text in texts:
        text = LABEL.sub("", ATTRIBUTE.sub("", DIRECTIVE.sub("", COMMENT.sub("", text))))
        read_scope(declared, "", text)
    return declared


def exported_by(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", "--demangle", library], check=True, capture_output=True, text=True).stdout
    return sorted({line.split(" ", 2)[2] for line in lines.splitlines()})


def qualified_name(symbol):
    """stowage::A::f of `stowage::A::f(int) const`."""
    depth = 0
    for at, c in enumerate(symbol):
        if symbol.startswith("operator", at) and depth == 0:
            return symbol[: symbol.index("(", at + len("operator()") if symbol.startswith("operator()", at) else at)]
        depth += (c == "<") - (c == ">")
        if c == "(" and depth == 0:
            return symbol[:at]
    return symbol


def offences(declared, symbols):
    found = []
    exported = collections.Counter()
    information = set()
    for symbol in symbols:
        if match := INFORMATION.match(symbol):
            name = symbol[match.end() :]
            information.add(name) if match[1] == "typeinfo" else None
            if name not in declared.classes:
                found.append(f"exported, not declared: {symbol}")
            continue
        name = re.sub(r"\[abi:\w+\]", "", qualified_name(symbol))
        exported[name] += 1
        scope, _, last = name.rpartition("::")
        implicit = scope in declared.classes and last.lstrip("~") == scope.rpartition("::")[2]
        if name not in declared.names and not implicit:
            found.append(f"exported, not declared: {symbol}")
    for name, count in sorted(declared.functions.items()):
        if exported[name] < count:
            found.append(f"declared, not exported: {name} ({exported[name]} of {count})")
    found += [f"no type information exported: {name}" for name in sorted(declared.polymorphic - information)]
    return found


HEADER = """
#pragma once
#define STOWAGE_TRY(a) \\
  if (!(a)) return
namespace stowage {
class Other;
template <class T>
class Box { T get(int); };
enum class Kind : int { a, b };
struct Plain {
  int size = 0;
  std::function<bool(int, Kind)> asks = {};
  Bytes alignment{64};
  std::optional<nanoseconds> limit = seconds(1);
  bool (*recognises)(int bytes);
  [[nodiscard]] STOWAGE_EXPORT int total() const;
  friend STOWAGE_EXPORT bool operator==(const Plain& a, const Plain& b);
};
class STOWAGE_EXPORT Base {
 public:
  virtual ~Base() = default;
  virtual int f() = 0;
  int inline_one() const { return 1; }
  explicit Base(int x = {}, int y = 0);
 private:
  struct Nested {
    int g() const { return 1; }
    friend auto operator<=>(const Nested&, const Nested&) = default;
  };
  class STOWAGE_HIDDEN State;
};
[[nodiscard]] STOWAGE_EXPORT std::string to_string(Kind kind);
STOWAGE_EXPORT Result<std::vector<int>> to_string(const Plain& plain,
                                                  int more = 3);
inline constexpr Plain kPlain{Limits<int>::max()};
constexpr int twice(int x) { return 2 * x; }
}  // namespace stowage
"""
SYMBOLS = [
    "stowage::Plain::total() const",
    "stowage::operator==(stowage::Plain const&, stowage::Plain const&)",
    "stowage::Base::Base(int, int)",
    "typeinfo for stowage::Base",
    "typeinfo name for stowage::Base",
    "vtable for stowage::Base",
    "stowage::to_string[abi:cxx11](stowage::Kind)",
    "stowage::to_string(stowage::Plain const&, int)",
]
EXTRA = ["stowage::internal(int)", "stowage::Base::State::f()", "std::vector<int>::push_back(int)", "vtable for stowage::Hidden", "deflate"]


def self_test():
    declared = read_headers([HEADER])
    failures = [f"as it should be: {line}" for line in offences(declared, SYMBOLS)]
    for missing in SYMBOLS:
        if missing.startswith(("vtable", "typeinfo name")):
            continue
        if len(offences(declared, [each for each in SYMBOLS if each != missing])) != 1:
            failures.append(f"not missed: {missing}")
    for extra in EXTRA:
        if offences(declared, [*SYMBOLS, extra]) != [f"exported, not declared: {extra}"]:
            failures.append(f"not noticed: {extra}")
    for failure in failures:
        print(f"self-test: {failure}", file=sys.stderr)
    print(f"exports: self-test {'failed' if failures else 'passed'}")
    return 1 if failures else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    library, include = sys.argv[1:]
    declared = read_headers(file.read_text(encoding="utf-8") for file in sorted(pathlib.Path(include, "stowage").rglob("*.hpp")))
    symbols = exported_by(library)
    found = offences(declared, symbols)
    for line in found:
        print(line)
    print(f"exports: {len(symbols)} symbols, {sum(declared.functions.values())} functions declared in headers, {len(found)} offences")
    return 1 if found or not symbols else 0


if __name__ == "__main__":
    sys.exit(main())
