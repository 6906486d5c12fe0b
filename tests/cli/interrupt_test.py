"""Signals: Ctrl-C keeps the best plan so far, and whatever ends the program leaves no temporary file behind.

Usage: interrupt_test.py PATH/TO/stowage [unittest's arguments]

Every test runs the program in a directory of its own, with inputs that it wrote there.
"""

import json
import random
import signal
import subprocess
import time

import support
from support import CliTest, chain, main, table_of


def hard_rows():
    """A problem whose bound no search of minutes reaches: many large items whose sizes are nearly equal."""
    draw = random.Random(2)
    lowers = [draw.randrange(1500) for _ in range(1500)]
    return [(lower, lower + draw.randint(300, 700), draw.randint(800_000, 1_000_000)) for lower in lowers]


class Interrupted(CliTest):
    def start(self, *arguments):
        """The running program, once it reports that it searches and has something."""
        process = subprocess.Popen([support.STOWAGE, *arguments], cwd=self.dir, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        line = process.stderr.readline().decode()
        self.assertRegex(line, r"^stowage: (packing|planning) \S+, best .*, at least .*, gap \d+\.\d% … 1 s\n$")
        return process

    def finish(self, process):
        out, err = process.communicate(timeout=60)
        return process.returncode, out.decode(), err.decode()

    def test_ctrl_c_writes_and_prints_the_best_plan_so_far(self):
        table = self.write("hard.csv", table_of(hard_rows()))
        graph = self.write("hard.json", support.graph_of(hard_rows()))
        for name, output in ((table, "plan.csv"), (graph, "plan.json")):
            with self.subTest(name=name):
                process = self.start("plan", name, "--time-limit", "10m", "-o", output, "--json")
                process.send_signal(signal.SIGINT)
                code, out, err = self.finish(process)
                self.assertEqual((code, err), (130, f"stowage: {name}: stopped: this is the best plan so far\n"))
                self.assertEqual(json.loads(out)["status"], "feasible")
                self.expect(0, "verify", name, output)

    def test_a_second_ctrl_c_stops_at_once(self):
        # The first one stops the search of the plan, the second one comes whatever is done then.
        name = self.write("hard.csv", table_of(hard_rows()))
        process = self.start("plan", name, "--time-limit", "10m", "-o", "plan.csv")
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        self.assertEqual(self.finish(process)[0], 130)

    def test_a_request_to_end_ends_at_once_and_writes_nothing(self):
        name = self.write("hard.csv", table_of(hard_rows()))
        for number in (signal.SIGTERM, signal.SIGHUP):
            process = self.start("plan", name, "--time-limit", "10m", "-o", "plan.csv")
            process.send_signal(number)
            self.assertEqual(self.finish(process), (128 + number, "", ""))
            self.assertEqual([path.name for path in self.dir.iterdir()], [name])

    def test_an_ignored_signal_stays_ignored(self):
        name = self.write("chain.json", chain())
        shell = ["sh", "-c", "trap '' INT HUP; \"$0\" \"$@\" & wait $!", support.STOWAGE, "plan", name, "-o", "plan.json"]
        process = subprocess.Popen(shell, cwd=self.dir, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(self.finish(process)[0], 0)

    def test_an_interrupted_write_leaves_no_temporary_file(self):
        # Signals at many moments of a run that mostly writes; the plan is there whole, or what was there before.
        rows = [(k, k + 2, 64) for k in range(20_000)]
        name = self.write("long.csv", table_of(rows))
        self.expect(0, "plan", name, "-o", "whole.csv")
        whole = self.read("whole.csv")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for moment in range(12):
                self.write("plan.csv", "old")
                process = subprocess.Popen([support.STOWAGE, "plan", name, "-o", "plan.csv"], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(0.005 * moment)
                process.send_signal(number)
                process.wait(timeout=60)
                self.assertIn(self.read("plan.csv"), ("old", whole))
                self.assertEqual(sorted(path.name for path in self.dir.iterdir()), ["long.csv", "plan.csv", "whole.csv"])


if __name__ == "__main__":
    main(__doc__)
