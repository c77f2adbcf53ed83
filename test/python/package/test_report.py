# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""drawloom.report: its figures agree with each other and with the program, its page is one that a browser shows."""

import collections
import html.parser
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

import drawloom
from support.runner import ROOT

ADD = """
func.func @add(%x: tensor<?x32xf32>, %y: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = arith.addf %x, %y : tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}
func.func @exp(%x: tensor<512x8xbf16>, %n: i32) -> tensor<512x8xbf16> {
  %0 = math.exp %x : tensor<512x8xbf16>
  return %0 : tensor<512x8xbf16>
}
"""
# The variance needs the mean of all rows: several kernels.
STEPS = """
func.func @standard(%x: tensor<4096x64xf32>, %w: tensor<64x64xf32>) -> tensor<4096x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %none = arith.constant dense<0.0> : tensor<4096x64xf32>
  %e = tensor.empty() : tensor<4096x64xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4096x64xf32>) outs(%zero : tensor<64xf32>) dimensions = [0]
  %m = linalg.broadcast ins(%s : tensor<64xf32>) outs(%e : tensor<4096x64xf32>) dimensions = [0]
  %d = arith.subf %x, %m : tensor<4096x64xf32>
  %y = linalg.matmul ins(%d, %w : tensor<4096x64xf32>, tensor<64x64xf32>) outs(%none : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  return %y : tensor<4096x64xf32>
}
"""


TEMPLATE = ROOT / "lib" / "Report" / "Page.html"


@pytest.fixture(scope="module")
def module():
    return drawloom.compile(ADD)


@pytest.fixture(scope="module")
def steps():
    return drawloom.report(drawloom.compile(STEPS), calls=5, threads=1)


def test_a_sum_moves_its_arguments_and_its_result(module, rng):
    x, y = rng.standard_normal((2, 4096, 32), dtype=np.float32)
    report = drawloom.report(module.add, x, y, calls=3, threads=2)
    assert (report.function, report.calls, report.threads) == ("add", 3, 2)
    kernel, = report.kernels
    assert report.bytes == kernel.bytes == 3 * 4096 * 32 * 4
    assert kernel.flops == 4096 * 32
    assert kernel.bound == "bytes"
    assert kernel.source.startswith("source:")


def test_shares_and_what_is_outside_are_the_whole(steps):
    assert len(steps.kernels) > 1
    assert sum(kernel.share for kernel in steps.kernels) + steps.outside_milliseconds / steps.milliseconds == pytest.approx(1)
    for kernel in steps.kernels:
        assert kernel.share == pytest.approx(kernel.milliseconds / steps.milliseconds)


def test_the_roof_is_the_longer_of_operations_and_bytes(steps):
    known = [kernel for kernel in steps.kernels if kernel.flops is not None]
    for kernel in known:
        by = {"operations": kernel.flops / steps.roofs.flops_per_second, "bytes": kernel.bytes / steps.roofs.bytes_per_second}
        assert kernel.bound == max(by, key=by.get)
        assert kernel.roof_milliseconds == pytest.approx(max(by.values()) * 1e3)
        assert kernel.of_roof == pytest.approx(kernel.roof_milliseconds / kernel.milliseconds)
        assert kernel.intensity == pytest.approx(kernel.flops / kernel.bytes)
    product = max(known, key=lambda kernel: kernel.flops)
    assert product.flops >= 2 * 4096 * 64 * 64


def test_a_product_of_wide_matrices_waits_for_its_operations(rng):
    """85 operations for each byte, where machines have some 5 to 30."""
    square = drawloom.compile("""
      func.func @main(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>, %z: tensor<512x512xf32>) -> tensor<512x512xf32> {
        %sum = linalg.matmul ins(%x, %y : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
        return %sum : tensor<512x512xf32>
      }""")
    report = drawloom.report(square, *rng.standard_normal((3, 512, 512), dtype=np.float32), calls=3, threads=1)
    longest = max(report.kernels, key=lambda kernel: kernel.flops or 0)
    assert longest.flops >= 2 * 512**3 and longest.bound == "operations"


def test_phases_and_remarks_are_those_of_the_compiler(steps):
    assert [phase.name for phase in steps.phases][-3:] == ["kernels", "llvm", "machine code"]
    assert steps.compile_milliseconds == sum(phase.milliseconds for phase in steps.phases) > 0
    fused = [remark for remark in steps.remarks if (remark.kind, remark.category) == ("passed", "fuse-rows")]
    assert fused and all(remark.values["rows"] == 4096 for remark in fused)


