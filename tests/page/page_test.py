#!/usr/bin/env python3
"""Tests of the HTML report in a browser.

  tests/page/page_test.py [PAGES_DIR_OR_PROGRAM…] [-k PART] [--keep DIR]

Without arguments viewer/test/make_page.js makes the pages; a program (`stowage`) makes its own from examples; a directory has them already. Which checks a
page gets depends on what is in it: one plan, two, or a replay. Needs playwright (PyPI), chromium (Debian, or $CHROMIUM) and, without arguments, node.
Every check opens the page offline, in a separate context, and fails on a console error, a dialog or any request except for the file itself.
"""

import argparse
import pathlib
import sys
import tempfile
import traceback

from playwright.sync_api import sync_playwright

import browser as browsing
from browser import PHONE, Opened, close
from common_checks import COMMON, clips_nothing, opens, saves_csv
from plan_checks import ALSO_OF_TWO, PLANS, hostile_names_stay_text


# ------------------------------------------------------------------------------------------------------------ two plans


def two_maps_share_their_steps(browser, file):
    with Opened(browser, file) as own:
        assert own.page.locator(".stage:visible").count() == 2
        box = own.box(1)
        own.wheel(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, -240)
        first, second = [own.view(stage) for stage in (0, 1)]
        assert all(close(first[key], second[key]) for key in ("x0", "x1", "y0", "y1")), "a pixel is as many bytes and steps in both"
        choice = own.page.get_by_label("Plans shown")
        for value in ("0", "1"):
            choice.select_option(value)
            assert own.page.locator(".stage:visible").count() == 1
        choice.select_option("both")


def an_inserted_op_shifts_nothing(browser, file):
    """Of the page of two plans of which one has an op more: what did not move lies at the same place in both maps."""
    with Opened(browser, file) as own:
        if "inserted" not in str(file):
            return
        middle = 6
        assert own.look()["stages"][0]["steps"] == own.look()["stages"][1]["steps"] == 13
    for plan, title in ((0, f"After step {middle - 1}: no op of this plan"), (1, f"Step {middle}: inserted_op")):
        with Opened(browser, file, f"#step={plan}.{middle}&panel=selection") as own:
            assert own.text("#side-body h3").startswith(title), own.text("#side-body h3")
    for plan, number in ((0, middle), (1, middle + 1)):
        with Opened(browser, file, f"#step={plan}.{middle + 1}&panel=selection") as own:
            assert own.text("#side-body h3").startswith(f"Step {number}: node_conv2d_3"), own.text("#side-body h3")


def changes_lead_into_the_maps(browser, file):
    with Opened(browser, file) as own:
        own.page.locator("#side-changes").click()
        rows = own.page.locator("#side-body .rows tr")
        assert rows.count() >= 1
        assert own.look()["state"]["colour"] == "change" and own.page.locator(".legend-entry").count() >= 1
        rows.first.locator("a").first.click()
        assert own.settled()["state"]["selected"]
        own.page.locator("#side-changes").click()
        pressed = own.page.locator(".chip:not([disabled])")
        count = rows.count()
        pressed.first.click()
        assert own.page.locator("#side-body .rows tr").count() < count


# --------------------------------------------------------------------------------------------------------------- replay


def replay_zooms_and_says_values(browser, file):
    with Opened(browser, file) as own:
        canvas = own.page.locator("canvas.replay").bounding_box()
        x, y = canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 4  # on the curves
        own.page.mouse.move(x, y)
        facts = own.page.locator(".tooltip dt").all_inner_texts()
        assert facts == ["requested", "reserved", "free", "largest free block"], facts
        whole = own.look()["view"]
        own.page.mouse.wheel(0, -240)
        own.page.wait_for_timeout(150)
        near = own.look()["view"]
        assert near["x1"] - near["x0"] < whole["x1"] - whole["x0"]
        own.page.mouse.down()
        own.page.mouse.move(x + 100, y, steps=4)
        own.page.mouse.up()
        assert own.look()["view"]["x0"] < near["x0"]
        moved = own.look()["view"]
        fragment = own.fragment()
        own.page.keyboard.press("0")
        assert own.look()["view"] == whole
        own.page.locator("summary").click()
        assert own.page.locator("tbody tr").count() >= 2
    with Opened(browser, file, fragment) as own:
        assert all(abs(own.look()["view"][key] - moved[key]) < 0.02 for key in moved), fragment


