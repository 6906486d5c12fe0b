#!/usr/bin/env python3
"""Tests of the HTML report in Firefox, at the size of a desktop and of a phone: that everything which differs from browser to browser works
there too. tests/page/page_test.py has the rest.

  tests/page/firefox_test.py PROGRAM [--keep DIR]

A program (`stowage`) makes the pages. Exit status 77, with a line that says so, where there is no Firefox (Debian's firefox-esr, or $FIREFOX).
"""

import argparse
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

from browser import PHONE, WIDE, program_pages
from firefox import FIREFOX, Firefox

SIZES = {"wide": (WIDE["width"], WIDE["height"]), "phone": (PHONE["viewport"]["width"], PHONE["viewport"]["height"])}
OVERFLOW = "return [document.scrollingElement.scrollWidth, innerWidth]"
BOX = """const over = document.querySelector('.stage canvas.over').getBoundingClientRect();
  return [over.left, over.top, over.width, over.height]"""
# How many colours the picture has, and which part of it is not of the most frequent one.
COLOURS = """const canvas = document.querySelector('.stage canvas');
  const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  const counts = new Map();
  for (const each of pixels) counts.set(each, (counts.get(each) || 0) + 1);
  return [counts.size, 1 - Math.max(...counts.values()) / pixels.length]"""
LOOK = "return window.stowage.look()"


def faults(own):
    """What the browser has complained about since it last told."""
    own.call("Marionette:SetContext", {"value": "chrome"})
    found = own.run("""const all = Services.console.getMessageArray().filter((each) => each instanceof Ci.nsIScriptError && /^file:/.test(each.sourceName));
      Services.console.reset(); return all.map((each) => `${each.errorMessage} (${each.lineNumber})`);""")
    own.call("Marionette:SetContext", {"value": "content"})
    return found


def wait_for(own, script, what):
    for _ in range(200):
        if value := own.run(script):
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what}: {own.run(LOOK)}")


def settled(own):
    return wait_for(own, "return window.stowage.look().then((look) => look.stages && look.stages.some((stage) => stage && stage.moving) ? null : look)", "it rests")


# ---------------------------------------------------------------------------------------------------------------- checks


def shows_itself(own, name):
    widths = own.run(OVERFLOW)
    assert widths[0] <= widths[1], widths
    assert own.run("return document.getElementById('message').hidden && document.querySelector('h1').textContent.trim() !== ''")
    _, _, width, height = own.run(BOX)
    assert width > 300 and height > 200, (width, height)
    colours, part = own.run(COLOURS)
    assert colours > 8 and part > 0.05, (colours, part)
    shown = own.picture()
    own.run("for (const each of document.querySelectorAll('canvas')) each.style.visibility = 'hidden'")
    assert own.picture() != shown, "the picture is not on the screen"


def pointer_and_keys_work(own, name):
    left, top, width, height = own.run(BOX)
    if name == "replay":
        own.point(left + width / 2, top + height / 5)
        assert own.run("return document.querySelector('.tooltip dl').textContent").startswith("requested")
        whole = own.run(LOOK)["view"]
        own.wheel(left + width / 2, top + height / 5, -240)
        wait_for(own, f"return window.stowage.look().then((look) => look.view.x1 - look.view.x0 < {whole['x1'] - whole['x0']})", "the wheel zooms")
        own.press("?")
        assert own.run("return document.querySelector('dialog').open")
        return
    holder = find_holder(own)
    tooltip = own.run("return document.querySelector('.tooltip-title').textContent")
    own.point(*holder, click=True)
    look = settled(own)
    assert look["state"]["selected"], look["state"]
    title = own.run("return document.querySelector('#side-body h3').textContent")
    assert title[:12] == tooltip[:12], (title, tooltip)
    whole = look["stages"][-1]["view"]
    own.wheel(*holder, -240)
    near = settled(own)["stages"][-1]["view"]
    assert near["x1"] - near["x0"] < whole["x1"] - whole["x0"], (near, whole)
    own.press("n")
    look = settled(own)
    assert look["state"]["step"], look["state"]
    own.press("?")
    assert own.run("return document.querySelector('dialog').open")


def find_holder(own):
    """A place on the last map, in the window, where a holder is; the pointer is there."""
    own.run("[...document.querySelectorAll('.stage canvas.over')].at(-1).scrollIntoView({block: 'center'})")
    left, top = own.run("const over = [...document.querySelectorAll('.stage canvas.over')].at(-1).getBoundingClientRect(); return [over.left, over.top]")
    box = settled(own)["stages"][-1]["box"]
    for row in range(1, 8):
        for column in range(1, 12):
            x, y = left + box["left"] + box["mapWidth"] * column / 12, top + box["map"]["top"] + box["map"]["height"] * (1 - row / 9)
            own.point(x, y)
            hover = own.run(LOOK)["hover"]
            if hover and hover["holder"] >= 0:
                return x, y
    raise AssertionError("there is no holder on the map")


def saves_files(own, name):
    for label, start in (("Save the view as SVG", b"<?xml"), ("Save the view as PNG", b"\x89PNG"), ("as CSV", b"event," if name == "replay" else b"plan,")):
        for old in own.downloads.iterdir():
            old.unlink()
        own.run("document.querySelector(`[aria-label*='${arguments[0]}']`).click()", label)
        for _ in range(200):
            files = [each for each in own.downloads.iterdir() if not each.name.endswith(".part") and each.stat().st_size > 0]
            if files:
                break
            time.sleep(0.02)
        assert len(files) == 1 and files[0].read_bytes().startswith(start), (label, files)


def goes_dark(own, name):
    before = own.picture()
    own.run("document.querySelector('[aria-label=\"Light or dark\"]').click()")
    colour = own.run("return getComputedStyle(document.body).backgroundColor")
    assert sum(int(part) for part in colour[4:-1].split(",")[:3]) < 150, colour
    wait_for(own, "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))", "a frame")
    assert own.picture() != before


CHECKS = [shows_itself, pointer_and_keys_work, saves_files, goes_dark]


def run(own, pages):
    failed, count = [], 0
    for size, pixels in SIZES.items():
        own.resize(*pixels)
        for name, file in pages.items():
            for check in CHECKS if size == "wide" else CHECKS[:2]:
                count += 1
                try:
                    own.open(file)
                    check(own, name)
                    complaints = faults(own)
                    assert not complaints, complaints
                    print(f"ok    Firefox, {size}: {name}: {check.__name__}", flush=True)
                except Exception:  # each check stands alone
                    failed.append(f"Firefox, {size}: {name}: {check.__name__}")
                    print(f"FAIL  {failed[-1]}\n{traceback.format_exc()}", flush=True)
    print(f"{count - len(failed)} of {count} checks passed in Firefox" + "".join(f"\n  failed: {each}" for each in failed))
    return 1 if failed or count == 0 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("--keep", type=pathlib.Path, help="write the pages into this folder")
    arguments = parser.parse_args()
    if shutil.which(FIREFOX) is None:
        print(f"** NOT TESTED: there is no {FIREFOX}; no page was opened in Firefox")
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        pages = program_pages(str(pathlib.Path(arguments.program).resolve()), folder)
        with Firefox() as own:
            return run(own, pages)


if __name__ == "__main__":
    sys.exit(main())
