"""The same bytes as the command line on all of the data beside the project."""

import json
import pathlib
import subprocess

import pytest
import stowagepy

def files(data: pathlib.Path) -> list[pathlib.Path]:
    found = [path for folder in ("graphs", "onnx", "tflite", "csv") for path in sorted((data / folder).iterdir())]
    return [path for path in found if path.suffix in (".json", ".onnx", ".tflite", ".csv", ".gz")]


def planned_there(path: pathlib.Path, out: pathlib.Path, solver: str) -> subprocess.CompletedProcess[str]:
    command = ["stowage", "plan", str(path), "-o", str(out), "--solver", solver]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def planned_here(path: pathlib.Path, solver: str) -> tuple[str, bool]:
    """The text, and whether it is proven: then no time limit ended the search."""
    content = stowagepy.load(path)
    if isinstance(content, stowagepy.Table):
        packing = stowagepy.pack_table(content, solver=solver)
        return packing.to_csv(), packing.proven
    plan = stowagepy.plan(path, solver=solver)
    return plan.to_json(), plan.proven


def test_every_file(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    compared = {"auto": 0, "skyline": 0}
    for path in files(data):
        is_table = path.name.removesuffix(".gz").endswith(".csv")
        out = tmp_path / ("out.csv" if is_table else "out.json")
        for solver in compared:
            process = planned_there(path, out, solver)
            try:
                here, proven = planned_here(path, solver)
            except stowagepy.Error as error:
                assert process.returncode != 0, f"{path.name}: {error}"
                continue
            assert process.returncode == 0, f"{path.name}: {process.stderr}"
            if solver == "auto" and not proven:
                continue  # the time may have ended it; that is not the same twice
            assert here == out.read_text(), f"{path.name}, {solver}"
            compared[solver] += 1
    assert compared["skyline"] >= 30
    assert compared["auto"] >= 25


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
