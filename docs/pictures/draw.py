#!/usr/bin/env python3
"""draw.py STOWAGE: draws the pictures of docs/packing.md, as SVG beside this file, from plans that the program makes.

Steps go to the right, bytes go up. Standard library only; the same program gives the same files.
"""
import csv
import io
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
TRANSFORMER = HERE.parent.parent / "examples" / "transformer_block.json"
# At most 7 bytes are live at once, and yet 8 are needed.
GAP = [(0, 2, 4), (0, 5, 2), (2, 6, 3), (0, 7, 1), (6, 7, 4), (5, 8, 1), (7, 8, 5), (2, 8, 1)]
COLOURS = ["#8ecae6", "#ffb703", "#a3b18a", "#e5989b", "#b8c0ff", "#ffd6a5", "#90dbf4", "#cdb4db", "#d9ed92", "#f4a261"]


@dataclass
class Box:
    name: str
    lower: int
    upper: int
    size: int
    offset: int

    @property
    def top(self):
        return self.offset + self.size


class Svg:
    def __init__(self, width, height):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
                      'font-family="sans-serif" font-size="11">', f'<rect width="{width}" height="{height}" fill="white"/>']

    def rect(self, x, y, width, height, fill, stroke="#444", more=""):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}" stroke="{stroke}" {more}/>')

    def line(self, points, stroke, width=1.0, more=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="{width}" {more}/>')

    def text(self, x, y, words, more=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {more}>{words}</text>')

    def write(self, name):
        (HERE / name).write_text("\n".join(self.parts) + "\n</svg>\n", encoding="utf-8")


class Chart:
    """One plan in a frame: steps to the right, bytes up."""

    def __init__(self, svg, x, y, width, height, steps, most):
        self.svg, self.left, self.bottom = svg, x, y + height
        self.width, self.dx, self.dy = width, width / steps, height / most

    def at(self, step, byte):
        return self.left + step * self.dx, self.bottom - byte * self.dy

    def box(self, box, fill, more=""):
        x, y = self.at(box.lower, box.top)
        width, height = (box.upper - box.lower) * self.dx, box.size * self.dy
        self.svg.rect(x, y, width, height, fill, more=more)
        if height > 11 and width > 6 * len(box.name):
            self.svg.text(x + width / 2, y + height / 2 + 4, box.name, 'text-anchor="middle"')

    def level(self, byte, words, stroke):
        y = self.at(0, byte)[1]
        self.svg.line([(self.left, y), (self.left + self.width, y)], stroke, 1.5, 'stroke-dasharray="5 3"')
        self.svg.text(self.left + self.width + 4, y + 4, words, f'fill="{stroke}"')


def run(program, *arguments):
    subprocess.run([program, *map(str, arguments)], capture_output=True, check=True)


def read_boxes(text):
    rows = csv.DictReader(io.StringIO(text))
    return [Box(row["id"].split("#")[0], int(row["lower"]), int(row["upper"]), int(row["size"]), int(row["offset"])) for row in rows]


def plan(program, table, solver, folder):
    source, answer = folder / "table.csv", folder / "answer.csv"
    source.write_text(table, encoding="utf-8")
    run(program, "plan", source, "--solver", solver, "-o", answer)
    return read_boxes(answer.read_text(encoding="utf-8"))


def transformer(program, folder):
    run(program, "convert", TRANSFORMER, folder / "transformer.csv")
    return (folder / "transformer.csv").read_text(encoding="utf-8")


def live_bytes(boxes):
    last = max(box.upper for box in boxes)
    return [sum(box.size for box in boxes if box.lower <= step < box.upper) for step in range(last)]


def draw_plans(program, folder):
    table = transformer(program, folder)
    plans = [("in order of begin, tightest gap", plan(program, table, "online_best_fit", folder)), ("auto", plan(program, table, "auto", folder))]
    most = max(box.top for _, boxes in plans for box in boxes)
    svg = Svg(860, 330)
    for k, (title, boxes) in enumerate(plans):
        steps = max(box.upper for box in boxes)
        chart = Chart(svg, 20 + 425 * k, 40, 330, 265, steps, most)
        peak, bound = max(box.top for box in boxes), max(live_bytes(boxes))
        svg.text(20 + 425 * k, 25, f"{title}: {peak:,} bytes", 'font-size="13"')
        for i, box in enumerate(boxes):
            chart.box(box, COLOURS[i % len(COLOURS)])
        if peak > bound:
            chart.level(peak, "peak", "#c1121f")
        chart.level(bound, "bound" if peak > bound else "peak = bound", "#2a6f2a")
    svg.write("plans.svg")


def draw_sections(program, folder):
    boxes = [Box("abcdefgh"[i], lower, upper, size, i) for i, (lower, upper, size) in enumerate(GAP)]
    svg = Svg(640, 300)
    chart = Chart(svg, 70, 30, 440, 190, 8, len(boxes))
    begins = {box.lower for box in boxes}
    ends = sorted({box.upper for box in boxes})
    start = 0
    for number, end in enumerate(end for i, end in enumerate(ends) if any((ends[i - 1] if i else 0) <= b < end for b in begins)):
        x, _ = chart.at(start, 0)
        width = (end - start) * chart.dx
        svg.rect(x, 30, width, 190, "#eef3f8" if number % 2 else "#dfe9f3", stroke="none")
        live = sum(box.size for box in boxes if box.lower < end and start < box.upper and box.lower <= end - 1 < box.upper)
        svg.text(x + width / 2, 238, f"section {number}", 'text-anchor="middle"')
        svg.text(x + width / 2, 254, f"{live} bytes", 'text-anchor="middle"')
        start = end
    for i, box in enumerate(boxes):
        x, y = chart.at(box.lower, i + 0.8)
        svg.rect(x, y, (box.upper - box.lower) * chart.dx, 0.6 * chart.dy, COLOURS[i])
        svg.text(20, y + 12, f"{box.name}: {box.size}")
    svg.text(70, 285, "A section ends at the first end after a begin: what begins later cannot meet all that is live.")
    svg.write("sections.svg")


def draw_gap(program, folder):
    table = "id,lower,upper,size\n" + "".join(f"{'abcdefgh'[i]},{l},{u},{s}\n" for i, (l, u, s) in enumerate(GAP))
    boxes = plan(program, table, "auto", folder)
    svg = Svg(560, 260)
    chart = Chart(svg, 20, 25, 440, 210, 8, 9)
    for i, box in enumerate(boxes):
        chart.box(box, COLOURS[i])
    chart.level(max(box.top for box in boxes), "optimum, 8", "#c1121f")
    chart.level(max(live_bytes(boxes)), "live bytes, 7", "#2a6f2a")
    svg.write("gap.svg")


def draw_skyline(program, folder):
    boxes = plan(program, transformer(program, folder), "auto", folder)
    steps, most = max(box.upper for box in boxes), max(box.top for box in boxes)
    placed = [box for box in boxes if box.offset < 0.4 * most]
    skyline = [max((box.top for box in placed if box.lower <= step < box.upper), default=0) for step in range(steps)]
    left = next(step for step in range(steps) if skyline[step] == min(skyline))
    right = next((step for step in range(left, steps) if skyline[step] != skyline[left]), steps)
    to_come = {step: sum(box.size for box in boxes if box not in placed and box.lower <= step < box.upper) for step in range(left, right)}
    urgent = max(to_come, key=lambda step: (to_come[step], -step))
    svg = Svg(560, 330)
    chart = Chart(svg, 20, 25, 400, 270, steps, most)
    for box in boxes:
        chart.box(box, "#cfd8dc" if box in placed else "none", "" if box in placed else 'stroke-dasharray="3 3" opacity="0.6"')
    x, y = chart.at(left, most)
    svg.rect(x, y, (right - left) * chart.dx, (most - skyline[left]) * chart.dy, "#ffb703", "none", 'opacity="0.18"')
    x, y = chart.at(urgent, most)
    svg.rect(x, y, chart.dx, (most - skyline[left]) * chart.dy, "#fb8500", "none", 'opacity="0.35"')
    svg.line([point for step in range(steps) for point in (chart.at(step, skyline[step]), chart.at(step + 1, skyline[step]))], "#c1121f", 2.5)
    for k, (colour, words) in enumerate([("#cfd8dc", "placed"), ("#c1121f", "skyline"), ("#ffe0a3", "lowest valley"), ("#fdb46b", "most to come")]):
        svg.rect(440, 40 + 24 * k, 14, 14, colour)
        svg.text(460, 51 + 24 * k, words)
    svg.write("skyline.svg")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        for draw in (draw_plans, draw_sections, draw_gap, draw_skyline):
            draw(sys.argv[1], Path(folder))


if __name__ == "__main__":
    main()
