"""What the page of a plan must do: the map, what is said about it, search, peaks, the explanation, the address, the keyboard."""

import re
import urllib.parse
import xml.etree.ElementTree

from browser import PHONE, Opened, close


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


def a_holder_has_one_name(browser, file):
    """What the text calls it is what the map, its tooltip and the panel call it, and the legend counts it as its kind."""
    with Opened(browser, file) as own:
        own.page.locator("#side-why").click()
        links = own.page.locator(".lead a").evaluate_all("links => links.map((link) => link.textContent)")
        for number, name in enumerate(links[:3]):
            own.page.locator("#side-why").click()
            own.page.locator(".lead a").nth(number).click()
            state = own.settled()["state"]
            if state["selected"] is None:
                continue  # a step
            assert own.text("#side-body h3") == name, (own.text("#side-body h3"), name)
        own.page.locator("#side-why").click()
        own.page.keyboard.press("n")
        own.settled()
        live = own.page.locator("#side-body .live a").evaluate_all("links => links.map((link) => link.textContent)")
        named = [name for name in links if not name.startswith("step") and len(name) < 38]
        assert not named or named[0] in live, (named, live[:9])


def without_a_capacity_nothing_fails(browser, file):
    with Opened(browser, file) as own:
        own.page.locator("#side-why").click()
        given = own.page.locator(".figure dt", has_text="Capacity").count() > 0
        assert own.page.locator(".verdict.fails, .figure.bad").count() == 0 or given, own.text(".answer")
        if own.page.locator(".fit").count() > 0 and not given:
            assert own.page.locator(".fit").input_value() == "" and "Enter a size" in own.text(".answer")


def layers_are_colours_links_and_hits(browser, file):
    with Opened(browser, file) as own:
        own.page.select_option("#colour", "scope")
        labels = own.page.locator(".legend-entry bdi").all_inner_texts()
        x, y, _ = own.find_holder()
        own.page.mouse.click(x, y)
        link = own.page.locator("#side-body [aria-label^='Find layer']")
        if link.count() == 0:
            assert "layered" not in str(file), "the page says no layer"
            return
        layer = link.first.inner_text()
        assert len(labels) > 1 and any(layer.startswith(label.split("…")[0]) for label in labels), (layer, labels)
        link.first.click()
        assert own.look()["state"]["query"] and re.match(r"\d+ hits?", own.text("#hits")), own.text("#hits")
        assert own.page.locator("#search").input_value() == own.look()["state"]["query"]
        own.page.locator("#search").fill("net\\.py")
        own.page.keyboard.press("Enter")
        assert "layered" not in str(file) or "net.py:" in own.text("#side-body .facts"), "a line of the program is found and shown"


def a_finger_selects_zooms_and_scrolls(browser, file):
    with Opened(browser, file, **PHONE) as own:
        box = own.box()
        x, y, holder = own.find_holder()
        own.page.touchscreen.tap(x, y)
        assert own.look()["state"]["selected"]["holder"] == holder
        whole = own.view()
        own.pinch(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, 60, 180)
        near = own.view()
        assert near["x1"] - near["x0"] < 0.8 * (whole["x1"] - whole["x0"]), (near, whole)
        panel = own.page.locator("#side-body").bounding_box()
        assert panel["width"] <= PHONE["viewport"]["width"]


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
        assert "Enter a size" in own.text(".answer")


def a_change_is_shown_in_the_map(browser, file):
    """What an answer would shrink: outlined while it is pointed at, highlighted and listed after a click."""
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


def weights_and_total_are_figures_of_a_graph(browser, file):
    with Opened(browser, file) as own:
        figures = {figure.split("\n")[0]: figure for figure in own.page.locator(".figure").all_inner_texts()}
        assert ("Weights" in figures) == ("Graph" in figures), figures
        if "Weights" in figures:
            assert "in total, with the peak" in figures["Weights"], figures


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


PLANS = [weights_and_total_are_figures_of_a_graph, a_holder_has_one_name, without_a_capacity_nothing_fails, layers_are_colours_links_and_hits, a_finger_selects_zooms_and_scrolls, hover_says_what_it_is, click_selects, click_on_the_curve_lists_the_live_set, shift_click_selects_a_step, wheel_drag_and_keys_move_the_view, double_click_zooms_to_the_tensor,
         minimap_moves_the_view, search_finds_lights_and_steps_through, tabs_change_the_arena, peaks_are_one_key_apart, colours_have_legends, explanation_leads_to_the_map, a_change_is_shown_in_the_map,
         a_size_that_is_asked_for_is_kept, address_restores_the_view, links_break_nothing, keyboard_alone_reaches_everything]
# What the page of two plans does as well.
ALSO_OF_TWO = [search_finds_lights_and_steps_through, peaks_are_one_key_apart, address_restores_the_view, links_break_nothing, keyboard_alone_reaches_everything]
