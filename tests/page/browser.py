"""Code that the tests of the page share: a browser without a network, pages to open, and helpers to inspect and use them."""

import json
import os
import pathlib
import subprocess
import sys
import urllib.parse

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(PROJECT / "tests" / "cli"))
from onnx_bytes import field, model, node, value
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
WIDE = {"width": 1360, "height": 860}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 3, "is_mobile": True, "has_touch": True}

SAMPLES = {
    "plan": ["--capacity", "67108864", "--budget", "67108864", "--layers"],
    "plain": ["--plain", "--gap", "--tensors", "150"],
    "hostile": ["--hostile", "--tensors", "60", "--gap"],
    "diff": ["--diff"],
    "replay": ["--replay"],
    "sweep": ["--sweep"],
    "sweep_hostile": ["--sweep", "--hostile"],
    "large": ["--tensors", "20000"],
}

HOSTILE_NAMES = ["</script><script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "\u202egnp.exe\u202c", "\u05e9\u05dc\u05d5\u05dd/\u05e2\u05d5\u05dc\u05dd-0",
                 "a\u0000b\u001b[31mred\u2028c", "<!-- stowage:data -->", "__proto__", "constructor", "long/" + "n" * 10000 + "/end", "\"'&amp;\\"]


def close(a, b, part=1e-3):
    return abs(a - b) <= part * max(abs(a), abs(b), 1)


def sample_pages(folder):
    """Pages of viewer/test/make_page.js: {name: file}."""
    pages = {}
    for name, options in SAMPLES.items():
        pages[name] = folder / f"{name}.html"
        subprocess.run(["node", str(PROJECT / "viewer/test/make_page.js"), str(pages[name]), *options], check=True)
    return pages


def layered_graph():
    """Layers that state where they come from; conv and relu share bytes, so that the relu has no holder of its own."""
    tensors = [{"name": "x", "size": 4096, "flags": ["input"]}]
    ops = []
    for layer in range(6):
        source = {"scope": f"features.{layer}", "source": f"net.py:{20 + layer}: x = self.features[{layer}](x)"}
        for word, kind in (("conv2d", "Conv"), ("relu", "Relu")):
            tensors.append({"name": f"{word}_{layer}", "size": 8192 * (1 + layer % 3)})
            ops.append({"name": f"node_{word}_{layer}", "kind": kind, "inputs": [len(tensors) - 2], "outputs": [len(tensors) - 1], **source})
            if kind == "Relu":
                ops[-1]["in_place"] = [[0, 0]]
    tensors[-1]["flags"] = ["output"]
    return {"schema": "stowage.graph/1", "name": "layered", "memories": [{"name": "cpu", "alignment": 64}], "tensors": tensors, "ops": ops}


def with_an_inserted_op(graph):
    """The same graph with an op more in the middle, and everything after it one step later."""
    after = json.loads(json.dumps(graph))
    middle = len(after["ops"]) // 2
    source = after["ops"][middle - 1]["outputs"][0]
    after["tensors"].append({"name": "inserted", "size": 2 * after["tensors"][source]["size"]})
    own = len(after["tensors"]) - 1
    for op in after["ops"][middle:]:
        op["inputs"] = [own if each == source else each for each in op["inputs"]]
    after["ops"].insert(middle, {"name": "inserted_op", "kind": "GELU", "inputs": [source], "outputs": [own]})
    return after


def hostile_graph():
    """A chain of ops and tensors with every hostile name."""
    tensors = [{"name": "x", "size": 4096, "flags": ["input"]}]
    ops = []
    for number, name in enumerate(HOSTILE_NAMES):
        tensors.append({"name": name, "size": 4096 + 64 * number})
        ops.append({"name": name, "kind": name[:40], "inputs": [number], "outputs": [number + 1]})
    return {"schema": "stowage.graph/1", "name": HOSTILE_NAMES[0], "tensors": tensors, "ops": ops}


def program_pages(program, folder):
    """The same kinds of page, written by the program itself."""
    graph = folder / "hostile.json"
    graph.write_text(json.dumps(hostile_graph()))
    table = folder / "table.csv"
    table.write_text("id,lower,upper,size\n" + "".join(f"b{n},{n},{n + 2 + n % 3},{4096 * (1 + n % 5)}\n" for n in range(60)))
    examples = PROJECT / "examples"
    layered, inserted = folder / "layered.json", folder / "inserted_into_a_graph_whose_file_has_a_name_that_is_rather_long.json"
    layered.write_text(json.dumps(layered_graph()))
    inserted.write_text(json.dumps(with_an_inserted_op(layered_graph())))
    commands = {
        "layered": ["plan", str(layered)],
        "inserted": ["diff", str(layered), str(inserted)],
        "plan": ["plan", str(examples / "transformer_block.json"), "--capacity", "64KiB"],
        "plain": ["plan", str(table)],
        "hostile": ["plan", str(graph)],
        "diff": ["diff", str(examples / "small_cnn.json"), str(examples / "training_step.json")],
        "replay": ["replay", str(examples / "serving_trace.csv")],
    }
    pages = {}
    for name, words in commands.items():
        pages[name] = folder / f"program_{name}.html"
        result = subprocess.run([program, *words, "--html", str(pages[name])], capture_output=True, text=True, timeout=300)
        if not pages[name].exists():
            raise RuntimeError(f"{' '.join(words)} wrote no page (exit code {result.returncode}): {result.stderr}")
    return pages


