"""Many plans at once: bad models, the memo, the same table from every executor, workers that die."""

import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import stowagepy
from stowagepy._executors import compute
from stowagepy._fleet import plan_rows
from stowagepy._grid import entries_of, settings_of
from stowagepy._rows import COLUMNS, Task, plan_chunk

pa = pytest.importorskip("pyarrow", reason="NO PYARROW: no tables of fleets are tested")

PLANS = 2000


def table_text(seed: int, items: int = 12) -> str:
    """A table of items that overlap, different for each seed."""
    lines = ["id,lower,upper,size"]
    for item in range(items):
        mixed = (seed * 7919 + item * 104729) % 1_000_003
        lines.append(f"r{item},{mixed % 9},{mixed % 9 + 1 + mixed % 5},{64 + mixed % 977}")
    return "\n".join(lines) + "\n"


def graph_text(sizes: list[int]) -> str:
    """A chain of tensors without in-place pairs: two of them live at each step."""
    tensors: list[dict[str, Any]] = [{"name": f"t{i}", "size": size} for i, size in enumerate(sizes)]
    tensors[0]["flags"], tensors[-1]["flags"] = ["input"], ["output"]
    ops = [{"name": f"op{i}", "kind": "ADD", "inputs": [i], "outputs": [i + 1]} for i in range(len(sizes) - 1)]
    return json.dumps({"schema": "stowage.graph/1", "name": "chain", "tensors": tensors, "ops": ops})


