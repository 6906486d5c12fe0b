"""What people see: the terminal, completion, the manual page.

Usage: surface_test.py PATH/TO/stowage [unittest's arguments]

Every test runs the program in a directory of its own, with inputs that it wrote there.
"""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import unittest

import support
from support import COMMANDS, PROJECT, CliTest, chain, main, options_of, table_of

MAN_PAGE = PROJECT / "docs" / "stowage.1"


class Terminal(CliTest):
    def setUp(self):
        super().setUp()
        graph = chain()
        for tensor in graph["tensors"]:
            tensor["size"] = 5 * 2**18  # 1.25 MiB
        self.graph = self.write("chain.json", graph)

    def test_sizes_have_units_for_people_there_only(self):
        for command in ("plan", "compare"):
            text = self.on_terminal(command, self.graph, TERM="xterm")
            self.assertIn("1.25 MiB", text)
            self.assertIn("5.00 MiB", text)
            piped = self.expect(0, command, self.graph).out
            self.assertIn(" 1310720", piped)
            self.assertNotIn("MiB", piped)

    def test_json_is_the_same_there(self):
        text = self.on_terminal("plan", self.graph, "--json", TERM="xterm")
        self.assertEqual(json.loads(text)["peak_bytes"], 1310720)
        self.assertNotIn("\033", text)

    def test_colour_is_used_unless_refused(self):
        self.assertIn("\033[", self.on_terminal("plan", self.graph, TERM="xterm"))
        self.assertIn("\033[", self.on_terminal("plan", self.graph, TERM="xterm", NO_COLOR=""))
        for refusal in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}, {}):
            for command in ("plan", "compare"):
                self.assertNotIn("\033", self.on_terminal(command, self.graph, **refusal))

    def test_quick_work_shows_no_progress(self):
        self.assertEqual(self.expect(0, "plan", self.graph).err, "")
        for command in ("plan", "compare"):
            self.assertEqual(self.on_terminal(command, self.graph, stream="stderr", TERM="xterm"), "")

    def test_long_work_shows_progress_on_standard_error(self):
        draw = random.Random(1)
        for count in (4000, 8000, 16000, 32000):
            lowers = [draw.randrange(count) for _ in range(count)]
            rows = [(lower, lower + draw.randint(1, count), draw.randint(1, 1000)) for lower in lowers]
            done = self.expect(0, "plan", self.write("long.csv", table_of(rows)), "--json", "--solver", "first_fit_by_life", "--time-limit", "10m")
            took = json.loads(done.out)["solve_ms"]
            if took > 1100:
                self.assertTrue(done.err.startswith("stowage: packing long.csv … 1 s\n"), done.err)
                return
            if took < 900:
                self.assertEqual(done.err, "")
        self.skipTest("nothing takes a second")