def test_text_and_json_have_the_same_figures(steps):
    known = json.loads(steps.json())
    assert [kernel["name"] for kernel in known["kernels"]] == [kernel.name for kernel in steps.kernels]
    assert known["seconds"] * 1e3 == steps.milliseconds
    lines = str(steps).splitlines()
    for kernel in steps.kernels:
        line, = [line for line in lines if line.split()[:1] == [kernel.name]]
        assert f" {kernel.milliseconds:.4f} " in line


def test_random_arguments_are_made_up(module):
    assert drawloom.report(module.exp, calls=1).bytes == 2 * 512 * 8 * 2 + 4
    assert drawloom.report(module.add, shapes=[(8, 32), (8, 32)], calls=1).bytes == 3 * 8 * 32 * 4


def test_a_gradient_has_a_report():
    report = drawloom.report(drawloom.grad(drawloom.compile(STEPS), "standard"), calls=1)
    assert report.function == "standard_grad"
    assert len(report.kernels) > 1 and report.bytes == 4 * (4 * 4096 * 64 + 64 * 64)


def test_the_emulator_has_no_roofs():
    report = drawloom.report(drawloom.compile(ADD, entry="exp", target="emulator"), calls=1)
    assert report.roofs is None and report.kernels
    assert all(kernel.of_roof is None for kernel in report.kernels)


def test_what_cannot_be_reported_is_refused(module, tmp_path):
    x = np.zeros((8, 32), np.float32)
    with pytest.raises(drawloom.CallTypeError, match="a report is of a function of a drawloom module, but a str is given"):
        drawloom.report("add")
    with pytest.raises(drawloom.CallError, match="several functions, @add, @exp: name one"):
        drawloom.report(module)
    with pytest.raises(drawloom.CallError, match="@add leaves extents open: give it arguments, or their shapes"):
        drawloom.report(module.add)
    with pytest.raises(drawloom.CallTypeError, match="@add takes 2 arguments"):
        drawloom.report(module.add, x)
    with pytest.raises(drawloom.CallError, match="argument 1 of @add"):
        drawloom.report(module.add, x, x[:, :3])
    with pytest.raises(drawloom.CallTypeError, match="argument 1 of @add takes float32"):
        drawloom.report(module.add, x, x.astype(np.float64))
    with pytest.raises(drawloom.CallError, match="calls is 0"):
        drawloom.report(module.add, x, x, calls=0)
    drawloom.compile(STEPS).save(tmp_path / "steps.drawloom")
    with pytest.raises(drawloom.CallError, match="loaded from a file"):
        drawloom.report(drawloom.load(tmp_path / "steps.drawloom"))


def test_a_report_is_saved_as_a_whole_or_not_at_all(steps, tmp_path):
    for name, text in (("x.html", steps.html()), ("x.json", steps.json()), ("x.txt", str(steps))):
        steps.save(tmp_path / name)
        assert (tmp_path / name).read_text() == text
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(drawloom.FileError, match="none/x.html"):
        steps.save(tmp_path / "none" / "x.html")
    with pytest.raises(drawloom.CallError, match="a report is a page, .html, or a .json or .txt file"):
        steps.save(tmp_path / "x.pdf")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(drawloom.FileError, match="folder.html"):
        steps.save(tmp_path / "folder.html")
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "folder.html"])


# --- models of PyTorch -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    torch = pytest.importorskip("torch")
    import drawloom.torch

    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 32), drawloom.torch.nn.Rational(32), torch.nn.Linear(32, 32),
                               drawloom.torch.nn.Rational(32))


def test_a_model_has_a_report_of_all_programs_it_calls(model):
    import torch

    x = torch.randn(4, 1024, 8)
    report = drawloom.report(model, x, calls=2, threads=1)
    forward, backward = report.kernels[0], report.kernels[-1]
    assert report.function == "Sequential"
    assert (forward.name, forward.source) == ("rational_kernel0", "rational.mlir:2")
    assert backward.name.startswith("rational_vjp_kernel")
    # Twice each: x and y; x, dy and dx.
    rows, tables = 4 * 1024 * 32 * 4, 4 * sum(parameter.numel() for parameter in model[1].parameters())
    assert report.bytes == 2 * (2 * rows + tables) + 2 * (3 * rows + 2 * tables)
    # The coefficients come to the kernel as a row for each channel.
    assert forward.calls == 2 and 2 * 2 * rows <= forward.bytes < 2 * 2 * rows + 4096
    assert sum(kernel.share for kernel in report.kernels) + report.outside_milliseconds / report.milliseconds == pytest.approx(1)
    assert all(parameter.grad is None for parameter in model.parameters())
    with torch.no_grad():
        assert [kernel.name for kernel in drawloom.report(model, x, calls=1).kernels] == ["rational_kernel0"]


