#!/usr/bin/env python3
"""Tests of the HTML report in a browser.

  tests/page/page_test.py [PAGES_DIR_OR_PROGRAM…] [-k PART] [--keep DIR]

Without arguments viewer/test/make_page.js makes the pages; a program (`stowage`) makes its own from examples; a directory has them already. Which checks a
page gets depends on what is in it: one plan, two, or a replay. Needs playwright (PyPI), chromium (Debian, or $CHROMIUM) and, without arguments, node.
Every check opens the page offline, in a context of its own, and fails on a console error, a dialog or any request but for the file itself.
"""

import argparse
import pathlib
import re
import struct
import sys
import tempfile
import traceback
import urllib.parse
import xml.etree.ElementTree

from playwright.sync_api import sync_playwright

import browser as browsing
from browser import Opened

NARROW = {"width": 380, "height": 720}


def close(a, b, part=1e-3):
    return abs(a - b) <= part * max(abs(a), abs(b), 1)


# ----------------------------------------------------------------------------------------------------------- every page


def opens(browser, file):
    with Opened(browser, file) as own:
        assert own.page.locator("#message").is_hidden()
        assert own.text("h1").strip()
        figures = own.page.locator(".figure").all_inner_texts()
        assert len(figures) >= 3, figures
        for figure in own.page.locator(".figure .bytes[title]").all():
            assert re.fullmatch(r"[\d,]+ bytes?", figure.get_attribute("title"))
            assert "exactly" in figure.locator(".only-heard").text_content()


def has_landmarks_and_labels(browser, file):
    with Opened(browser, file) as own:
        for landmark in ("header", "main", "[aria-live=polite]"):
            assert own.page.locator(landmark).count() >= 1, landmark
        assert own.page.locator("h1").count() == 1
        unnamed = own.page.evaluate("""() => [...document.querySelectorAll('button, input, select, a, canvas[tabindex]')].filter((each) =>
          !(each.getAttribute('aria-label') || each.textContent.trim() || each.labels?.length)).map((each) => each.outerHTML)""")
        assert not unnamed, unnamed
        twice = own.page.evaluate("() => { const ids = [...document.querySelectorAll('[id]')].map((each) => each.id); return ids.filter((id, at) => ids.indexOf(id) !== at); }")
        assert not twice, twice
        label = own.page.locator("canvas[role=application]").first.get_attribute("aria-label")
        assert len(label) > 40 and re.search(r"\d", label), label


def follows_the_system_into_the_dark(browser, file):
    with Opened(browser, file, color_scheme="dark") as own:
        dark = own.page.evaluate("getComputedStyle(document.body).backgroundColor")
        picture = own.picture(".stage canvas")
        own.page.get_by_label("Light or dark").click()
        own.page.wait_for_timeout(100)
        light = own.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert sum(map(int, re.findall(r"\d+", dark)[:3])) < 150 < 600 < sum(map(int, re.findall(r"\d+", light)[:3])), (dark, light)
        assert own.picture(".stage canvas") != picture


def is_readable_in_both_themes(browser, file):
    """Text against what is behind it: 4.5 to 1."""
    contrast = """() => { const luminance = (rgb) => rgb.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const parse = (text) => text.match(/[\\d.]+/g).map(Number);
      const behind = (node) => { for (; node; node = node.parentElement) { const c = parse(getComputedStyle(node).backgroundColor); if (c.length < 4 || c[3] > 0.99) return c.slice(0, 3); } return [255, 255, 255]; };
      const poor = [];
      for (const node of document.querySelectorAll('h1, dt, dd, p, td, th, a, button, .quiet, .note, label')) {
        if (!node.offsetParent || node.disabled || ![...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())) continue;
        const [a, b] = [luminance(parse(getComputedStyle(node).color).slice(0, 3)), luminance(behind(node))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) poor.push([node.className, node.textContent.slice(0, 30), ratio]);
      }
      return poor; }"""
    for scheme in ("light", "dark"):
        with Opened(browser, file, color_scheme=scheme) as own:
            poor = own.page.evaluate(contrast)
            assert not poor, (scheme, poor[:5])


