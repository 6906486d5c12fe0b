"""The package as a user meets it."""

import json
import pathlib
import pickle
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
import stowagepy

RELU = json.dumps(
    {
        "schema": "stowage.graph/1",
        "name": "relu",
        "tensors": [
            {"name": "x", "size": 4096, "flags": ["input"]},
            {"name": "y", "size": 4096, "flags": ["output"]},
        ],
        "ops": [{"name": "relu", "inputs": [0], "outputs": [1], "in_place": [[0, 0]]}],
    }
).encode()


@pytest.fixture
def block(project: pathlib.Path) -> pathlib.Path:
    return project / "examples" / "transformer_block.json"


def test_a_plan_has_figures_and_offsets() -> None:
    plan = stowagepy.plan(RELU, name="relu.json")
    assert (plan.peak, plan.bound, plan.proven, plan.fits) == (4096, 4096, True, True)
    assert plan.offsets.dtype == np.int64
    assert plan.offsets.tolist() == [0, 0]
    assert plan.arenas[0].size == 4096
    assert "4.00 KiB, smallest possible (proven)" in repr(plan)


def test_offsets_are_a_view_that_keeps_the_plan_alive() -> None:
    offsets = stowagepy.plan(RELU).offsets
    assert offsets.tolist() == [0, 0]
    with pytest.raises(ValueError, match="read-only"):
        offsets[0] = 1
    plan = stowagepy.plan(RELU)
    assert np.shares_memory(plan.offsets, plan.offsets)


def test_sizes_may_be_words(block: pathlib.Path) -> None:
    plan = stowagepy.plan(block, capacity="1 KiB")
    assert not plan.fits
    assert plan.status == "infeasible"
    assert "101376 more than the 1024 available" in plan.shortage
    with pytest.raises(stowagepy.InvalidError, match="capacity: 'much'"):
        stowagepy.plan(block, capacity="much")


def test_the_same_bytes_as_the_command_line(block: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "plan.json"
    subprocess.run(["stowage", "plan", str(block), "-o", str(out)], check=True, capture_output=True)
    assert stowagepy.plan(block).to_json() == out.read_text()


def test_pickle_and_equality(block: pathlib.Path) -> None:
    plan = stowagepy.plan(block)
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    assert again.to_json() == plan.to_json()
    assert hash(again) == hash(plan)
    assert again.html(explain_time=0).startswith("<!")
    assert plan != stowagepy.plan(RELU)
    graph = plan.graph
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert graph != stowagepy.load(RELU)
    assert graph != 3


def test_a_missing_file_is_an_os_error() -> None:
    with pytest.raises(FileNotFoundError) as caught:
        stowagepy.plan("nowhere.onnx")
    assert isinstance(caught.value, stowagepy.Error)
    assert isinstance(caught.value, OSError)
    assert caught.value.file == "nowhere.onnx"


def test_an_error_says_where_it_is() -> None:
    broken = RELU.replace(b'"size": 4096, "flags": ["output"]', b'"size": -1, "flags": ["output"]')
    with pytest.raises(stowagepy.Error) as caught:
        stowagepy.plan(broken, name="relu.json")
    assert caught.value.file == "relu.json"
    assert caught.value.path is not None and caught.value.path.startswith("tensors[1]")
    cycle = RELU.replace(b'"inputs": [0]', b'"inputs": [1]')
    with pytest.raises(stowagepy.InvalidError) as caught:
        stowagepy.plan(cycle)
    assert caught.value.tensor == "y"
    assert pickle.loads(pickle.dumps(caught.value)).tensor == "y"


def test_unknown_words_are_refused(block: pathlib.Path) -> None:
    with pytest.raises(stowagepy.UnknownNameError, match="magic"):
        stowagepy.plan(block, solver="magic")
    with pytest.raises(stowagepy.UnknownNameError, match="'own' or 'none'"):
        stowagepy.plan(block, padding="some")
    with pytest.raises(TypeError):
        stowagepy.plan(block, capcity="1MiB")


def test_verify_finds_what_is_wrong(block: pathlib.Path, tmp_path: pathlib.Path) -> None:
    plan = stowagepy.plan(block)
    assert plan.verify() == []
    content = json.loads(plan.to_json())
    content["placements"][0]["size"] += 1
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(content))
    findings = stowagepy.load_plan(path, plan.graph).verify()
    assert findings and findings[0].rule == "size"