@pytest.fixture
def models(tmp_path: pathlib.Path) -> list[str]:
    """Six inputs of which three are bad."""
    contents = {"good.json": graph_text([100, 200, 300]), "damaged.json": graph_text([1, 2])[:-20], "table.csv": table_text(1), "other.json": graph_text([64, 64])}
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    return [str(tmp_path / name) for name in (*contents, "missing.onnx")]


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """500 inputs; with four entries of a grid 2,000 plans."""
    folder = tmp_path_factory.mktemp("fleet")
    for seed in range(PLANS // 4):
        (folder / f"{seed:03}.csv").write_text(table_text(seed))
    return [str(path) for path in sorted(folder.iterdir())]


GRID = {"seed": [0, 1], "capacity": [None, "3KiB"]}


def figures(table: Any) -> list[dict[str, Any]]:
    """The rows without what differs from run to run: their times."""
    return [{name: value for name, value in row.items() if name != "ms"} for row in table.to_pylist()]


@pytest.fixture(scope="session")
def expected(fleet: list[str]) -> list[dict[str, Any]]:
    """The table, planned here one after another."""
    rows = figures(stowagepy.plan_many(fleet, GRID, jobs=1))
    assert len(rows) == PLANS
    assert len({row["peak"] for row in rows}) > 100
    assert {row["status"] for row in rows} >= {"optimal", "infeasible"}
    return rows


class Asked(BaseException):
    """No Exception: that would be a worker that died."""


class Refusing:
    """An executor that must not be asked."""

    def submit(self, *arguments: object) -> None:
        raise Asked


# ------------------------------------------------------------------------------------------------------------------------ rows


def test_columns_and_types(models: list[str]) -> None:
    table = stowagepy.plan_many(models[:1], {"keep_inputs": [False, True]})
    assert tuple(table.schema.names) == COLUMNS
    kinds = {"peak": "int64", "bound": "int64", "weights": "int64", "total": "int64", "proven": "bool", "ms": "double"}
    assert {field.name: str(field.type) for field in table.schema} == {name: kinds.get(name, "string") for name in COLUMNS}
    first, second = table.to_pylist()
    plan = stowagepy.plan(models[0])
    assert [first[name] for name in ("peak", "bound", "proven", "weights", "total", "status")] == [plan.peak, plan.bound, plan.proven, plan.weights, plan.total, "optimal"]
    assert (first["options"], second["options"], first["dims"], first["error"]) == ("{}", '{"keep_inputs":true}', "{}", None)
    assert len(first["hash"]) == 32 and first["hash"] == second["hash"]
    assert first["ms"] > 0


def test_one_bad_model_is_a_row_with_an_error(models: list[str]) -> None:
    rows = stowagepy.plan_many(models, {"dims": [{}, {"batch": 2}]}).to_pylist()
    assert [(row["input"], row["dims"]) for row in rows] == [(model, dims) for model in models for dims in ("{}", '{"batch":2}')]
    planned = {(model, "{}") for model in (models[0], models[2], models[3])}
    for row in rows:
        good = (row["input"], row["dims"]) in planned
        assert (row["error"] is None) == good, row
        assert (row["peak"] is not None) == good
        assert (row["hash"] is None) == row["input"].endswith("missing.onnx")
        if not good:
            assert row["input"] in row["error"]
            assert {row[name] for name in ("bound", "proven", "weights", "total", "status", "ms")} == {None}


def test_without_an_answer_the_bound_is_there(models: list[str]) -> None:
    (row,) = stowagepy.plan_many(models[:1], {"capacity": 100}).to_pylist()
    assert (row["peak"], row["proven"], row["total"], row["status"], row["error"]) == (None, None, None, "infeasible", None)
    assert row["bound"] > 100


def test_graphs_are_inputs_too(models: list[str]) -> None:
    graph = stowagepy.load(models[0])
    (of_graph,) = stowagepy.plan_many([graph]).to_pylist()
    (of_file,) = stowagepy.plan_many(models[:1]).to_pylist()
    assert of_graph["input"] == "chain"
    assert of_graph["peak"] == of_file["peak"]


def test_options_for_graphs_are_an_error_of_tables(models: list[str]) -> None:
    rows = stowagepy.plan_many([models[0], models[2]], {"no_reuse": [True]}).to_pylist()
    assert rows[0]["error"] is None
    assert "no_reuse is for graphs" in rows[1]["error"]


def test_parquet_brings_back_the_same_table(models: list[str], tmp_path: pathlib.Path) -> None:
    import pyarrow.parquet

    table = stowagepy.plan_many(models, {"seed": [0, 7]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "t.parquet").equals(table)


def test_without_pyarrow_the_error_says_what_to_install(models: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install stowagepy\[fleet\]") as caught:
        stowagepy.plan_many(models)
    assert isinstance(caught.value, stowagepy.Error)


# ------------------------------------------------------------------------------------------------------------------------ grids


def test_a_grid_is_a_product_or_a_list() -> None:
    assert entries_of(None) == [{}]
    assert entries_of({"seed": [0, 1], "capacity": "1KiB"}) == [{"seed": 0, "capacity": "1KiB"}, {"seed": 1, "capacity": "1KiB"}]
    assert entries_of([{"seed": 3}, {}]) == [{"seed": 3}, {}]
    assert entries_of({"dims": {"batch": [1, 2], "seq": 8}}) == [{"dims": {"batch": 1, "seq": 8}}, {"dims": {"batch": 2, "seq": 8}}]
    assert entries_of({"dims": [{"batch": 1}, {}]}) == [{"dims": {"batch": 1}}, {"dims": {}}]


def test_options_have_one_spelling() -> None:
    one = settings_of({"capacity": "6MiB", "shapes": {"x": (1, 3)}, "dims": {"seq": 8, "batch": 1}, "time_limit": 1})
    other = settings_of({"time_limit": 1.0, "dims": {"batch": 1, "seq": 8}, "shapes": {"x": [1, 3]}, "capacity": 6 << 20, "seed": 0})
    assert one == other
    assert (one.dims, one.text) == ('{"batch":1,"seq":8}', '{"capacity":6291456,"shapes":{"x":[1,3]},"time_limit":1.0}')
    assert settings_of({"seed": np.int64(7), "fold": np.bool_(True), "dims": {"n": np.int32(3)}}) == settings_of({"dims": {"n": 3}, "fold": True, "seed": 7})
    assert settings_of({"time_limit": None, "fuse_inputs_up_to": "0"}).text == "{}"
    assert pickle.loads(pickle.dumps(one)) == one


@pytest.mark.parametrize(
    ("grid", "error", "words"),
    [
        ({"capcity": ["1MiB"]}, stowagepy.UnknownNameError, "'capcity'"),
        ({"capacity": ["much"]}, stowagepy.InvalidError, "capacity: 'much'"),
        ({"padding": ["some"]}, stowagepy.UnknownNameError, "'own' or 'none'"),
        ({"solver": ["magic"]}, stowagepy.UnknownNameError, "'magic'"),
        ({"seed": ["1"]}, stowagepy.InvalidError, "seed"),
        ({"dims": {"batch": [1.5]}}, stowagepy.InvalidError, "dims"),
        ({"dims": ["batch"]}, stowagepy.InvalidError, "dims"),
        ({"shapes": {"x": 3}}, stowagepy.InvalidError, "shapes"),
    ],
)
def test_a_grid_that_no_plan_can_have_is_refused(models: list[str], grid: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        stowagepy.plan_many(models, grid, Refusing())


# ------------------------------------------------------------------------------------------------------------------------ memo


def test_a_second_run_plans_nothing(models: list[str], tmp_path: pathlib.Path) -> None:
    good = [models[0], models[2], models[3]]
    first = stowagepy.plan_many(good, GRID, memo=tmp_path / "memo")
    second = stowagepy.plan_many(good, GRID, Refusing(), memo=tmp_path / "memo")
    assert second.equals(first)  # times too
    with pytest.raises(Asked):
        stowagepy.plan_many(good, {"seed": [99]}, Refusing(), memo=tmp_path / "memo")


def test_the_memo_goes_by_content_and_version(models: list[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memo = tmp_path / "memo"
    stowagepy.plan_many(models[:1], memo=memo)
    copy = tmp_path / "copy.json"
    copy.write_bytes(pathlib.Path(models[0]).read_bytes())
    assert counted_plans([str(copy)], memo) == 0
    pathlib.Path(models[0]).write_text(graph_text([100, 200, 301]))
    assert counted_plans(models[:1], memo) == 1
    monkeypatch.setattr("stowagepy._fleet.__version__", "0.0.0")
    assert counted_plans([str(copy)], memo) == 1


def test_a_line_that_was_cut_off_is_planned_again(models: list[str], tmp_path: pathlib.Path) -> None:
    memo = tmp_path / "memo"
    good = [models[0], models[3]]
    first = figures(stowagepy.plan_many(good, memo=memo))
    whole = memo.read_bytes()
    for end in (len(whole) - 10, len(whole) - 1, whole.index(b"\n") + 5, 12, 0):
        memo.write_bytes(whole[:end])
        assert figures(stowagepy.plan_many(good, memo=memo)) == first
        assert counted_plans(good, memo) == 0, end


def test_errors_are_not_remembered(models: list[str], tmp_path: pathlib.Path) -> None:
    stowagepy.plan_many(models, memo=tmp_path / "memo")
    assert counted_plans(models, tmp_path / "memo") == 1  # the damaged one is tried again; the missing one cannot be


def test_another_file_is_no_memo(models: list[str]) -> None:
    before = pathlib.Path(models[0]).read_bytes()
    with pytest.raises(stowagepy.InvalidError, match="not a memo"):
        stowagepy.plan_many(models, memo=models[0])
    assert pathlib.Path(models[0]).read_bytes() == before
    with pytest.raises(stowagepy.FileError, match="cannot be opened"):
        stowagepy.plan_many(models, memo="/nowhere/at/all")


def counted_plans(inputs: list[str], memo: pathlib.Path) -> int:
    """How many tasks reach an executor."""
    counted: list[int] = []

    class Counting:
        def map(self, function: Callable[[list[Task]], object], chunks: list[list[Task]]) -> Iterator[object]:
            counted.extend(len(chunk) for chunk in chunks)
            return map(function, chunks)

    stowagepy.plan_many(inputs, None, Counting(), memo=memo)
    return sum(counted)


# ------------------------------------------------------------------------------------------------------------------- executors


def killing_pool() -> concurrent.futures.ProcessPoolExecutor:
    return concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def kill_later(pids: Callable[[], list[int]], after: int) -> Callable[[int], None]:
    """A function to call with how many rows are there: it kills a worker once there are `after`."""
    seen = [0]

    def tick(count: int) -> None:
        before, seen[0] = seen[0], seen[0] + count
        if before < after <= seen[0]:
            os.kill(pids()[0], signal.SIGKILL)

    return tick


@pytest.fixture
def each_tick(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], None]], None]:
    """Calls a function with the number of rows that have become ready."""
    import contextlib

    def install(tick: Callable[[int], None]) -> None:
        @contextlib.contextmanager
        def counted(*arguments: object) -> Iterator[Callable[[int], None]]:
            yield tick

        monkeypatch.setattr("stowagepy._fleet.counted", counted)

    return install


@pytest.fixture
def computed_here(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows were planned in this process because a worker did not: without it, an executor that never works would not be noticed."""
    counts: list[int] = []
    real = stowagepy._executors._here

    def counting(chunks: Iterator[list[Task]], *more: Any) -> None:
        given = list(chunks)
        counts.append(sum(map(len, given)))
        real(iter(given), *more)

    monkeypatch.setattr("stowagepy._executors._here", counting)
    return counts


def test_threads_give_the_same_table(fleet: list[str], expected: list[dict[str, Any]]) -> None:
    assert figures(stowagepy.plan_many(fleet, GRID)) == expected
    assert figures(stowagepy.plan_many(fleet, GRID, jobs=7)) == expected
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        assert figures(stowagepy.plan_many(fleet, GRID, threads)) == expected


def test_processes_give_the_same_table(fleet: list[str], expected: list[dict[str, Any]], computed_here: list[int]) -> None:
    with killing_pool() as processes:
        assert figures(stowagepy.plan_many(fleet, GRID, processes)) == expected
    with multiprocessing.get_context("spawn").Pool(2) as pool:  # imap
        assert figures(stowagepy.plan_many(fleet, GRID, pool)) == expected
    assert computed_here == [0, 0]


def test_plain_objects_with_map_do(fleet: list[str], expected: list[dict[str, Any]]) -> None:
    class Plain:
        def map(self, function: Callable[[Any], Any], chunks: list[Any]) -> list[Any]:
            return [function(pickle.loads(pickle.dumps(chunk))) for chunk in chunks]

    assert figures(stowagepy.plan_many(fleet, GRID, Plain())) == expected
    with pytest.raises(stowagepy.InvalidError, match="neither submit nor map"):
        stowagepy.plan_many(fleet[:1], GRID, object())


def test_a_killed_process_costs_nothing_but_time(fleet: list[str], expected: list[dict[str, Any]], each_tick: Any, computed_here: list[int]) -> None:
    with killing_pool() as processes:
        killed: list[int] = []

        def pids() -> list[int]:
            killed.extend(processes._processes)
            return killed

        each_tick(kill_later(pids, PLANS // 2))
        assert figures(stowagepy.plan_many(fleet, GRID, processes)) == expected
        assert killed
        assert 0 < computed_here[0] <= PLANS // 2
        with pytest.raises(concurrent.futures.process.BrokenProcessPool):
            processes.submit(os.getpid)


def test_what_workers_lose_is_computed_once_more_there_and_then_here(fleet: list[str], expected: list[dict[str, Any]]) -> None:
    class Losing:
        """Loses every third chunk, at the second attempt too if it has the last row."""

        def __init__(self) -> None:
            self.calls: list[int] = []

        def submit(self, function: Callable[[list[Task]], Any], chunk: list[Task]) -> Any:
            self.calls.append(len(chunk))
            future: concurrent.futures.Future[Any] = concurrent.futures.Future()
            if len(self.calls) % 3 == 0 or chunk[-1].row == PLANS - 1:
                future.cancel()
            else:
                future.set_result(function(chunk))
            return future

    losing = Losing()
    assert figures(stowagepy.plan_many(fleet, GRID, losing)) == expected
    assert max(losing.calls) == 16
    assert 1 in losing.calls, "the second attempt goes task by task"


def test_a_broken_executor_is_not_given_everything(fleet: list[str], expected: list[dict[str, Any]]) -> None:
    asked = [0]

    class Broken:
        def submit(self, *arguments: object) -> None:
            asked[0] += 1
            raise RuntimeError("broken")

    assert figures(stowagepy.plan_many(fleet, GRID, Broken())) == expected
    assert asked == [2], "once, and once more"


def test_a_name_that_is_not_utf8_is_a_row_with_an_error(models: list[str], tmp_path: pathlib.Path) -> None:
    name = os.path.join(os.fsencode(tmp_path), b"a\xff.json")
    pathlib.Path(os.fsdecode(name)).write_bytes(pathlib.Path(models[0]).read_bytes())
    rows = stowagepy.plan_many([os.fsdecode(name), models[0]]).to_pylist()
    assert rows[0]["error"].endswith("a\ufffd.json: its name is not UTF-8")
    assert rows[1]["error"] is None


def test_a_map_that_ends_early_is_completed_here(fleet: list[str], expected: list[dict[str, Any]]) -> None:
    class Ending:
        def map(self, function: Callable[[Any], Any], chunks: list[Any]) -> Iterator[Any]:
            for at, chunk in enumerate(chunks):
                if at == 5:
                    raise RuntimeError("a worker died")
                yield function(chunk)

    assert figures(stowagepy.plan_many(fleet, GRID, Ending())) == expected


def test_dask(fleet: list[str], expected: list[dict[str, Any]], each_tick: Any, computed_here: list[int]) -> None:
    distributed = pytest.importorskip("distributed", reason="NO DASK: plan_many is not tested on Dask")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        assert figures(stowagepy.plan_many(fleet, GRID, client.get_executor())) == expected
        killed = [worker["pid"] for worker in client.run(lambda: {"pid": os.getpid()}).values()]
        each_tick(kill_later(lambda: killed, PLANS // 2))
        assert figures(stowagepy.plan_many(fleet, GRID, client.get_executor())) == expected
        assert computed_here == [0, 0], "Dask itself starts another worker"
        assert not os.path.exists(f"/proc/{killed[0]}") or "Z" in pathlib.Path(f"/proc/{killed[0]}/stat").read_text()


def test_ray(fleet: list[str], expected: list[dict[str, Any]], each_tick: Any, computed_here: list[int]) -> None:
    ray = pytest.importorskip("ray", reason="NO RAY: plan_many is not tested on Ray")
    from ray.util.multiprocessing import Pool

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        with Pool(2) as pool:
            assert figures(stowagepy.plan_many(fleet, GRID, pool)) == expected
        assert computed_here == [0]
        with Pool(2) as pool:
            pids = list(set(pool.map(lambda _: os.getpid(), range(16), chunksize=1)))
            each_tick(kill_later(lambda: pids, PLANS // 2))
            assert figures(stowagepy.plan_many(fleet, GRID, pool)) == expected
        assert 0 < computed_here[1] < PLANS // 2
    finally:
        ray.shutdown()


# -------------------------------------------------------------------------------------------------------------------- interrupts


def test_ctrl_c_ends_it_and_the_memo_has_what_was_done(fleet: list[str], tmp_path: pathlib.Path, each_tick: Any) -> None:
    memo = tmp_path / "memo"
    interrupt = threading.Event()

    def tick(count: int) -> None:
        if not interrupt.is_set():
            interrupt.set()
            signal.raise_signal(signal.SIGINT)

    each_tick(tick)
    with pytest.raises(KeyboardInterrupt):
        stowagepy.plan_many(fleet, GRID, memo=memo, jobs=2)
    done = len(memo.read_text().splitlines()) - 1
    assert 0 < done < PLANS
    assert counted_plans(fleet, memo) >= 0
    rows = plan_rows(fleet, GRID, memo=memo)
    assert [row["error"] for row in rows] == [None] * PLANS


def hard_table() -> str:
    """No search of minutes reaches its bound: many items of nearly equal sizes."""
    random = np.random.default_rng(2)
    lower = random.integers(0, 1500, 1500)
    upper = lower + random.integers(300, 700, 1500)
    size = random.integers(800_000, 1_000_000, 1500)
    return "id,lower,upper,size\n" + "".join(f"r{i},{lower[i]},{upper[i]},{size[i]}\n" for i in range(1500))


def test_ctrl_c_ends_a_long_search_too(tmp_path: pathlib.Path) -> None:
    (tmp_path / "hard.csv").write_text(hard_table())
    (tmp_path / "quick.csv").write_text(table_text(1))
    start = time.monotonic()
    timer = threading.Timer(1.0, os.kill, [os.getpid(), signal.SIGINT])  # to the process, as a terminal does
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        stowagepy.plan_many([tmp_path / "quick.csv", tmp_path / "hard.csv"], {"time_limit": [600]}, memo=tmp_path / "memo", jobs=2)
    assert time.monotonic() - start < 60
    assert [json.loads(line)["status"] for line in (tmp_path / "memo").read_text().splitlines()[1:]] == ["optimal"]


def test_ctrl_c_ends_the_command_line_with_130(tmp_path: pathlib.Path) -> None:
    (tmp_path / "hard.csv").write_text(hard_table())
    (tmp_path / "quick.csv").write_text(table_text(1))
    command = [sys.executable, "-m", "stowagepy", "sweep", "quick.csv", "hard.csv", "--time-limit", "10m", "--memo", "memo", "--jobs", "2"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    memo = tmp_path / "memo"
    while not memo.exists() or len(memo.read_text().splitlines()) < 2:
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "stowagepy: stopped\n")


def test_an_interrupted_plan_is_no_row(models: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        interrupted = True
        peak = bound = weights = total = 0
        status = "feasible"

    monkeypatch.setattr("stowagepy._rows.plan_graph", lambda *arguments, **options: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        plan_chunk([Task(0, models[0], pathlib.Path(models[0]).read_bytes(), settings_of({}))])


def test_what_fails_everywhere_is_seen() -> None:
    """A bug must not be mistaken for a dead worker for ever."""

    class Broken:
        row = 0

    with pytest.raises(AttributeError):
        compute([Broken()], 1, None, 1, lambda results: None)  # type: ignore[list-item]


# ---------------------------------------------------------------------------------------------------------------- command line


def sweep(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "stowagepy", "sweep", *arguments], capture_output=True, text=True, check=False)


def without_times(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) | {"ms": None} for line in text.splitlines()]


def test_the_same_rows_as_the_program(models: list[str], project: pathlib.Path, tmp_path: pathlib.Path) -> None:
    inputs = [*models, str(project / "examples" / "small_cnn.json"), str(project / "examples" / "transformer_block.json")]
    for number, (code, options) in enumerate(
        [
            (0, ["--padding", "none", "--capacity", "200KiB", "--node-budget", "500"]),
            (0, ["--in-place", "off", "--seed", "3", "--alignment", "128", "--time-limit", "20s"]),
            (0, ["--zero-fill", "separate", "--base", "refreshable", "--keep-inputs", "--fold", "on", "--limit", "2", "--views", "off"]),
            (1, ["--shape", "x=1x3", "--batch-start", "same", "--fuse-inputs", "1KiB", "--capacity-total", "1MiB", "--time-limit", "500ms"]),
        ]
    ):
        here, there = tmp_path / f"here{number}.jsonl", tmp_path / f"there{number}.jsonl"
        python = sweep(*inputs, *options, "--out", str(here))
        program = subprocess.run(["stowage", "sweep", *inputs, *options, "--out", str(there)], capture_output=True, text=True, check=False)
        assert (python.returncode, program.returncode) == (code, code), python.stderr + program.stderr
        assert without_times(here.read_text()) == without_times(there.read_text())


def test_csv_is_the_same_text_as_the_programs(models: list[str]) -> None:
    inputs = [models[0], "no, \"such\" file.onnx"]
    python = sweep(*inputs, "--dim", "batch=1,2")
    program = subprocess.run(["stowage", "sweep", *inputs, "--dim", "batch=1,2", "--out", "-"], capture_output=True, text=True, check=False)
    assert python.stdout == program.stdout  # all rows fail, so there are no times
    assert (python.returncode, program.returncode) == (1, 1)
    assert len(python.stdout.splitlines()) == 5


def test_data_gives_the_same_rows_as_the_program(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    inputs = [str(path) for folder in ("onnx", "tflite", "graphs") for path in sorted((data / folder).iterdir())]
    options = ["--node-budget", "2000", "--dim", "batch=1,2"]
    for each in ([], options):
        here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
        python = sweep(*inputs, *each, "--out", str(here))
        program = subprocess.run(["stowage", "sweep", *inputs, *each, "--out", str(there)], capture_output=True, text=True, check=False)
        assert python.returncode == program.returncode
        assert without_times(here.read_text()) == without_times(there.read_text())


def test_parquet_and_baselines(models: list[str], tmp_path: pathlib.Path) -> None:
    import pyarrow.parquet

    good = [models[0], models[3]]
    for suffix in ("parquet", "csv", "jsonl"):
        assert sweep(*good, "--out", str(tmp_path / f"old.{suffix}"), "--memo", str(tmp_path / "memo")).returncode == 0
    assert pyarrow.parquet.read_table(tmp_path / "old.parquet").num_rows == 2
    pathlib.Path(models[0]).write_text(graph_text([100, 400, 300]))
    for suffix in ("parquet", "csv", "jsonl"):
        old = str(tmp_path / f"old.{suffix}")
        grown = sweep(*good, "--baseline", old, "--fail-if-grows", "2%")
        assert grown.returncode == 6
        assert f"{models[0]}: from 500 to 700 bytes (+40.00%)" in grown.stderr
        assert sweep(*good, "--baseline", old, "--fail-if-grows", "1KiB").returncode == 0
        assert "no row has" in sweep(*good, "--seed", "1", "--baseline", old).stderr
    for name, content in (("bad.parquet", b"x"), ("bad.csv", b"a,b\n"), ("bad.jsonl", b"{\n"), ("list.jsonl", b'{"input":"a"}\n')):
        (tmp_path / name).write_bytes(content)
        bad = sweep(*good, "--baseline", str(tmp_path / name))
        assert bad.returncode == 1 and name in bad.stderr and "Traceback" not in bad.stderr, bad.stderr


def test_wrong_command_lines(models: list[str], tmp_path: pathlib.Path) -> None:
    lines = [
        ([], "required"),
        (["--dim", "batch"], "batch=1,2,4"),
        (["--dim", "batch=1,1"], "batch=1,2,4"),
        (["--capacity", "much"], "'much'"),
        (["--fail-if-grows", "2%"], "--baseline"),
        (["--out", "t.txt"], ".parquet"),
        (["--out", models[2]], "never overwritten"),
        (["--html", "page.html"], "stowage sweep"),
        (["--time-limit", "soon"], "not a time"),
    ]
    for more, words in lines:
        done = sweep(*(models[2:3] if more else []), *more)
        assert done.returncode == 2, more
        assert words in done.stderr, done.stderr