def test_programs_for_other_shapes_are_told_apart(model):
    import torch

    def both(x):
        return model[1](x), model[1](x[:512])

    with torch.no_grad():
        report = drawloom.report(both, torch.randn(1024, 32), calls=1, threads=1)
    assert report.function == "both"
    assert [kernel.name for kernel in report.kernels] == ["rational_kernel0", "rational_2_kernel0"]


def test_a_model_without_programs_of_drawloom_is_refused(model):
    import torch

    with pytest.raises(drawloom.CallError, match="Linear calls no function of drawloom.torch"):
        drawloom.report(model[0], torch.randn(3, 8))


# --- the page --------------------------------------------------------------------------------------------------------


class Elements(html.parser.HTMLParser):
    """Counts elements by name and first class, and keeps the text of those of a class."""

    def __init__(self, text):
        super().__init__()
        self.counts, self.ids, self.links, self.inside, self.texts = collections.Counter(), set(), [], [], collections.defaultdict(list)
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.counts.update([tag, *(f"{tag}.{one}" for one in attributes.get("class", "").split())])
        self.ids.add(attributes.get("id"))
        self.links += [attributes[key] for key in ("href", "src", "xlink:href") if key in attributes]
        self.inside.append(f"{tag}.{attributes.get('class', '')}")

    def handle_endtag(self, tag):
        while self.inside and not self.inside.pop().startswith(tag + "."):
            pass

    def handle_data(self, data):
        if self.inside:
            self.texts[self.inside[-1]].append(data)


def labels(svg):
    """(left, top, right, bottom) of the names in a plot, whose characters are 7.2 pixels wide."""
    for x, y, name in re.findall(r'<text class="name" x="([-\d.]+)" y="([-\d.]+)">([^<]*)</text>', svg):
        yield float(x), float(y) - 10, float(x) + 7.2 * len(html.unescape(name)), float(y) + 3


def page_of(known):
    """The page of a report, which is its JSON in the template."""
    return TEMPLATE.read_text().replace("@REPORT@", json.dumps(known).replace("<", "\\u003c"))


def test_a_page_is_the_template_around_the_json(steps):
    before, after = TEMPLATE.read_text().split("@REPORT@")
    assert steps.html() == before + steps.json().replace("<", "\\u003c") + after


def test_the_example_in_the_documentation_is_what_is_made_now():
    text = (ROOT / "docs" / "report.html").read_text()
    before, after = TEMPLATE.read_text().split("@REPORT@")
    assert text.startswith(before) and text.endswith(after)
    assert json.loads(text[len(before):-len(after)])["kernels"]