def test_explain_and_page(block: pathlib.Path) -> None:
    plan = stowagepy.plan(block)
    explanation = plan.explain(time_limit=2)
    assert explanation.data["schema"] == "stowage.explain/1"
    assert str(explanation)
    assert "<iframe srcdoc=" in plan._repr_html_()


def test_an_earlier_plan_can_be_kept(block: pathlib.Path) -> None:
    first = stowagepy.plan(block)
    second = stowagepy.plan(block, previous=first, keep_offsets=True)
    assert second.offsets.tolist() == first.offsets.tolist()


def test_progress_is_called_and_its_exceptions_come_through() -> None:
    def fail(arena: str, peak: int, bound: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        hard_search(time_limit=20, progress=fail)


def hard_search(**options: object) -> stowagepy.Packing:
    """Work for a long time: a rectangle that was cut into more than a thousand pieces is put together again."""
    random = np.random.default_rng(0)
    pieces = [(0, 20_000, 0, 1 << 40)]
    while len(pieces) < 1_500:
        which = random.integers(len(pieces))
        begin, end, low, high = pieces[which]
        if random.random() < 0.5 and end - begin > 1:
            cut = int(random.integers(begin + 1, end))
            pieces[which] = (begin, cut, low, high)
            pieces.append((cut, end, low, high))
        elif high - low > 1:
            cut = int(random.integers(low + 1, high))
            pieces[which] = (begin, end, low, cut)
            pieces.append((begin, end, cut, high))
    lower, upper, low_bytes, high_bytes = np.array(pieces).T
    return stowagepy.pack(lower, upper, high_bytes - low_bytes, **options)  # type: ignore[arg-type]


def test_ctrl_c_ends_a_search_with_the_best_so_far() -> None:
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.monotonic()
    packing = hard_search(time_limit=120)
    assert packing.interrupted
    assert packing.fits
    assert time.monotonic() - start < 60


def test_arrays() -> None:
    packing = stowagepy.pack([0, 1], [2, 3], [100, 100])
    assert (packing.peak, packing.bound, packing.proven) == (200, 200, True)
    joined = stowagepy.pack([0, 1], [2, 3], [100, 100], joins=[(0, 1)])
    assert joined.offsets.tolist() == [0, 0]
    apart = stowagepy.pack([0, 5], [1, 6], [100, 100], apart=[(0, 1)])
    assert apart.peak == 200
    fixed = stowagepy.pack([0, 0], [2, 2], [100, 50], alignments=[1, 64], fixed=[0, -1])
    assert fixed.offsets.tolist() == [0, 128]
    assert stowagepy.pack([], [], []).peak == 0


def test_arrays_that_make_no_sense() -> None:
    with pytest.raises(stowagepy.InvalidError, match="lower has 1 values, sizes 2"):
        stowagepy.pack([0], [1, 1], [1, 1])
    with pytest.raises(stowagepy.InvalidError, match="whole numbers"):
        stowagepy.pack([0.5], [1], [1])
    with pytest.raises(stowagepy.InvalidError, match="not a pair"):
        stowagepy.pack([0], [1], [1], joins=[(0, 0)])
    with pytest.raises(stowagepy.Error, match=r"items\[0\]"):
        stowagepy.pack([0], [1], [-1])


def test_tables(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("id,lower,upper,size\na,0,2,100\nb,1,3,50\n")
    packing = stowagepy.pack_table(table)
    assert packing.peak == 150
    assert packing.to_csv().splitlines()[0].endswith("offset")
    with pytest.raises(stowagepy.InvalidError, match="pack_table"):
        stowagepy.plan(table)


def test_eight_threads_plan_one_graph(block: pathlib.Path) -> None:
    graph = stowagepy.load(block)
    expected = stowagepy.plan(graph).to_json()
    results: list[str] = []

    def work() -> None:
        for _ in range(20):
            results.append(stowagepy.plan(graph).to_json())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 160
    assert set(results) == {expected}