def replay_has_help(browser, file):
    with Opened(browser, file) as own:
        own.page.keyboard.press("?")
        dialog = own.page.locator("dialog")
        assert dialog.is_visible() and "zoom" in dialog.inner_text()
        own.page.keyboard.press("Escape")
        assert dialog.is_hidden()
        own.page.get_by_label("Help", exact=True).first.click()
        assert dialog.is_visible()


def replay_takes_fingers(browser, file):
    with Opened(browser, file, **PHONE) as own:
        canvas = own.page.locator("canvas.replay").bounding_box()
        x, y = canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 4
        whole = own.look()["view"]
        own.pinch(x, y, 60, 180)
        near = own.look()["view"]
        assert near["x1"] - near["x0"] < 0.6 * (whole["x1"] - whole["x0"]), (near, whole)
        assert close((near["x0"] + near["x1"]) / 2, (whole["x0"] + whole["x1"]) / 2, 0.2), (near, whole)
        own.page.touchscreen.tap(x, y)
        assert own.page.locator(".tooltip dt").count() >= 4, "a tap says what is there"


def replay_shows_blocks(browser, file):
    with Opened(browser, file) as own:
        canvas = own.page.locator("canvas.replay").bounding_box()
        for n in range(60):
            own.page.mouse.move(canvas["x"] + canvas["width"] * (0.1 + 0.8 * (n % 12) / 12), canvas["y"] + canvas["height"] * (0.93 - 0.08 * (n // 12)))
            if own.page.locator(".tooltip-title").inner_text() == "block":
                break
        facts = own.page.locator(".tooltip dt").all_inner_texts()
        assert facts[:4] == ["size", "allocated", "freed", "address"], facts
        name, text = own.download("Save the blocks in view as CSV")
        lines = text.decode().splitlines()
        assert name.endswith(".blocks.csv") and lines[0] == "first_event,end_event,address,bytes,stream" and len(lines) > 10
        words = own.text("p.quiet")
        assert f"{len(lines) - 1:,} blocks" in words, words


PAIRS = [two_maps_share_their_steps, an_inserted_op_shifts_nothing, changes_lead_into_the_maps]


# Pages that are there for a few checks alone: what else they show, others do too.
ALONE = {"large": [opens, saves_csv, *PLANS], "layered": [clips_nothing, saves_csv, *PLANS[:4]], "inserted": [clips_nothing, saves_csv, *PAIRS]}


# Kinds of sample pages whose likes the program writes too: those get the common checks.
TWICE = ("plain", "diff", "replay")


def checks_for(browser, name, file):
    common = [opens] if file.stem in TWICE else COMMON
    for part, checks in ALONE.items():
        if part in name:
            return checks
    with Opened(browser, file) as own:
        stages = own.look().get("stages", [])
    if not stages:
        return [*common, replay_zooms_and_says_values, replay_has_help, replay_takes_fingers, replay_shows_blocks]
    own = [*PAIRS, *ALSO_OF_TWO] if len(stages) == 2 else PLANS
    return [*common, *own, *([hostile_names_stay_text] if "hostile" in name else [])]


def run(browser, pages, part):
    failed = []
    count = 0
    for name, file in pages.items():
        for check in checks_for(browser, name, file):
            if part and part not in f"{name}: {check.__name__}":
                continue
            count += 1
            try:
                check(browser, file)
                print(f"ok    {name}: {check.__name__}", flush=True)
            except Exception:  # each check stands alone
                failed.append(f"{name}: {check.__name__}")
                print(f"FAIL  {failed[-1]}\n{traceback.format_exc()}", flush=True)
    print(f"{count - len(failed)} of {count} checks passed" + "".join(f"\n  failed: {each}" for each in failed))
    return 1 if failed or count == 0 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", metavar="PAGES_DIR_OR_PROGRAM")
    parser.add_argument("-k", dest="part", help="only checks that have this in 'page: check'")
    parser.add_argument("--keep", type=pathlib.Path, help="write the pages into this folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        pages = {} if arguments.sources else browsing.sample_pages(folder)
        for source in arguments.sources:
            pages.update(browsing.pages_of(source, folder))
        browser = playwright.chromium.launch(executable_path=browsing.CHROMIUM, args=["--no-sandbox"])
        try:
            return run(browser, pages, arguments.part)
        finally:
            browser.close()


if __name__ == "__main__":
    sys.exit(main())
