#!/usr/bin/env python3
"""Tests of the HTML report in a browser.

  tests/page/page_test.py [PAGES_DIR_OR_PROGRAM…] [-k PART] [--keep DIR]

Without arguments viewer/test/make_page.js makes the pages; a program (`stowage`) makes its own from examples; a directory has them already. Which checks a
page gets depends on what is in it: one plan, two, a replay, or a sweep. Needs playwright (PyPI), chromium (Debian, or $CHROMIUM) and, without arguments, node.
Every check opens the page offline, in a separate context, and fails on a console error, a dialog or any request except for the file itself.
"""

import argparse
import csv
import io
import pathlib
import re
import sys
import tempfile
import traceback

from playwright.sync_api import sync_playwright

import browser as browsing
from browser import PHONE, Opened, close
from common_checks import COMMON, clips_nothing, is_readable_in_both_themes, opens, saves_csv, says_that_it_needs_scripts
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
        assert dialog.is_visible() and re.search("zoom|chart", dialog.inner_text())
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


# ---------------------------------------------------------------------------------------------------------------- sweep


def a_sweep_has_curves_with_axes(browser, file):
    with Opened(browser, file) as own:
        look = own.look()
        charts = own.page.locator("svg.sweep-chart")
        assert charts.count() == look["charts"] >= 2, look
        words = charts.first.locator("text").all_text_contents()
        assert any(re.fullmatch(r"\d[\d.]* [KM]iB", word) for word in words), words
        assert any(word.startswith("batch") for word in words) and "Peak" in words and {"1", "8"} <= set(words), words
        assert charts.first.locator("circle").count() >= 4
        inside = charts.first.evaluate("""svg => { const box = svg.getBoundingClientRect();
          return [...svg.querySelectorAll('text')].filter((text) => { const own = text.getBoundingClientRect();
            return own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 1 || own.bottom > box.bottom + 1; }).map((text) => text.textContent); }""")
        assert inside == [], inside
        title = charts.first.locator("circle title").first.text_content()
        assert "batch=1" in title and "bytes" in title, title
        before = charts.first.inner_html()
        own.page.get_by_label("Show").select_option("total")
        assert charts.first.inner_html() != before


def a_sweep_says_what_fits(browser, file):
    with Opened(browser, file) as own:
        heads = own.page.locator(".sweep-rows th").all_inner_texts()
        fits = [at for at, head in enumerate(heads) if head.startswith("fits ")]
        assert len(fits) == 2, heads
        cells = own.page.locator(f".sweep-rows tbody tr td:nth-child({fits[0] + 1})").all_inner_texts()
        assert {"yes", "no"} <= set(cells), cells
        own.page.get_by_label("Sizes").fill("1 B, 1TiB, 3GiB")
        own.page.keyboard.press("Tab")
        heads = own.page.locator(".sweep-rows th").all_inner_texts()
        assert [head for head in heads if head.startswith("fits ")] == ["fits 1 B", "fits 1.00 TiB", "fits 3.00 GiB"], heads
        own.page.get_by_label("Sizes").fill("much")
        own.page.keyboard.press("Tab")
        assert own.page.get_by_label("Sizes").get_attribute("aria-invalid") == "true"
        assert own.page.locator(".sweep-rows td.worse").count() >= 1, "a row that failed says why"


def a_sweep_saves_its_table(browser, file):
    with Opened(browser, file) as own:
        name, text = own.download("Save the table as CSV")
        rows = list(csv.DictReader(io.StringIO(text.decode(), newline="")))
        assert name.endswith(".csv") and len(rows) == own.look()["rows"]
        assert not any(row["input"][:1] in ("=", "+", "-", "@") for row in rows)


def a_sweep_follows_the_system_into_the_dark(browser, file):
    with Opened(browser, file, color_scheme="dark") as own:
        back = "getComputedStyle(document.body).backgroundColor"
        dark, ink = own.page.evaluate(back), own.page.locator("svg.sweep-chart text").first.get_attribute("fill")
        own.page.get_by_label("Light or dark").click()
        light, other = own.page.evaluate(back), own.page.locator("svg.sweep-chart text").first.get_attribute("fill")
        assert sum(map(int, re.findall(r"\d+", dark)[:3])) < 150 < 600 < sum(map(int, re.findall(r"\d+", light)[:3])), (dark, light)
        assert ink != other
        fragment = own.fragment()
    with Opened(browser, file, fragment, color_scheme="dark") as own:
        assert own.look()["theme"] == "light", "what was chosen stays in the address"


def a_sweep_fits_a_phone(browser, file):
    with Opened(browser, file, **PHONE) as own:
        widths = own.page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1] == PHONE["viewport"]["width"], widths
        assert 280 <= own.page.locator("svg.sweep-chart").first.bounding_box()["width"] <= widths[1]


SWEEPS = [opens, is_readable_in_both_themes, clips_nothing, says_that_it_needs_scripts, a_sweep_has_curves_with_axes, a_sweep_says_what_fits, a_sweep_saves_its_table,
          a_sweep_follows_the_system_into_the_dark, a_sweep_fits_a_phone, replay_has_help]


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
        look = own.look()
    if "sweep" in look:
        return SWEEPS
    stages = look.get("stages", [])
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
