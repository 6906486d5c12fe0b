"""Code that the tests of the command line share: running the program in a temporary directory, and inputs for it."""

import gzip
import json
import os
import pathlib
import pty
import random
import re
import resource
import select
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted(PROJECT.glob("examples/*.json"))
FORMATS = (PROJECT / "docs" / "formats.md").read_text()
COMMANDS = ("plan", "verify", "explain", "diff", "sweep", "compare", "convert", "info", "replay", "completion", "help")
OLD = b"what was there before\n"

STOWAGE = ""  # set from the command line


def round_up(size, alignment):
    return -(-size // alignment) * alignment


def chain():
    """x -> a -> b -> y, each of 100 bytes (128 rounded), each op able to overwrite its input."""
    ops = [{"name": f"op{k}", "kind": "NEG", "inputs": [k], "outputs": [k + 1], "in_place": [[0, 0]]} for k in range(3)]
    tensors = [{"name": "x", "size": 100, "flags": ["input"]}, {"name": "a", "size": 100}, {"name": "b", "size": 100},
               {"name": "y", "size": 100, "flags": ["output"]}]
    return {"schema": "stowage.graph/1", "name": "chain", "memories": [{"name": "cpu", "alignment": 32}], "tensors": tensors, "ops": ops}


def graph_of(rows):
    """A graph whose tensors live as long as the rows (lower, upper, size) do."""
    steps = range(max(upper for _, upper, _ in rows))
    first = lambda k: [i for i, (lower, _, _) in enumerate(rows) if lower == k]
    last = lambda k: [i for i, (lower, upper, _) in enumerate(rows) if upper - 1 == k and lower < k]
    return {"schema": "stowage.graph/1", "name": "rows", "tensors": [{"name": f"t{i}", "size": row[2]} for i, row in enumerate(rows)],
            "ops": [{"name": f"op{k}", "inputs": last(k), "outputs": first(k)} for k in steps]}


def table_of(rows):
    return "id,lower,upper,size\n" + "".join(f"r{i},{lower},{upper},{size}\n" for i, (lower, upper, size) in enumerate(rows))


def random_rows(seed):
    draw = random.Random(seed)
    lowers = [draw.randrange(8) for _ in range(10)]
    return [(lower, lower + draw.randint(1, 5), draw.randint(1, 9)) for lower in lowers]


def documents(schema):
    """The text of each block of a schema in docs/formats.md, and the text between it and the next block."""
    parts = re.split(r"(?ms)^```(\w*)\n(.*?)^```\n", FORMATS)
    for language, block, below in zip(parts[1::3], parts[2::3], parts[3::3]):
        if language == "json" and block.startswith(f'{{"schema":"{schema}"'):
            yield block, below


def documented_graph(name):
    return next(text for text, _ in documents("stowage.graph/1") if json.loads(text)["name"] == name)


class CliTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="stowage-cli-test-")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

    def write(self, name, content):
        """Writes text, bytes or JSON, compressed if the name ends in .gz. Returns the name for the program."""
        if not isinstance(content, (str, bytes)):
            content = json.dumps(content)
        if isinstance(content, str):
            content = content.encode()
            content = gzip.compress(content) if name.endswith(".gz") else content
        (self.dir / name).write_bytes(content)
        return name

    def read(self, name):
        content = (self.dir / name).read_bytes()
        return (gzip.decompress(content) if name.endswith(".gz") else content).decode()

    def environment(self, **changes):
        environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
        return environment | changes

    def run_cli(self, *arguments, stdin=b"", **more):
        """Runs the program in the test's directory. Nothing is left on its standard input but `stdin`."""
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": self.environment()} | more
        done = subprocess.run([STOWAGE, *map(str, arguments)], input=stdin, cwd=self.dir, timeout=120, **settings)
        done.out = (done.stdout or b"").decode()
        done.err = (done.stderr or b"").decode()
        return done

    def bounded(self, size):
        """Settings of run_cli() under which the program gets no more than `size` bytes of memory."""
        if "ASAN_OPTIONS" not in os.environ:
            return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))}
        own = f"max_allocation_size_mb={size >> 20}:hard_rss_limit_mb={size >> 20}:exitcode=99"  # its shadow takes terabytes of addresses
        return {"env": self.environment(ASAN_OPTIONS=f"{os.environ['ASAN_OPTIONS']}:{own}")}

    def expect(self, code, *arguments, **more):
        done = self.run_cli(*arguments, **more)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.out}{done.err}")
        return done

    def summary(self, *arguments, code=0, **more):
        return json.loads(self.expect(code, "plan", *arguments, "--json", **more).out)

    def peak(self, *arguments, **more):
        return self.summary(*arguments, **more)["peak_bytes"]

    def on_terminal(self, *arguments, stream="stdout", code=0, **environment):
        """What the program writes to `stream` when that is a terminal."""
        master, slave = pty.openpty()
        others = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr") if name != stream}
        process = subprocess.Popen([STOWAGE, *arguments], cwd=self.dir, env=self.environment(**environment), **{stream: slave}, **others)
        os.close(slave)
        text = b""
        while select.select([master], [], [], 60)[0]:
            try:
                block = os.read(master, 65536)
            except OSError:  # Linux says so when the other end is closed
                break
            if not block:
                break
            text += block
        os.close(master)
        self.assertEqual(process.wait(timeout=60), code)
        return text.decode().replace("\r\n", "\n")


def help_of(test, command):
    return test.expect(0, *([command] if command else []), "--help").out


def options_of(test, command):
    """The options that --help lists, without their values."""
    listed = re.findall(r"(?m)^  (-[^\s]+)", help_of(test, command))
    return {re.sub(r"[:=].*", "", option) for names in listed for option in names.split(",") if option.startswith("-")}


def solver_names(test):
    return re.search(r"--solver \S*\{(.*?)\}", help_of(test, "plan")).group(1).split(",")


def main(usage):
    """Runs the tests of the script; the program's path is its first argument."""
    global STOWAGE
    if len(sys.argv) < 2:
        sys.exit(usage)
    STOWAGE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
