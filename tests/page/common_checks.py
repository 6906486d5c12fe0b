"""What every page must do, whatever it shows. A check takes the browser and the file of a page."""

import csv
import io
import pathlib
import re
import struct
import xml.etree.ElementTree

from browser import PHONE, Opened


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


# What is cut off, or reaches out of the window, of all that can be pressed or read at the top.
CLIPPED = """() => [...document.querySelectorAll('header button, h1, .figure, .toolbar select, .toolbar input, [role=tab], .legend-entry, figcaption')].filter((each) => {
  if (!each.checkVisibility()) return false;
  const box = each.getBoundingClientRect();
  const around = each.closest('.arenas, .legend');
  return box.left < 0 || box.right > innerWidth + 0.5 || each.scrollWidth > each.clientWidth + 1 && each.tagName !== 'INPUT' || around && around.scrollWidth > around.clientWidth + 1;
}).map((each) => each.textContent || each.id)"""


def fits_a_phone(browser, file):
    with Opened(browser, file, **PHONE) as own:
        widths = own.page.evaluate("[document.scrollingElement.scrollWidth, innerWidth, innerHeight]")
        assert widths[0] <= widths[1] == PHONE["viewport"]["width"], widths
        stage = own.page.locator(".stage").first.bounding_box()
        assert stage["width"] > 300 and 200 < stage["height"] < widths[2], stage
        assert own.page.evaluate(CLIPPED) == []
        own.page.get_by_label("Help", exact=True).first.tap()
        help_box = own.page.locator("dialog").bounding_box()
        assert help_box["width"] <= widths[1] and own.page.get_by_role("button", name="Close").is_visible()
        own.page.get_by_role("button", name="Close").tap()
        assert own.page.locator("dialog").is_hidden()


def clips_nothing(browser, file):
    for width in (1400, 1010):
        with Opened(browser, file, viewport={"width": width, "height": 900}) as own:
            assert own.page.evaluate(CLIPPED) == [], width


def saves_csv(browser, file):
    with Opened(browser, file) as own:
        replay = own.page.locator(".replay").count() > 0
        name, text = own.download("Save the samples in view as CSV" if replay else "Save the holders in view as CSV")
        assert name.endswith(".csv")
        rows = list(csv.DictReader(io.StringIO(text.decode(), newline="")))
        assert len(rows) > 3 and None not in rows[0], rows[:1]
        if replay:
            assert int(rows[-1]["event"]) == own.look()["events"] - 1 or len(rows) > 1000
            return
        shown = sum(stage["inArena"] for stage in own.look()["stages"] if stage)
        assert len(rows) == shown, (len(rows), shown)
        assert not any(row["name"][:1] in ("=", "+", "-", "@") for row in rows)
        assert all(int(row["first_step"]) < int(row["end_step"]) and int(row["bytes"]) > 0 for row in rows)


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


COMMON = [opens, has_landmarks_and_labels, follows_the_system_into_the_dark, is_readable_in_both_themes, fits_a_phone, clips_nothing, fits_a_low_window, prints_what_it_says,
          says_that_it_needs_scripts, saves_png_and_svg, saves_csv]