def fits_a_narrow_window(browser, file):
    with Opened(browser, file, viewport=NARROW) as own:
        widths = own.page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1], widths
        stage = own.page.locator(".stage").first.bounding_box()
        assert stage["width"] > 300 and stage["height"] > 200, stage


def fits_a_low_window(browser, file):
    with Opened(browser, file, viewport={"width": 1280, "height": 300}) as own:
        own.page.set_viewport_size({"width": 1280, "height": 200})
        own.page.wait_for_timeout(200)
        own.page.set_viewport_size({"width": 1280, "height": 800})
        own.page.wait_for_timeout(200)


def prints_what_it_says(browser, file):
    """On paper there are the map, as wide as the paper, and the panel below it."""
    with Opened(browser, file, viewport={"width": 740, "height": 1000}) as own:
        before = own.picture(".stage canvas")
        own.page.emulate_media(media="print")
        own.page.wait_for_timeout(200)
        replay = own.page.locator(".replay").count() > 0  # is drawn anew, for the width of the paper
        assert replay or own.picture(".stage canvas") == before, "the map was lost on the way to the paper"
        widths = own.page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1], widths
        stage = own.page.locator(".stage canvas").first.bounding_box()
        assert stage["width"] > 500 and stage["height"] > 200, stage
        if own.page.locator("#side-body").count() > 0:
            panel = own.page.locator("#side-body").bounding_box()
            assert panel["y"] >= stage["y"] + stage["height"] - 1 and own.text("#side-body").strip()


def says_that_it_needs_scripts(browser, file):
    context = browser.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(pathlib.Path(file).resolve().as_uri())
    assert "JavaScript" in page.locator("body").inner_text()
    context.close()


def saves_png_and_svg(browser, file):
    with Opened(browser, file) as own:
        name, png = own.download("Save the view as PNG")
        assert name.endswith(".png") and png[:8] == b"\x89PNG\r\n\x1a\n", png[:8]
        width, height = struct.unpack(">II", png[16:24])
        assert width > 400 and height > 300 and len(png) > 4000, (width, height, len(png))
        name, svg = own.download("Save the view as SVG")
        assert name.endswith(".svg")
        root = xml.etree.ElementTree.fromstring(svg)
        shapes = [each for each in root.iter() if each.tag.split("}")[1] in ("rect", "path", "polygon", "polyline")]
        words = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
        assert len(shapes) > 5 and any(re.search(r"\d.*(B|iB)$", word or "") for word in words), words
        assert not [each.tag for each in root.iter() if each.tag.split("}")[1] in ("script", "image", "foreignObject", "a")]


# ------------------------------------------------------------------------------------------------------- pages of plans


def hover_says_what_it_is(browser, file):
    with Opened(browser, file) as own:
        own.find_holder()
        tooltip = own.page.locator(".tooltip")
        assert tooltip.is_visible()
        facts = tooltip.locator("dt").all_inner_texts()
        assert {"size", "life", "offset", "alive"} <= set(facts), facts
        before = own.picture()
        own.page.wait_for_timeout(900)
        assert own.text("#spoken").strip(), "the live region is silent"
        own.page.mouse.move(2, 2)
        assert tooltip.is_hidden()
        assert own.picture() == before, "hovering painted the map again"


def click_selects(browser, file):
    with Opened(browser, file) as own:
        x, y, holder = own.find_holder()
        title = own.text(".tooltip-title")
        over = own.picture(".stage .over")
        own.page.mouse.click(x, y)
        assert own.look()["state"]["selected"]["holder"] == holder
        panel = own.text("#side-body")
        assert title.split("…")[0].strip()[:20] in panel.replace("\n", " "), (title, panel[:200])
        assert "Written at" in panel and "Read at" in panel
        assert own.picture(".stage .over") != over
        link = own.page.locator("#side-body a", has_text=re.compile(r"^step \d+$")).first
        step = int(link.inner_text().split()[1])
        link.click()
        assert own.look()["state"]["step"]["step"] == step
        own.page.keyboard.press("Escape")
        assert own.look()["state"]["selected"] is None


