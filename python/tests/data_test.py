"""The same bytes as the command line on all of the data beside the project."""

import json
import pathlib
import subprocess

import pytest
import stowagepy

# What ends by time is not the same twice; a number of nodes is.
NODES = 2000


def files(data: pathlib.Path) -> list[pathlib.Path]:
    found = [path for folder in ("graphs", "onnx", "tflite", "csv") for path in sorted((data / folder).iterdir())]
    return [path for path in found if path.suffix in (".json", ".onnx", ".tflite", ".csv", ".gz")]


def command_line(path: pathlib.Path, out: pathlib.Path) -> subprocess.CompletedProcess[str]:
    command = ["stowage", "plan", str(path), "-o", str(out), "--node-budget", str(NODES), "--time-limit", "none"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def planned_here(path: pathlib.Path) -> str:
    content = stowagepy.load(path)
    if isinstance(content, stowagepy.Table):
        return stowagepy.pack_table(content, node_budget=NODES, time_limit=None).to_csv()
    return stowagepy.plan(path, node_budget=NODES, time_limit=None).to_json()


def test_every_file(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    compared = 0
    for path in files(data):
        is_table = path.name.removesuffix(".gz").endswith(".csv")
        out = tmp_path / ("out.csv" if is_table else "out.json")
        process = command_line(path, out)
        try:
            here = planned_here(path)
        except stowagepy.Error as error:
            assert process.returncode != 0, f"{path.name}: {error}"
            continue
        assert process.returncode == 0, f"{path.name}: {process.stderr}"
        assert here == out.read_text(), path.name
        compared += 1
    assert compared >= 30


def test_ten_thousand_plans_leak_nothing(project: pathlib.Path) -> None:
    graph = stowagepy.load(project / "examples" / "small_cnn.json")

    def resident() -> int:
        for line in pathlib.Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1])
        pytest.skip("the system does not say how much memory a process has")

    for _ in range(1000):
        json.loads(stowagepy.plan(graph).to_json())
    before = resident()
    for _ in range(9000):
        stowagepy.plan(graph)
    assert resident() - before < 8 * 1024  # KiB; one leaked plan is some 10
