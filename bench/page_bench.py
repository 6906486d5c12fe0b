#!/usr/bin/env python3
"""How fast a page with many tensors is: first paint and frames a second, in a browser without a GPU.

  bench/page_bench.py [--program build/release/apps/stowage/stowage | --page FILE.html] [--tensors 100000] [--seconds 3]

Needs playwright (PyPI) and chromium. The program plans a graph of so many tensors and writes its page; without one, viewer/test/make_page.js makes a page. Times are from the page's own clock: first paint counts
from the start of navigation, reading and decoding the file included; frames are the times between the calls of requestAnimationFrame while the pointer drags
the map (pan), or the wheel turns (zoom); "draw" is what a frame of the viewer itself takes.
"""

import argparse
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = """() => { window.marks = []; const tick = (now) => { window.marks.push(now); window.ticking = requestAnimationFrame(tick); }; requestAnimationFrame(tick); }"""
STOP = """() => { cancelAnimationFrame(window.ticking); const gaps = []; for (let i = 1; i < window.marks.length; ++i) gaps.push(window.marks[i] - window.marks[i - 1]); return gaps; }"""


def make_page(folder, tensors):
    page = pathlib.Path(folder) / "page.html"
    subprocess.run(["node", str(ROOT / "viewer/test/make_page.js"), str(page), "--tensors", str(tensors)], check=True)
    return page


def graph_of(tensors):
    """Layers that each read what the last one left and something from farther back."""
    draw = random.Random(1)
    graph = {"schema": "stowage.graph/1", "name": "many", "tensors": [{"name": "input", "size": 65536, "flags": ["input"]}], "ops": []}
    kinds = ["MatMul", "Add", "Softmax", "Norm", "Mul", "Gelu"]
    for number in range(1, tensors):
        layer, part = divmod(number, 24)
        name = f"model/layers/{layer}/{kinds[part % 6].lower()}_{part}"
        graph["tensors"].append({"name": name, "size": 256 * draw.randint(1, 4096)})
        inputs = sorted({number - 1, max(0, number - draw.randint(1, 400 if part == 0 else 8))})
        graph["ops"].append({"name": name, "kind": kinds[part % 6], "inputs": inputs, "outputs": [number]})
    return graph


def write_page(program, folder, tensors):
    graph, page = pathlib.Path(folder) / "many.json", pathlib.Path(folder) / "many.html"
    graph.write_text(json.dumps(graph_of(tensors)))
    times = []
    for options in ([], ["--html", str(page)], ["--html", str(page), "--explain-time", "0"]):
        start = time.perf_counter()
        subprocess.run([program, "plan", str(graph), *options], check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    print(f"plan {times[0]:.2f} s, with a page {times[1]:.2f} s, with a page without an explanation {times[2]:.2f} s")
    return page


def drag(page, box, seconds):
    """Back and forth over the map, as fast as the browser takes it."""
    left, top = box["x"] + 150, box["y"] + box["height"] * 0.6
    page.mouse.move(left, top)
    page.mouse.down()
    start = page.evaluate("performance.now()")
    turn = 0
    while page.evaluate("performance.now()") - start < 1000 * seconds:
        turn += 1
        page.mouse.move(left + (300 if turn % 2 else 0), top + (40 if turn % 2 else 0), steps=24)
    page.mouse.up()


def wheel(page, box, seconds):
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.6)
    start = page.evaluate("performance.now()")
    turn = 0
    while page.evaluate("performance.now()") - start < 1000 * seconds:
        turn += 1
        page.mouse.wheel(0, -120 if turn % 16 < 8 else 120)
        page.wait_for_timeout(16)


def hover(page, box, seconds):
    start = page.evaluate("performance.now()")
    while page.evaluate("performance.now()") - start < 1000 * seconds:
        page.mouse.move(box["x"] + 150, box["y"] + box["height"] * 0.5)
        page.mouse.move(box["x"] + box["width"] - 60, box["y"] + box["height"] * 0.9, steps=60)


def measure(page, name, act, box, seconds):
    page.evaluate(RECORD)
    look = page.evaluate("window.stowage.look()")
    before, visible = look["frames"]["drawn"], look["stages"][0]["visible"]
    act(page, box, seconds)
    gaps = sorted(page.evaluate(STOP))
    after = page.evaluate("window.stowage.look()")["frames"]
    worst = gaps[int(len(gaps) * 0.95)]
    print(f"{name:<8}{visible:>12}{1000 / statistics.mean(gaps):>10.1f}{statistics.median(gaps):>12.1f}{worst:>12.1f}{gaps[-1]:>10.1f}{after['drawn'] - before:>10}")


def zoom_in(page, box, times):
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.7)
    for _ in range(times):
        page.mouse.wheel(0, -240)
        page.wait_for_timeout(60)
    page.wait_for_timeout(800)


def run(browser, file, seconds):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(file.resolve().as_uri())
    times = page.evaluate("window.stowage.ready")
    look = page.evaluate("window.stowage.look()")
    stage = look["stages"][0]
    print(f"{file.stat().st_size / 2**20:.1f} MiB, {stage['holders']} holders, {stage['rectangles']} rectangles in the arena")
    print(f"first paint {times['painted']:.0f} ms (script starts {times['started']:.0f}, decoded {times['read']:.0f}); a whole map {stage['paint']:.1f} ms\n")
    print(f"{'':<8}{'rectangles':>12}{'frames/s':>10}{'median ms':>12}{'95% ms':>12}{'most ms':>10}{'drawn':>10}")
    box = page.locator(".stage .over").first.bounding_box()
    measure(page, "zoom", wheel, box, seconds)
    measure(page, "hover", hover, box, seconds)
    page.keyboard.press("0")
    page.wait_for_timeout(600)
    for times_in in (1, 2, 3, 4):
        zoom_in(page, box, times_in)
        measure(page, "pan", drag, box, seconds)
    page.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensors", type=int, default=100000)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--program")
    parser.add_argument("--seconds", type=float, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        if arguments.program:
            file = write_page(arguments.program, folder, arguments.tensors)
        else:
            file = arguments.page or make_page(folder, arguments.tensors)
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox", "--disable-gpu"])
        print(f"{platform.machine()}, {os.cpu_count()} cores, chromium {browser.version}")
        run(browser, file, arguments.seconds)
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