def click_on_the_curve_lists_the_live_set(browser, file):
    with Opened(browser, file) as own:
        own.page.keyboard.press("n")
        own.settled()
        box = own.box()
        own.page.mouse.click(box["x"] + box["width"] / 2, box["curve"])
        step = own.look()["state"]["step"]["step"]
        assert own.text("#side-body h3").startswith(f"Step {step}")
        said = own.text("#side-body h4")
        count = int(re.search(r"([\d,]+) holders?", said).group(1).replace(",", ""))
        rows = own.page.locator("#side-body .live .bytes").evaluate_all("nodes => nodes.map((node) => parseInt(node.title.replace(/,/g, '')))")
        assert rows == sorted(rows, reverse=True) and len(rows) == min(count, 150) > 0, (said, len(rows))
        total = int(re.search(r"([\d,]+) bytes?,", own.text("#side-body h4 + p")).group(1).replace(",", ""))
        assert total == sum(rows) or count > 150
        assert own.page.locator(".stage:visible").count() > 1 or f"at step {step}:" in own.text(".legend")
        own.page.locator("#side-body .live a").first.click()
        assert own.look()["state"]["selected"]


def shift_click_selects_a_step(browser, file):
    with Opened(browser, file) as own:
        x, y, _ = own.find_holder()
        own.page.keyboard.down("Shift")
        own.page.mouse.click(x, y)
        own.page.keyboard.up("Shift")
        state = own.look()["state"]
        assert state["step"] and state["selected"] is None


def wheel_drag_and_keys_move_the_view(browser, file):
    with Opened(browser, file) as own:
        whole = own.view()
        box = own.box()
        x, y = box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5
        for _ in range(2):
            own.wheel(x, y, -240)
        near = own.view()
        assert near["x1"] - near["x0"] < 0.8 * (whole["x1"] - whole["x0"]) and near["y1"] - near["y0"] < 0.9 * (whole["y1"] - whole["y0"])
        middle = lambda view: (view["x0"] + view["x1"]) / 2
        assert close(middle(near), middle(whole), 0.02), "the point under the pointer moved"
        own.wheel(x, y, -240, "Shift")
        wide = own.view()
        assert wide["x1"] - wide["x0"] < near["x1"] - near["x0"] and close(wide["y0"], near["y0"]) and close(wide["y1"], near["y1"])
        own.drag(x, y, 80, 30)
        moved = own.view()
        assert moved["x0"] < wide["x0"] and moved["y0"] > wide["y0"] and close(moved["x1"] - moved["x0"], wide["x1"] - wide["x0"])
        own.page.locator(".stage .over").first.focus()
        own.page.keyboard.press("ArrowRight")
        assert own.view()["x0"] > moved["x0"]
        own.page.keyboard.press("0")
        assert own.view() == whole
        own.page.keyboard.press("+")
        nearer = own.view()
        assert nearer["x1"] - nearer["x0"] < whole["x1"] - whole["x0"]
        own.page.keyboard.press("-")
        own.page.keyboard.press("-")
        assert own.view() == whole


def double_click_zooms_to_the_tensor(browser, file):
    with Opened(browser, file) as own:
        whole = own.view()
        x, y, _ = own.find_holder()
        own.page.mouse.dblclick(x, y)
        view = own.view()
        assert (view["x1"] - view["x0"]) * (view["y1"] - view["y0"]) < (whole["x1"] - whole["x0"]) * (whole["y1"] - whole["y0"])


def minimap_moves_the_view(browser, file):
    with Opened(browser, file) as own:
        box = own.box()
        for _ in range(4):
            own.wheel(box["x"] + 5, box["y"] + box["height"] - 5, -240)
        before = own.view()
        strip = own.page.locator(".minimap").first.bounding_box()
        own.page.mouse.click(strip["x"] + strip["width"] * 0.9, strip["y"] + strip["height"] * 0.3)
        after = own.view()
        assert after["x0"] > before["x0"] and after["y0"] > before["y0"], (before, after)
        own.drag(strip["x"] + strip["width"] * 0.9, strip["y"] + strip["height"] * 0.3, -strip["width"] * 0.5, 0)
        assert own.view()["x0"] < after["x0"]


