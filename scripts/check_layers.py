#!/usr/bin/env python3
"""Rejects includes that reach upward in the module order (src/README.md), or into what is private to another module.

Checked: src/<module>/** and include/stowage/<module>.hpp (or include/stowage/<module>/**). Of another module one may include its
public headers and what lies in src/<module>/interface/; the command line and the bindings (apps/, bindings/, python/) only public ones. Unit tests (*_test.cpp) may include
anything. A public header may include only standard headers and public headers of modules that its own module may use.

  scripts/check_layers.py [ROOT]        exit code 1 and one line per offence
  scripts/check_layers.py --self-test   plants offences and sees each of them found
"""

import argparse
import pathlib
import posixpath
import re
import sys
import tempfile

# Bottom-up: a module may include itself and every module before it.
ORDER = ["base", "files", "graph", "rewrite", "liveness", "layout", "plan", "lower", "verify", "pack", "planner", "memory", "alloc", "runtime", "replay", "io", "report"]

# Modules that may include less than their place in the order allows, and why.
ONLY = {
    "verify": ({"base", "files", "graph", "plan"}, "the verifier shares no code with what it judges"),
    "pack": ({"base", "plan"}, "solvers know only Problem"),
    "memory": ({"base"}, "memory knows no graph"),
    "io": ({"base", "files", "graph", "rewrite", "plan"}, "a format knows graphs and plans, not what is done with them"),
}

# They are users of the library like any other.
USERS = ("apps", "bindings", "python")

