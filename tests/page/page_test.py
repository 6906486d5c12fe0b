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
from browser import Opened, close
from common_checks import COMMON
from plan_checks import ALSO_OF_TWO, PLANS, hostile_names_stay_text


# ------------------------------------------------------------------------------------------------------------ two plans


def two_maps_share_their_steps(browser, file):
    with Opened(browser, file) as own:
        assert own.page.locator(".stage:visible").count() == 2
        box = own.box(1)
        own.wheel(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, -240)
        first, second = [own.view(stage) for stage in (0, 1)]
        assert close(first["x0"], second["x0"]) and close(first["x1"], second["x1"]) and first["y1"] != second["y1"]
        choice = own.page.get_by_label("Plans shown")
        for value in ("0", "1"):
            choice.select_option(value)
            assert own.page.locator(".stage:visible").count() == 1
        choice.select_option("both")


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
        x, y = canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 2
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


PAIRS = [two_maps_share_their_steps, changes_lead_into_the_maps]


def checks_for(browser, name, file):
    with Opened(browser, file) as own:
        stages = own.look().get("stages", [])
    if not stages:
        return [*COMMON, replay_zooms_and_says_values]
    own = [*PAIRS, *ALSO_OF_TWO] if len(stages) == 2 else PLANS
    return [*COMMON, *own, *([hostile_names_stay_text] if "hostile" in name else [])]


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