def search_finds_lights_and_steps_through(browser, file):
    with Opened(browser, file) as own:
        own.page.keyboard.press("n")
        own.settled()
        name = own.page.locator("#side-body .live a").first.inner_text()
        before = own.picture()
        own.page.keyboard.press("/")
        own.page.keyboard.type(re.escape(name.split("…")[0]))
        own.page.wait_for_timeout(300)
        assert re.search(r"\d+ hits?, .*B", own.text("#hits")), own.text("#hits")
        assert own.picture() != before
        own.page.keyboard.press("Enter")
        own.settled()
        first = own.look()["state"]["selected"]
        assert first and own.text("#hits").startswith("1 of")
        own.page.keyboard.press("Shift+Enter")
        own.page.locator("#search").fill("no such (")
        own.page.wait_for_timeout(300)
        assert "no hits" in own.text("#hits") and "not a regular expression" in own.text("#hits")
        own.page.keyboard.press("Escape")
        assert own.look()["state"]["query"] == "" and own.text("#hits") == ""


def tabs_change_the_arena(browser, file):
    with Opened(browser, file) as own:
        tabs = own.page.locator("[role=tablist][aria-label=Arenas] [role=tab]")
        if tabs.count() < 2:
            return
        assert re.search(r"\d.*B", tabs.nth(1).inner_text())
        before = own.look()["stages"]
        tabs.nth(1).click()
        after = own.settled()["stages"]
        assert [each and each["arena"] for each in after] != [each and each["arena"] for each in before]
        assert own.page.locator("[role=tab][aria-selected=true]").first.inner_text() == tabs.nth(1).inner_text()
        own.page.keyboard.press("ArrowLeft")
        assert own.look()["state"]["tab"] == 0


def peaks_are_one_key_apart(browser, file):
    with Opened(browser, file) as own:
        count = own.look()["stages"][-1]["peaks"]
        assert count >= 1
        steps = []
        for _ in range(min(count, 4)):
            own.page.keyboard.press("n")
            look = own.settled()
            step = look["state"]["step"]
            view = look["stages"][step["plan"]]["view"]
            assert view["x0"] <= step["step"] < view["x1"]
            steps.append(step["step"])
        assert steps == sorted(set(steps)), steps
        own.page.keyboard.press("p")
        assert count == 1 or own.settled()["state"]["step"]["step"] == steps[-2 if len(steps) > 1 else -1]
        own.page.locator("#side-why").click()
        own.page.locator(".peaks a").first.click()
        assert own.settled()["state"]["step"]["step"] == steps[0]


def colours_have_legends(browser, file):
    with Opened(browser, file) as own:
        pictures = set()
        for value in own.page.locator("#colour option").evaluate_all("options => options.map((option) => option.value)"):
            own.page.select_option("#colour", value)
            pictures.add(own.picture())
            entries = own.page.locator(".legend > .legend-entry")
            assert entries.count() >= 1 and re.search(r"\d.*B", entries.first.inner_text())
        assert len(pictures) >= 3
        own.page.select_option("#colour", "size")
        before = own.picture()
        entries.first.click()
        assert own.page.locator(".legend-entry[aria-pressed=true]").count() == 1
        assert own.picture() != before or entries.count() == 1
        assert own.page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true", "the legend lost the focus"
        own.page.keyboard.press("Enter")
        assert own.picture() == before


def explanation_leads_to_the_map(browser, file):
    with Opened(browser, file) as own:
        own.page.locator("#side-why").click()
        if own.page.locator("details.text").count() == 0:
            assert "no explanation" in own.text("#side-body")
            return
        own.page.locator("details.text summary").click()
        own.page.wait_for_selector("#side-body pre")
        links = own.page.locator("#side-body pre a")
        assert links.count() >= 2, own.text("#side-body pre")[:300]
        step = own.page.locator("#side-body pre a", has_text=re.compile(r"^step\s+\d+$")).first
        number = int(step.inner_text().split()[1])
        step.click()
        assert own.settled()["state"]["step"]["step"] == number
        own.page.locator("#side-why").click()
        field = own.page.locator(".fit")
        field.fill("1000 GiB")
        assert "it fits" in own.text(".answer")
        field.fill("1 B")
        assert "does not fit" in own.text(".answer")
        field.fill("some")
        assert "size, please" in own.text(".answer")