SUFFIXES = {".hpp", ".cpp", ".h", ".cc", ".inl"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def allowed(module):
    if module in ONLY:
        return ONLY[module][0] | {module}
    return set(ORDER[: ORDER.index(module) + 1])


def module_of_file(path):
    """The module that a file (relative to the root, in '/' form) belongs to; "" for the umbrella header; None: not ours."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[:3] == ["include", "stowage", "c"]:
        return None  # the C API, which is no module
    if parts[:2] == ["include", "stowage"] and len(parts) > 2:
        name = parts[2] if len(parts) > 3 else posixpath.splitext(parts[2])[0]
        return "" if name == "stowage" else name
    return None


def strip_comments(text):
    """Blanks comments (strings and line breaks stay), so that line numbers still hold."""
    return COMMENT.sub(lambda m: m[0] if m[0].startswith('"') else re.sub(r"[^\n]", " ", m[0]), text)


def target_of(root, path, quote, include):
    """What an include names: ("module", name), ("umbrella", …), ("standard", …), ("third-party", …) or ("unknown", …)."""
    first, _, rest = include.partition("/")
    if quote == '"':
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), include))
        if not rest or first == ".." or first == "." or (root / beside).is_file():
            module = module_of_file(beside)
            return ("module", module) if module else ("unknown", include)
    if first == "stowage" and rest:
        module = module_of_file("include/" + include)
        return ("umbrella", include) if module == "" else ("module", module)
    if rest and first in ORDER:
        return ("module", first)
    if quote == '"':
        return ("unknown", include)
    return ("standard" if re.fullmatch(r"[a-z0-9_]+", include) else "third-party", include)


def offence(root, path, module, quote, include):
    """Why this include is wrong, or None."""
    kind, name = target_of(root, path, quote, include)
    if kind == "umbrella":
        return "includes everything; name the modules"
    if kind == "third-party":
        return "a public header shows no third-party type" if path.startswith("include/") else None
    if kind == "unknown":
        return "names no module of ours; third-party headers go in <>"
    if kind == "module":
        if name not in ORDER:
            return f"unknown module '{name}'"
        if name not in allowed(module):
            why = ONLY[module][1] if module in ONLY else f"{name} comes after {module}"
            return f"{module} may not include {name}: {why}"
        if path.startswith("include/") and not include.startswith("stowage/"):
            return "a public header includes only public headers"
        if name != module and not include.startswith(("stowage/", f"{name}/interface/")):
            return f"private to {name}: others include its public headers and src/{name}/interface/"
    return None


def offence_of_program(include):
    """The same for the command line and the bindings."""
    private = include.partition("/")[0] in ORDER and "/" in include
    return "not a public header: command line and bindings are users of the library" if private else None


def check(root):
    """All offences under `root`, as "file:line: message"."""
    found = []
    files = sorted(p for top in ("src", "include/stowage") for p in (root / top).rglob("*") if p.suffix in SUFFIXES and p.is_file())
    for file in files:
        path = file.relative_to(root).as_posix()
        module = module_of_file(path)
        if not module or file.name.endswith("_test.cpp"):
            continue
        if module not in ORDER:
            found.append(f"{path}:1: unknown module '{module}'; add it to ORDER in scripts/check_layers.py")
            continue
        text = strip_comments(file.read_text(encoding="utf-8"))
        for match in INCLUDE.finditer(text):
            quote, include = match.groups()
            reason = offence(root, path, module, quote, include)
            if reason:
                line = text.count("\n", 0, match.start(1)) + 1
                found.append(f"{path}:{line}: {include}: {reason}")
    for file in sorted(p for top in USERS for p in (root / top).rglob("*") if p.suffix in SUFFIXES and p.is_file()):
        text = strip_comments(file.read_text(encoding="utf-8"))
        for match in INCLUDE.finditer(text):
            if reason := offence_of_program(match[2]):
                line = text.count("\n", 0, match.start(1)) + 1
                found.append(f"{file.relative_to(root).as_posix()}:{line}: {match[2]}: {reason}")
    return found, len(files)


CLEAN = {
    "include/stowage/stowage.hpp": '#include "stowage/base.hpp"\n#include "stowage/planner.hpp"\n',
    "include/stowage/base.hpp": "#include <cstdint>\n#include <vector>\n",
    "include/stowage/planner.hpp": '#include "stowage/base.hpp"\n#include "stowage/pack.hpp"\n',
    "src/base/base.cpp": '#include "stowage/base.hpp"\n\n#include <fmt/format.h>\n',
    "src/graph/graph.cpp": '#include "graph/validation.hpp"\n// #include "stowage/io.hpp"\n/*\n#include "stowage/io.hpp"\n*/\n',
    "src/graph/validation.hpp": '#include "other.hpp"\n',
    "src/graph/graph_test.cpp": '#include "stowage/stowage.hpp"\n#include "io/json.hpp"\n#include <gtest/gtest.h>\n',
    "src/io/json.cpp": '#include <nlohmann/json.hpp>\n#include <stowage/plan.hpp>\n#include <zlib.h>\n',
    "src/graph/interface/groups.hpp": "",
    "src/lower/lower.cpp": '#include "graph/interface/groups.hpp"\n#include "lower/pieces.hpp"\n',
    "apps/stowage/main.cpp": '#include "stowage/stowage.hpp"\n#include "output.hpp"\n',
    "src/memory/cpu/pages.cpp": '#include "cpu/pages.hpp"\n#include "../buffer.hpp"\n#include <sys/mman.h>\n#include "memory/buffer.hpp"\n',
    "src/memory/cpu/cpu/pages.hpp": "",
    "src/verify/verify.cpp": '#include "stowage/plan.hpp"\n#include "graph/interface/groups.hpp"\n',
}

# (file, its text, the line that must be reported)
PLANTED = [
    ("src/base/a.cpp", '#include "stowage/graph.hpp"\n', 1),
    ("src/base/a.cpp", "#include <stowage/graph.hpp>\n", 1),
    ("src/graph/a.hpp", '#pragma once\n\n#include "liveness/classes.hpp"\n', 3),
    ("src/graph/a.hpp", '#include "../io/json.hpp"\n', 1),
    ("src/plan/a.cpp", '  #  include "lower/pieces.hpp"\n', 1),
    ("src/lower/deep/a.cpp", '/* one\n two */\n#include "pack/greedy.hpp"\n', 3),
    ("src/verify/a.cpp", '#include "liveness/interface/lives.hpp"\n', 1),
    ("src/verify/a.cpp", '#include "lower/pieces.hpp"\n', 1),
    ("src/pack/a.cpp", '#include "stowage/graph.hpp"\n', 1),
    ("src/pack/a.cpp", '#include "verify/rules.hpp"\n', 1),
    ("src/io/a.cpp", '#include "report/text.hpp"\n', 1),
    ("src/io/a.cpp", '#include "stowage/stowage.hpp"\n', 1),
    ("src/io/a.cpp", '#include "support/data.hpp"\n', 1),
    ("src/io/a.cpp", '#include "stowage/nowhere.hpp"\n', 1),
    ("src/nowhere/a.cpp", "", 1),
    ("include/stowage/plan.hpp", '#include "stowage/pack.hpp"\n', 1),
    ("include/stowage/verify.hpp", '#include "stowage/planner.hpp"\n', 1),
    ("include/stowage/io.hpp", "#include <nlohmann/json.hpp>\n", 1),
    ("include/stowage/io.hpp", "#include <zlib.h>\n", 1),
    ("include/stowage/base.hpp", "#include <vector>\n#include <fmt/core.h>\n", 2),
    ("include/stowage/graph.hpp", "#include <gtest/gtest.h>\n", 1),
    ("include/stowage/graph.hpp", "#include <CLI/CLI.hpp>\n", 1),
    ("include/stowage/graph.hpp", '#include "graph/validation.hpp"\n', 1),
    ("src/lower/a.cpp", '#include "graph/validation.hpp"\n', 1),
    ("src/memory/a.cpp", '#include "stowage/graph.hpp"\n', 1),
    ("src/io/a.cpp", '#include "stowage/planner.hpp"\n', 1),
    ("apps/stowage/a.cpp", '#include "graph/interface/groups.hpp"\n', 1),
]


def found_in(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return check(root)[0]


def self_test():
    failures = [f"clean tree: {line}" for line in found_in(CLEAN)]
    for path, text, line in PLANTED:
        found = found_in({**CLEAN, path: text})
        if len(found) != 1 or not found[0].startswith(f"{path}:{line}: "):
            failures.append(f"planted {path} {text!r}: expected one offence at line {line}, found {found}")
    for failure in failures:
        print(f"self-test: {failure}", file=sys.stderr)
    print(f"layers: self-test with {len(PLANTED)} planted offences {'failed' if failures else 'passed'}")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    found, count = check(arguments.root)
    for line in found:
        print(line)
    print(f"layers: {count} files, {len(found)} offences")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