class Completion(CliTest):
    def script(self, shell):
        name = self.write("script", self.expect(0, "completion", shell).out)
        return str(self.dir / name)

    def bash_replies(self, *words):
        program = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stowage; printf "%s\\n" "${COMPREPLY[@]}"'
        command = ["bash", "--norc", "-c", program, "bash", self.script("bash"), "stowage", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_bash(self):
        subprocess.run(["bash", "-n", self.script("bash")], check=True, timeout=60)
        self.assertEqual(self.bash_replies("pl"), ["plan"])
        self.assertEqual(self.bash_replies("co"), ["compare", "convert", "completion"])
        self.assertEqual(set(COMMANDS) - set(self.bash_replies("")), set())
        self.assertEqual(self.bash_replies("plan", "--cap"), ["--capacity", "--capacity-total"])
        self.assertEqual(self.bash_replies("plan", "model.json", "--no-r"), ["--no-reuse", "--no-reuse-names"])
        self.assertEqual(self.bash_replies("verify", "--cap"), [])
        self.assertEqual(self.bash_replies("plan", "mod"), [], "file names are bash's own affair")
        for command in COMMANDS:
            self.assertEqual(set(self.bash_replies(command, "-")), options_of(self, command))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        subprocess.run(["zsh", "-n", self.script("zsh")], check=True, timeout=60)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        subprocess.run(["fish", "--no-execute", self.script("fish")], check=True, timeout=60)

    def test_scripts_name_every_command_and_option(self):
        zsh, fish = (self.expect(0, "completion", shell).out for shell in ("zsh", "fish"))
        for command in COMMANDS:
            self.assertRegex(zsh, rf"\b{command}\b")
            for option in options_of(self, command):
                self.assertRegex(zsh, rf"(?m)^ *{command}\) .* {option} ")
                fish_option = f" -l {option[2:]} " if option.startswith("--") else f" -s {option[1:]} "
                self.assertTrue(any(f"from {command}'" in line and fish_option in line for line in fish.splitlines()), option)

    def test_strings_of_fish_are_closed(self):
        for line in self.expect(0, "completion", "fish").out.splitlines():
            self.assertEqual(len(re.findall(r"(?<!\\)'", line)) % 2, 0, line)


class Demo(CliTest):
    """What `make demo` leaves is where it says."""

    def test_the_program_and_its_manual_page_are_where_the_last_line_says(self):
        build = pathlib.Path(support.STOWAGE).resolve().parents[2]
        if not (build / "examples" / "quick_start").exists() or not (build / "cmake_install.cmake").exists():
            self.skipTest(f"NOT BUILT: {build} has no examples")
        demo = self.dir / "demo"
        done = subprocess.run([PROJECT / "scripts" / "demo.sh"], capture_output=True, text=True, env=os.environ | {"STOWAGE_BUILD": str(build), "STOWAGE_DEMO": str(demo)})
        self.assertEqual(done.returncode, 0, done.stderr)
        (path,) = re.findall(r"export PATH=(.*):\$PATH$", done.stdout.splitlines()[-1])
        self.assertEqual(subprocess.run(["stowage", "--version"], env={"PATH": path}, capture_output=True).returncode, 0)
        self.assertTrue((demo / "report.html").stat().st_size > 100000)
        if shutil.which("man"):
            found = subprocess.run(["man", "-w", "stowage"], env={"PATH": f"{path}:{os.environ['PATH']}"}, capture_output=True, text=True)
            self.assertIn(str(demo), found.stdout, found.stderr)


class ManPage(CliTest):
    def setUp(self):
        super().setUp()
        source = re.sub(r"\\f.", "", MAN_PAGE.read_text()).replace("\\-", "-")
        self.source = "\n".join(line for line in source.splitlines() if not line.startswith('.\\"'))

    def options_in(self, text):
        return set(re.findall(r"(?<![\w./-])--?[a-z][a-z-]*", text))

    def section(self, start):
        return re.search(rf"(?ms)^\.SS {start}\b.*?(?=^\.S[SH] )", self.source).group(0)

    def test_it_lists_the_options_of_every_command(self):
        help_options = {"-h", "--help"}
        self.assertLessEqual(options_of(self, ""), self.options_in(self.section("Without a command")))
        for command in COMMANDS:
            with self.subTest(command=command):
                self.assertEqual(self.options_in(self.section(f"stowage {command}")) - help_options, options_of(self, command) - help_options)

    def test_it_mentions_no_other_option(self):
        known = options_of(self, "").union(*(options_of(self, command) for command in COMMANDS))
        self.assertEqual(self.options_in(self.source) - known, set())

    def test_it_has_its_sections_and_exit_codes(self):
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"):
            self.assertRegex(self.source, rf"(?m)^\.SH {section}$")
        self.assertEqual(re.findall(r"(?m)^\.TP\n\.B (\d)$", self.source), list("0123456"))

    def test_it_names_the_version(self):
        self.assertIn(f'"{self.expect(0, "--version").out.strip()}"', self.source)

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_it_is_formatted_without_a_warning(self):
        command = ["man", "--warnings", "-E", "UTF-8", "-l", str(MAN_PAGE)]
        environment = self.environment(MANROFFSEQ="", MANWIDTH="80", LC_ALL="C.UTF-8")
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
        if "has been minimized" in done.stdout:
            self.skipTest("man is a stub here")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    main(__doc__)