def a_change_is_shown_in_the_map(browser, file):
    """What an answer would shrink: outlined while it is pointed at, lit and listed after a click."""
    with Opened(browser, file) as own:
        own.page.locator("#side-why").click()
        several = own.page.locator(".gains a", has_text=re.compile(r"^\d+ holders$"))
        if several.count() == 0:
            return
        before, over = own.picture(), own.picture(".stage .over")
        several.first.hover()
        assert own.picture(".stage .over") != over and own.picture() == before
        count = int(several.first.inner_text().split()[0])
        several.first.click()
        group = own.settled()["state"]["group"]
        assert 2 <= len(group["holders"]) <= count and own.picture() != before
        rows = own.page.locator("#side-body .group a")
        assert rows.count() == min(len(group["holders"]), 150)
        rows.first.click()
        assert own.settled()["state"]["selected"]["holder"] in group["holders"]
        own.page.locator("#side-body a", has_text="←").click()
        assert own.page.locator("#side-body .group").count() == 1
        fragment = own.fragment()
        own.page.keyboard.press("Escape")
        assert own.look()["state"]["group"] is None
    if len(group["holders"]) <= 200:
        with Opened(browser, file, fragment) as own:
            assert own.look()["state"]["group"] == group


def a_size_that_is_asked_for_is_kept(browser, file):
    with Opened(browser, file) as own:
        own.page.locator("#side-why").click()
        if own.page.locator(".fit").count() == 0:
            return
        before = own.picture()
        peak = int(own.page.locator(".figure .bytes").first.get_attribute("title").split()[0].replace(",", ""))
        own.page.locator(".fit").fill(f"{peak * 3 // 4} B")
        assert "does not fit into" in own.text(".answer")
        assert own.picture() != before, "the line of the capacity stays where it was"
        words, fragment = own.text(".answer"), own.fragment()
    with Opened(browser, file, fragment) as own:
        assert own.text(".answer") == words


def address_restores_the_view(browser, file):
    with Opened(browser, file) as own:
        x, y, holder = own.find_holder()
        own.wheel(x, y, -240)
        own.page.mouse.click(x, y)
        own.page.select_option("#colour", "role")
        own.page.locator("#search").fill("a")
        own.page.keyboard.press("Enter")
        own.settled()
        fragment = own.fragment()
        first = own.settled()
    with Opened(browser, file, fragment) as own:
        second = own.settled()
        for key in ("selected", "query", "colour", "tab", "panel", "mode"):
            assert first["state"][key] == second["state"][key], (key, fragment)
        for a, b in zip(first["stages"], second["stages"]):
            assert (a is None) == (b is None) and (a is None or all(abs(a["view"][key] - b["view"][key]) < 0.02 for key in a["view"])), (a, b)
    with Opened(browser, file, "#view=a&holder=9.99999999&arena=77&step=0.999999999&colour=pink&plan=x") as own:
        assert own.look()["state"]["selected"] is None and own.look()["stages"][0]


def links_break_nothing(browser, file):
    with Opened(browser, file, "#colour=toString&panel=__proto__&plan=constructor") as own:
        assert own.look()["stages"][0]
    for query in ("(n+)+!", "(a|a)*$", ".*" * 12 + "="):
        with Opened(browser, file, "#search=" + urllib.parse.quote(query)) as own:
            assert own.settled()["state"]["query"] == "" and own.page.locator("#search").input_value() == query
            assert "Enter" in own.text("#hits")
            own.page.locator("#search").fill("a")
            own.page.keyboard.press("Enter")
            assert own.settled()["state"]["query"] == "a"