def test_a_notebook_shows_the_page_in_a_frame(steps):
    frame = Elements(steps._repr_html_())
    assert frame.counts["iframe"] == 1 and sum(frame.counts.values()) == 1


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    found = shutil.which("chromium")
    if not found:
        pytest.skip("there is no chromium; scripts/setup.sh installs it")

    def run(page, *arguments, says=None):
        profile = tmp_path_factory.mktemp("profile")
        done = subprocess.run([found, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                               # Nothing leaves this machine, neither for the page nor for the browser itself.
                               "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking", "--enable-logging=stderr",
                               f"--user-data-dir={profile}", *arguments, page.as_uri()], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        assert len(said) == (says is not None) and all(says in line for line in said)
        return done.stdout

    return run


@pytest.fixture
def drawn(chromium, tmp_path):
    """What the browser makes of a page, as text."""

    def run(text):
        page = tmp_path / "drawn.html"
        page.write_text(text)
        shown = chromium(page, "--dump-dom")
        # The code is not what is to be seen, and has names of elements in it.
        return re.sub("<script.*?</script>", "", shown, flags=re.DOTALL)

    return run


def crowded(steps):
    """A page of many kernels that are as fast as each other, so that few names have a place beside their dots."""
    known = json.loads(steps.json())
    like = max(known["kernels"], key=lambda kernel: kernel["operations"] or 0)
    known["kernels"] = [{**like, "name": f"standard_kernel{i}", "seconds": like["seconds"] * (1 + i / 20)} for i in range(20)]
    return page_of(known)


@pytest.mark.parametrize("page", ["fresh", "crowded", "docs/report.html"])
def test_names_of_kernels_do_not_cover_each_other(page, steps, drawn):
    made = {"fresh": steps.html, "crowded": lambda: crowded(steps)}
    text = drawn(made[page]() if page in made else (ROOT / page).read_text())
    plots = re.findall(r'<svg class="roofline (wide|narrow)" viewBox="0 0 (\d+) (\d+)".*?</svg>', text, re.DOTALL)
    assert [plot[0] for plot in plots] == ["wide", "narrow"]
    for match in re.finditer(r'<svg class="roofline.*?viewBox="0 0 (\d+) (\d+)".*?</svg>', text, re.DOTALL):
        boxes = list(labels(match.group(0)))
        assert boxes
        for i, (left, top, right, bottom) in enumerate(boxes):
            assert 0 <= left and right <= int(match.group(1)) and 0 <= top and bottom <= int(match.group(2))
            assert not any(left < r and l < right and top < b and t < bottom for l, t, r, b in boxes[:i])


def rows(shown):
    """The cells of the table of kernels, row by row; numbers as such."""
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", shown)
    assert len(cells) % 12 == 0
    return [[html.unescape(cell) for cell in cells[i:i + 12]] for i in range(0, len(cells), 12)]


def test_the_table_has_the_figures_of_the_kernels(steps, drawn):
    table = rows(drawn(steps.html()))
    for row, kernel in zip(table, steps.kernels, strict=True):
        assert row[:3] == [kernel.name, kernel.source, f"{kernel.blocks:.0f}"]
        assert row[11] == {"operations": "multiply-adds", "bytes": "memory", None: "–"}[kernel.bound]
        roofs = steps.roofs
        for cell, value in ((4, kernel.share * 100), (6, kernel.flops and kernel.flops_per_second / 1e9),
                            (7, kernel.flops and kernel.flops_per_second / roofs.flops_per_second * 100),
                            (9, kernel.bytes and kernel.bytes_per_second / 1e9),
                            (10, kernel.bytes and kernel.bytes_per_second / roofs.bytes_per_second * 100)):
            if value is None:
                assert row[cell] == "–"
            else:
                assert float(row[cell].removesuffix(" %")) == pytest.approx(value, rel=0.01, abs=0.5)


def test_without_roofs_or_kernels_the_page_says_so(module, drawn):
    emulated = drawn(drawloom.report(drawloom.compile(ADD, entry="exp", target="emulator"), calls=1).html())
    assert "Roofs are measured of this machine's processor, not for target emulator." in emulated
    assert "<svg" not in emulated and "The roofs were measured" not in emulated and rows(emulated)[0][7] == "–"
    small = drawloom.report(module.add, shapes=[(1, 32), (1, 32)], calls=1)
    assert not small.kernels
    small = Elements(drawn(small.html()))
    assert "There is no kernel: what is one block runs in the call itself." in small.texts["p.hint"]
    assert not small.counts["svg"] and not {"bytes", "kernels"} & small.ids and {"time", "phases", "remarks"} <= small.ids


def test_any_names_and_many_kernels_are_shown(steps, drawn):
    known = json.loads(steps.json())
    name = "</script><!--<script>alert(1)</script><b>&amp;'\"é"
    like = max(known["kernels"], key=lambda kernel: kernel["operations"] or 0)
    known["title"] = known["function"] = name
    known["kernels"] = [{**like, "name": f"{name}_{i}", "source": name, "seconds": like["seconds"] / (1 + i)} for i in range(30)]
    known["kernels"][3] |= dict.fromkeys(["operations", "intensity", "roof_seconds", "bound"])
    known["kernels"][4] |= {"seconds": 0}
    known["kernels"][5] |= dict.fromkeys(["operations", "bytes", "intensity", "roof_seconds", "bound"])
    known["remarks"] = [{"kind": "missed", "category": name, "name": name, "source": name, "message": name, "values": {name: name},
                         "count": 1 + i} for i in range(15)]
    text = drawn(page_of(known))
    assert "NaN" not in text and "undefined" not in text and "null" not in text
    shown = Elements(text)
    assert (shown.texts["h1."], shown.texts["title."][0]) == ([name], f"{name} - Drawloom report")
    assert [row[0] for row in rows(text)] == [kernel["name"] for kernel in known["kernels"]]
    assert [rows(text)[i][6] for i in (3, 4, 5)] == ["–", "–", "–"] and rows(text)[5][9] == "–"
    # Each plot leaves out what has no operations or took no time.
    assert shown.counts["circle.dot"] == 2 * 27 and shown.counts["li"] == 15 and shown.texts["summary."] == ["3 more"]
    assert text.count(">6 others<") == 2
    # Only the <b> of remarks, one around each category and one around each figure.
    assert not shown.counts["script"] and shown.counts["b"] == 2 * 15


def asked_for(log):
    """The addresses that a page made the browser ask for; what the browser does on its own has no origin."""
    events = json.loads(log.read_text())["events"]
    requests = [event["params"] for event in events if {"initiator", "url"} <= event.get("params", {}).keys()]
    return {one["url"] for one in requests if one["initiator"] != "not an origin"}


def picture(path):
    image = pytest.importorskip("PIL.Image").open(path).convert("RGB")
    return np.asarray(image).astype(int)


def test_requests_of_a_page_are_seen(chromium, tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<!DOCTYPE html><title>x</title><img src="http://elsewhere.invalid/x.png">')
    chromium(page, "--dump-dom", f"--log-net-log={tmp_path / 'net.json'}")
    assert asked_for(tmp_path / "net.json") == {"http://elsewhere.invalid/x.png"}


def test_a_browser_shows_the_page(steps, chromium, tmp_path):
    page = tmp_path / "report.html"
    steps.save(page)
    log = tmp_path / "net.json"
    shown = Elements(chromium(page, "--dump-dom", f"--log-net-log={log}"))
    plotted = [kernel for kernel in steps.kernels if kernel.intensity]
    assert shown.counts["circle.dot"] == 2 * len(plotted)
    assert shown.counts["tr"] == 1 + len(steps.kernels)
    assert shown.counts["li"] == len(steps.remarks)
    assert {"roofline", "time", "bytes", "kernels", "phases", "remarks"} <= shown.ids
    assert shown.texts["h1."] == ["@standard"]
    assert "needs-script" not in shown.ids and shown.links and all(link.startswith("data:") for link in shown.links)
    assert asked_for(log) == set()

    light, dark = tmp_path / "light.png", tmp_path / "dark.png"
    chromium(page, f"--screenshot={light}", "--window-size=1100,1400")
    chromium(page, f"--screenshot={dark}", "--window-size=500,1400", "--blink-settings=preferredColorScheme=0")
    light, dark = picture(light), picture(dark)
    assert light.shape == (1400, 1100, 3) and dark.shape == (1400, 500, 3)
    assert light[0, 0].min() > 200 and dark[0, 0].max() < 60
    for shot in (light, dark):
        # Text and drawings in all parts of the page, not one colour.
        for part in np.array_split(shot, 4):
            assert part.std() > 5
        assert len(np.unique(shot.reshape(-1, 3), axis=0)) > 100


def test_the_page_is_drawn_in_the_frame_of_a_notebook(steps, chromium, tmp_path):
    """A picture of a frame may be taken before it is painted; what the frame itself says comes before the page is loaded."""
    count = '<script>console.log(`drawn: ${document.querySelectorAll("#drawn:not([hidden]) circle").length}.`)</script></body>'
    frame = steps._repr_html_()
    end = html.escape("</body>")
    assert frame.count(end) == 1
    page = tmp_path / "notebook.html"
    page.write_text("<!DOCTYPE html>" + frame.replace(end, html.escape(count)))
    plotted = [kernel for kernel in steps.kernels if kernel.intensity]
    assert plotted
    chromium(page, "--dump-dom", says=f'"drawn: {2 * len(plotted)}."')


def test_where_scripts_do_not_run_the_page_says_so(steps, chromium, tmp_path):
    page, shot = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(re.sub("<script>.*</script>", "", steps.html(), flags=re.DOTALL))
    assert "JavaScript, which does not run here" in chromium(page, "--dump-dom")
    chromium(page, f"--screenshot={shot}", "--window-size=1100,900")
    shot = picture(shot)
    # The sentence at the top, and below it neither tiles nor sections that are empty.
    assert shot[:300].std() > 5 and (shot[300:] == shot[-1, 0]).all()