def sweep_pages(program, folder):
    """The page of a sweep of two models and a file that does not exist."""
    values = [field(number, value(name, ["batch", 64])) for number, name in ((11, "x"), (13, "a"), (12, "y"))]
    for name in ("one", "two"):
        (folder / f"{name}.onnx").write_bytes(model(*values, node("Softmax", ["x"], ["a"]), node("Softmax", ["a"], ["y"])))
    page = folder / "program_sweep.html"
    subprocess.run([program, "sweep", "one.onnx", "two.onnx", "nowhere.onnx", "--dim", "batch=1,2,4,8", "--fits", "1KiB,4KiB", "--html", str(page)],
                   cwd=folder, check=True, capture_output=True, timeout=300)
    return {"sweep": page}


def pages_of(argument, folder):
    path = pathlib.Path(argument)
    if path.is_dir():
        return {file.stem: file for file in sorted(path.glob("*.html"))}
    return program_pages(str(path.resolve()), folder) | sweep_pages(str(path.resolve()), folder)


class Opened:
    """A page in a separate context. Everything that a page must not do is collected in `faults`."""

    def __init__(self, browser, file, fragment="", **options):
        self.context = browser.new_context(offline=True, accept_downloads=True, viewport=options.pop("viewport", WIDE), **options)
        self.page = self.context.new_page()
        self.faults = []
        self.page.on("console", lambda message: message.type in ("error", "warning") and self.faults.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.saw_request(request.url))
        self.file = file
        self.page.goto(pathlib.Path(file).resolve().as_uri() + fragment)

    def saw_request(self, url):
        own = urllib.parse.urlsplit(url)
        if own.scheme in ("blob", "data") or (own.scheme == "file" and own.path.endswith(urllib.parse.quote(pathlib.Path(self.file).name))):
            return
        self.faults.append(f"request: {url[:200]}")

    def __enter__(self):
        self.page.evaluate("window.stowage.ready")
        return self

    def __exit__(self, kind, value, trace):
        self.context.close()
        if kind is None and self.faults:
            raise AssertionError(f"{self.file}: {self.faults}")

    # ------------------------------------------------------------------------------------------ eyes

    def look(self):
        return self.page.evaluate("window.stowage.look()")

    def settled(self):
        """The state once nothing moves any more."""
        for _ in range(100):
            look = self.look()
            if not any(stage and stage["moving"] for stage in look["stages"]):
                return look
            self.page.wait_for_timeout(30)
        raise AssertionError("the map does not come to rest")

    def view(self, stage=0):
        return self.settled()["stages"][stage]["view"]

    def text(self, selector):
        return self.page.locator(selector).first.inner_text()

    def picture(self, selector=".stage .base"):
        """The pixels of a canvas, as a text to compare."""
        self.page.wait_for_timeout(60)
        return self.page.locator(selector).first.evaluate("canvas => canvas.toDataURL()")

    def fragment(self):
        self.page.wait_for_timeout(400)
        return self.page.evaluate("location.hash")

    # ------------------------------------------------------------------------------------------ hands

    def box(self, stage=0):
        """Of the map, in the window: x, y, width, height."""
        outer = self.page.locator(".stage .over:visible").nth(stage).bounding_box()
        inner = self.settled()["stages"][stage]["box"]
        return {"x": outer["x"] + inner["left"], "y": outer["y"] + inner["map"]["top"], "width": inner["mapWidth"], "height": inner["map"]["height"],
                "curve": outer["y"] + inner["curve"]["top"] + inner["curve"]["height"] / 2}

    def find_holder(self, stage=0):
        """Moves the pointer over the map until it is on a holder. Returns where: (x, y, holder)."""
        box = self.box(stage)
        for row in range(1, 12):
            for column in range(1, 16):
                x, y = box["x"] + box["width"] * column / 16, box["y"] + box["height"] * (1 - row / 12.5)
                self.page.mouse.move(x, y)
                hover = self.look()["hover"]
                if hover and hover["holder"] >= 0:
                    return x, y, hover["holder"]
        raise AssertionError("there is no holder on the map")

    def wheel(self, x, y, delta, key=None):
        self.page.mouse.move(x, y)
        if key:
            self.page.keyboard.down(key)
        self.page.mouse.wheel(0, delta)
        if key:
            self.page.keyboard.up(key)
        self.page.wait_for_timeout(60)
        return self.settled()

    def drag(self, x, y, by_x, by_y):
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + by_x, y + by_y, steps=6)
        self.page.mouse.up()
        return self.settled()

    def pinch(self, x, y, start, end):
        """Two fingers, side by side, so many pixels apart."""
        session = self.context.new_cdp_session(self.page)

        def touch(kind, apart):
            points = [] if apart is None else [{"x": x + sign * apart / 2, "y": y, "id": sign + 1} for sign in (-1, 1)]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        touch("touchStart", start)
        for n in range(1, 7):
            touch("touchMove", start + (end - start) * n / 6)
        touch("touchEnd", None)
        session.detach()

    def download(self, label):
        with self.page.expect_download() as waiting:
            self.page.get_by_label(label).click()
        return waiting.value.suggested_filename, pathlib.Path(waiting.value.path()).read_bytes()