def keyboard_alone_reaches_everything(browser, file):
    with Opened(browser, file) as own:
        reached = set()
        for _ in range(60):
            own.page.keyboard.press("Tab")
            reached.add(own.page.evaluate("document.activeElement.className || document.activeElement.id || document.activeElement.getAttribute('role') || ''"))
        assert {"over", "link", "small", "legend-entry"} <= reached, reached
        own.page.locator(".stage .over").first.focus()
        own.page.keyboard.press("Enter")
        state = own.settled()["state"]
        assert state["selected"] or state["step"]
        own.page.keyboard.press("Escape")
        own.page.evaluate("document.activeElement.blur()")
        own.page.keyboard.press("n")
        own.settled()
        own.page.keyboard.press("Shift+ArrowUp")
        low = own.settled()["state"]["selected"]
        assert low
        own.page.keyboard.press("Shift+ArrowUp")
        step = own.settled()["state"]["step"]["step"]
        own.page.keyboard.press("Shift+ArrowLeft" if step > 0 else "Shift+ArrowRight")
        assert own.settled()["state"]["step"]["step"] == (step - 1 if step > 0 else 1)
        own.page.keyboard.press("?")
        assert own.page.locator("dialog").is_visible()
        own.page.keyboard.press("Escape")
        assert own.page.locator("dialog").is_hidden()


def hostile_names_stay_text(browser, file):
    with Opened(browser, file) as own:
        assert own.page.locator("h1").inner_text().strip()
        for query, literal in (("</script>", "</script><script>window.hacked=1</script>"), ("<img", "<img src=x onerror=window.hacked=1>"), ("__proto__", "__proto__")):
            own.page.locator("#search").fill(query)
            own.page.keyboard.press("Enter")
            own.settled()
            assert own.look()["state"]["selected"], query
            own.page.wait_for_timeout(200)
            assert own.text("#hits").startswith("1 of"), own.text("#hits")
            assert literal in own.text("#side-body h3"), own.text("#side-body h3")
        own.page.locator("#search").fill("nnnnnnnnnn")
        own.page.keyboard.press("Enter")
        own.settled()
        assert len(own.text("#side-body h3")) >= 10000, "the whole name is in the panel"
        x, y, _ = own.find_holder()
        own.page.mouse.click(x, y)
        _, svg = own.download("Save the view as SVG")
        xml.etree.ElementTree.fromstring(svg)
        assert own.page.evaluate("[typeof window.hacked, document.images.length, document.scripts.length]") == ["undefined", 0, 1]
        widths = own.page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1], widths


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
        assert facts == ["requested", "reserved", "in holes", "largest hole"], facts
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


COMMON = [opens, has_landmarks_and_labels, follows_the_system_into_the_dark, is_readable_in_both_themes, fits_a_narrow_window, fits_a_low_window, prints_what_it_says,
          says_that_it_needs_scripts, saves_png_and_svg]
PLANS = [hover_says_what_it_is, click_selects, click_on_the_curve_lists_the_live_set, shift_click_selects_a_step, wheel_drag_and_keys_move_the_view, double_click_zooms_to_the_tensor,
         minimap_moves_the_view, search_finds_lights_and_steps_through, tabs_change_the_arena, peaks_are_one_key_apart, colours_have_legends, explanation_leads_to_the_map, a_change_is_shown_in_the_map,
         a_size_that_is_asked_for_is_kept, address_restores_the_view, links_break_nothing, keyboard_alone_reaches_everything]
PAIRS = [two_maps_share_their_steps, changes_lead_into_the_maps]


def checks_for(browser, name, file):
    with Opened(browser, file) as own:
        stages = own.look().get("stages", [])
    if not stages:
        return [*COMMON, replay_zooms_and_says_values]
    more = [*(PAIRS if len(stages) == 2 else PLANS), *([hostile_names_stay_text] if "hostile" in name else [])]
    if len(stages) == 2:
        more += [search_finds_lights_and_steps_through, peaks_are_one_key_apart, address_restores_the_view, links_break_nothing, keyboard_alone_reaches_everything]
    return [*COMMON, *more]


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
