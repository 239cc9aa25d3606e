"""The page of `scons report`: its text, and its display in a browser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.check.profile import PHASES, Profile
from opkit.check.results import Record, Result, load, output
from opkit.check.traits import CaseTraits, TensorTraits
from opkit.report.coverage import Occurrence, coverage
from opkit.report.page import Report, page, plot_key, write
from opkit.report.plots import plot
from opkit.report.profiles import WIDTH, bars, time_text
from opkit.runtimes import parse
from opkit.runtimes.report import Product
from opkit.runtimes.rknn.report import REPORT, product, properties
from opkit.runtimes.rknn.rknnop import Package, pack
from tests.report.browser import look
from tests.repositories import ROOT, Repository

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
THIN = "\N{NARROW NO-BREAK SPACE}"
EVIL = "<script>alert('&amp;')</script>"
DESCRIPTION = f"""
name: Scale
framework: tensorflow
target_platform: RK3399PRO
kernel_index: 1
inputs:
  input: {{type: VX_TYPE_TENSOR, doc: "{EVIL}"}}
outputs:
  output: {{type: VX_TYPE_TENSOR}}
params:
  flag: {{type: VX_TYPE_BOOL, default: true, doc: "On or off."}}
  sizes: {{type: VX_TYPE_ARRAY, length: 2, source: "const:sizes"}}
"""


class Document(HTMLParser):
    """A parsed page: its elements and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"link", "meta"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, attribute: str) -> list[str]:
        return [value for _, attrs in self.elements if (value := attrs.get(attribute))]


def cells(row: str) -> list[str]:
    return [Document(cell).text for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]


def record(case: str, kernel: str = "CPU kernel", problem: str = "", test: str = "") -> Record:
    reference = np.linspace(-1, 1, 40, dtype=np.float16).reshape(4, 10)
    result = Result(kernel, case, problem, 0.5, 3, 1.25e-5)
    params = {"flag": True, "sizes": [2, 3]}
    outputs = (output("output", np.nextafter(reference, np.float16(9)), reference),)
    return Record(result, test, {"input": "float16 4x10"}, params, outputs)


def render_page(
    *records: Record, products: Sequence[Product] = (), check_failed: bool = False
) -> str:
    plots = [
        [plot(out, plot_key(number, i)) for i, out in enumerate(one.outputs)]
        for number, one in enumerate(records)
    ]
    operator = parse(DESCRIPTION)
    time = "2020-02-03 04:05"
    deliveries = {param.name: [REPORT.delivery(param)] for param in operator.params}
    properties_ = properties(operator)
    report = Report(
        *(operator, properties_, deliveries, products, records, plots, check_failed, time)
    )
    return page(report)


def test_user_text_is_escaped() -> None:
    evil = record(EVIL, EVIL, EVIL, EVIL)
    unkind = Record(evil.result, EVIL, {EVIL: EVIL}, {EVIL: EVIL}, evil.outputs)
    document = Document(render_page(unkind, products=[Product(EVIL, EVIL)]))
    assert "script" not in {tag for tag, _ in document.elements}
    assert document.text.count(EVIL) >= 10
    assert not [name for _, attrs in document.elements for name in attrs if name.startswith("on")]


def test_parameters() -> None:
    rows = re.findall(r"<tr>.*?</tr>", render_page(record("a")))
    assert [cells(row) for row in rows][1:5] == [
        ["0", "input", "input", "VX_TYPE_TENSOR", "a tensor", "", "", EVIL],
        ["1", "output", "output", "VX_TYPE_TENSOR", "a tensor", "", "", ""],
        *(
            ["2", "flag", "param", "VX_TYPE_BOOL", "a scalar of VX_TYPE_UINT8", "true", "", text]
            for text in ["On or off."]
        ),
        [
            *("3", "sizes", "param", "VX_TYPE_ARRAY", "an array of 2 VX_TYPE_INT32"),
            *("", "const:sizes", ""),
        ],
    ]


def test_forms_of_a_param_are_different_in_words(tmp_path: Path) -> None:
    text = DESCRIPTION.replace("framework:", "runtimes: [rknn, rknn2, pplnn]\nframework:")
    (tmp_path / "build").mkdir()
    write(tmp_path, parse(text), tmp_path, False, Path("page.html"))
    rows = re.findall(r"<tr>.*?</tr>", (tmp_path / "page.html").read_text(), re.DOTALL)
    forms = ["a scalar of VX_TYPE_UINT8", "an attribute of kind int bool"]
    assert [cells(row)[4].strip() for row in rows if ">flag<" in row] == ["; ".join(forms)]


def test_package_section_sizes() -> None:
    libraries = {"x64": b"x" * 12345, "aarch64": b"a" * 20, "armhf": b""}
    package = Package(2, b"SHDR....", libraries, "name: Ä\n", "pass\n")
    old = Package(1, b"", {"x64": b"x", "aarch64": b"a"}, "", "")
    text = render_page(
        record("a"),
        products=[
            product("build/a.rknnop", pack(package)),
            product("build/b.rknnop", pack(old)),
            Product("build/c.rknnop", "cut off"),
        ],
    )
    rows = [cells(row) for row in re.findall(r"<tr>.*?</tr>", text)]
    titles = (
        "file,version,program binary,x64 library,aarch64 library,armhf library,op.yml,Python file"
    )
    assert [*titles.split(","), "kind of program binary", "against its sources"] in rows
    thousands = "\N{NARROW NO-BREAK SPACE}"
    sizes = ["2", "8", f"12{thousands}345", "20", "0", "9", "5", "SHDR", "unknown"]
    assert ["build/a.rknnop", *sizes] in rows
    assert ["build/b.rknnop", "1", "0", "1", "1", "", "0", "0", "empty", "unknown"] in rows
    assert ["build/c.rknnop", "cut off", "unknown"] in rows


def test_smallest_failure_is_expanded_and_listed_first() -> None:
    problem = "first line\n  second line"
    failed = [record(name, problem=problem) for name in ("bad", "worse")]
    text = render_page(record("good"), *failed)
    assert "2 failed</span>, 1 passed" in text
    assert '<a href="#case-1">bad</a>' in text
    assert f'<pre class="problem">{problem}</pre>' in text
    assert re.findall(r"<details( open)?><summary>(\w+)", text) == [
        ("", "good"),
        (" open", "bad"),
        ("", "worse"),
    ]


def test_causes_are_told_once() -> None:
    def of(name: str, problem: str, width: int, **fields: Any) -> Record:
        one = record(name, problem=problem)
        one.result.traits = CaseTraits({}, {"input": TensorTraits("float16", (width,))})
        return replace(one, result=replace(one.result, **fields))

    look = {"cause": "wrong elements", "appearance": "output: transposed"}
    records = [of(f"odd{width}", f"{width} wrong", width, **look) for width in (5, 3)]
    records += [of("good", "", 4), of("even", "crash", 6)]
    document = Document(render_page(*records))
    causes = document.text.partition("Causes of failures")[2].partition("Parameters")[0]
    assert "2 of 4 cases on the CPU kernel: wrong elements" in causes
    assert "all failures have input.shape[-1] < 4" not in causes
    assert "all failures have an odd input.shape[-1], no pass has" in causes
    assert "output: transposed" in causes
    assert re.search(r"The smallest: odd3\s+3 wrong", causes)
    assert "5 wrong" not in causes
    assert "1 of 4 cases on the CPU kernel: crash" in causes
    assert "Cause of failures" in render_page(records[0], records[2])
    assert "of failures" not in render_page(records[2])


def test_coverage_counts_each_case_once() -> None:
    def of(kernel: str, name: str, flag: bool, problem: str = "") -> Record:
        one = record(name, kernel, problem)
        tensor = TensorTraits("float16", (2, 3), ("NaN", "-0"))
        one.result.traits = CaseTraits({"flag": flag, "sizes": [2, 3]}, {"input": tensor})
        return one

    records = [of(kernel, "a", True) for kernel in ("CPU kernel", "VX kernel")]
    records += [of("CPU kernel", "b", True, "wrong")]
    rows = {(row.name, row.what): row for row in coverage(parse(DESCRIPTION), records)}
    flag = rows["flag", "values"]
    assert (flag.occurrences, flag.missing) == ([Occurrence("true", 2, 1)], ["false"])
    assert rows["sizes", "values"].occurrences == [Occurrence("[2, 3]", 2, 1)]
    assert rows["input", "dtypes"].occurrences == [Occurrence("float16", 2, 1)]
    assert rows["input", "shapes"].occurrences == [Occurrence("2x3", 2, 1)]
    special = rows["input", "special values"]
    assert [one.text for one in special.occurrences] == ["NaN", "-0"]
    assert "infinities" in special.missing
    assert rows["output", "dtypes"].occurrences == []
    many = [of("CPU kernel", str(size), True) for size in range(20)]
    for size, one in enumerate(many):
        one.result.traits = CaseTraits({"sizes": [size, 1]})
    (row,) = (row for row in coverage(parse(DESCRIPTION), many) if row.name == "sizes")
    assert (len(row.occurrences), row.more) == (12, 8)
    assert "in no case" in render_page(*records)


@pytest.mark.parametrize(
    ("shape", "wrong", "places"),
    [
        ((4,), (2,), [(2, 0)]),
        ((2, 3), (1, 2), [(2, 1)]),
        ((5, 2, 3), (4, 0, 1), [(1, 0)]),
    ],
)
def test_error_map(
    shape: tuple[int, ...], wrong: tuple[int, ...], places: list[tuple[int, int]]
) -> None:
    reference = np.ones(shape, np.float16)
    kernel = reference.copy()
    kernel[wrong] = 2
    drawing = plot(output("out", kernel, reference), "key", is_wrong=True).map
    assert drawing is not None
    left, top, width, _ = drawing.box
    side = width / shape[-1]
    drawn = re.findall(r"M(\S+) (\S+)h(\S+)v", drawing.content.partition("</g>")[0])
    found = [(round((float(x) - left) / side), round((float(y) - top) / side)) for x, y, _ in drawn]
    assert found == places
    assert f"{shape[-1]} elements" in drawing.content


def test_error_map_of_a_large_output_has_blocks() -> None:
    reference = np.zeros((1, 1000, 7), np.float32)
    kernel = reference.copy()
    kernel[0, 999, 6] = np.nan
    places = output("out", kernel, reference).map
    assert places.shape == (48, 7)
    assert places[-1, 6] == 64
    assert np.count_nonzero(places) == 1
    assert plot(output("out", reference, reference), "key", is_wrong=True).map is None
    assert plot(output("out", kernel, reference), "key").map is None


def test_kernels_have_separate_tables() -> None:
    text = render_page(*(record("a", kernel) for kernel in ("CPU kernel", "VX kernel")))
    assert re.findall("<h3>(.*?)</h3>", text) == ["CPU kernel", "VX kernel"]
    assert "1 case against the numpy reference (CPU kernel; VX kernel)" in text
    assert text.count('<table class="cases">') == 2


def test_failed_check_without_failed_case() -> None:
    assert "all passed</span></p>" in render_page(record("a"))
    assert "the check failed</span>; its output has the reason" in render_page(
        record("a"), check_failed=True
    )


def test_no_cases() -> None:
    assert "No case was run." in render_page()


def test_crash_has_message_without_plots() -> None:
    text = render_page(Record(Result("CPU kernel", "a", "the kernel crashes")))
    assert "the kernel crashes" in text
    assert 'class="plot"' not in text
    assert 'class="thumbnail"' not in text


def test_page_is_self_contained_and_accessible() -> None:
    document = Document(render_page(record("a", test="test_one"), record("b", test="test_two")))
    ids = document.values("id")
    assert len(ids) == len(set(ids))
    links = document.values("href") + document.values("src") + document.values("xlink:href")
    assert len(links) == 5
    for link in links:
        assert link.startswith("data:") or link.removeprefix("#") in ids
    assert set(document.values("aria-labelledby")) <= set(ids)
    tags = [tag for tag, _ in document.elements]
    assert tags.count("title") == 1 + tags.count("svg") == 1 + 2 * 4
    assert all("scope" in attrs for tag, attrs in document.elements if tag == "th")
    assert ("html", {"lang": "en"}) in document.elements
    policy = {"http-equiv": "Content-Security-Policy", "content": POLICY}
    assert ("meta", policy) in document.elements
    assert "output, float16 4x10: 40 elements, 0 equal, 40 off by 1 ulp" in document.text


def test_plots_use_page_colors() -> None:
    drawn = plot(record("a").outputs[0], "key", is_wrong=True)
    style = (ROOT / "opkit/report/style.css").read_text()
    assert drawn.map is not None
    for drawing in (drawn.histogram, drawn.parity, drawn.map):
        colors = set(re.findall(r"(?:fill|stroke): ([^;\"]+)", drawing.content))
        assert colors <= {"none", "var(--muted)", "var(--rule)", "var(--series)"}
        assert "var(--series)" in colors
        for variable in re.findall(r"var\((.*?)\)", drawing.content):
            assert style.count(f"{variable}:") >= 2, "not in both schemes"


def data(content: str, group: str) -> list[list[tuple[float, float]]]:
    """Return the shapes of a group, each as its corners."""
    found = re.search(rf'<g id="{group}"><path d="(.*?)"', content)
    assert found is not None
    shapes = found[1].strip().split("M")[1:]
    return [
        [(float(x), float(y)) for x, y in (point.split() for point in shape.strip().split("L"))]
        for shape in shapes
    ]


def test_histogram_bars() -> None:
    reference = np.arange(111, dtype=np.int32)
    kernel = reference + np.repeat([0, 1, -3], [100, 10, 1]).astype(np.int32)
    drawing = plot(output("out", kernel, reference), "key").histogram
    bars = data(drawing.content, drawing.group)
    left, _, width, _ = drawing.box
    assert [len(bar) for bar in bars] == [4, 4, 4]
    bins = [round(((x - left) / width - 0.5) * 7.2 + 0.4) for ((x, _), *_) in bars]
    assert bins == [-3, 0, 1]
    heights = [bottom - top for ((_, bottom), (_, top), *_) in bars]
    # A logarithmic axis: the steps from 1 to 10 and from 10 to 100 elements are equal.
    assert heights[1] - heights[2] == pytest.approx(heights[2] - heights[0], abs=0.2)
    assert heights[0] > 5


def test_parity_plot_dots() -> None:
    reference = np.array([-1, 0, 1, 1, np.nan, np.inf], np.float32)
    kernel = np.array([-1, 0, 1, 0, np.nan, 1], np.float32)
    drawing = plot(output("out", kernel, reference), "key").parity
    left, top, width, height = drawing.box
    dots = {
        (round(((x - left) / width - 0.5) * 2 * 1.12), round((0.5 - (y - top) / height) * 2 * 1.12))
        for ((x, y), _) in data(drawing.content, drawing.group)
    }
    assert dots == {(-1, -1), (0, 0), (1, 1), (1, 0)}


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([-1e-7, 1e-4, 1e-2, 1, 60000.0], ["0", "10⁵", "10⁻¹"]),
        ([5.0, 5.0], ["5"]),
        ([-40.0, 33.0], ["\N{MINUS SIGN}25", "0", "25"]),
        ([np.nan], ["no finite numbers"]),
    ],
)
def test_axis_scales(values: list[float], ticks: list[str]) -> None:
    array = np.array(values, np.float32)
    content = plot(output("out", array, array), "key").parity.content
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", content)
    assert set(ticks) <= set(texts), texts


# ---- Where the time goes ------------------------------------------------------------------------


def profiled(kernel: str, case: str, elements: int, dtype: str = "float16") -> Record:
    one = record(case, kernel)
    times = {"copy": 0.0, "conversion": 1.0, "math": 2.5, "allocation": 0.004, "other": 0.5}
    nanoseconds = {phase: elements * time for phase, time in times.items()}
    one.result.profile = Profile(nanoseconds, elements, 100)
    return replace(one, inputs={"x": f"{dtype} {elements}", "y": f"{dtype} 1"})


def test_bars_are_of_the_largest_cases() -> None:
    found = bars(
        [
            record("not profiled"),
            profiled("CPU kernel", "small", 10),
            profiled("CPU kernel", "large", 1000),
            profiled("CPU kernel", "next", 999),
            profiled("CPU kernel", "wide", 20, "float32"),
            profiled("CPU kernel, rknn2", "small", 10),
        ]
    )
    assert [(bar.record, bar.kernel, bar.case, bar.dtypes, bar.elements) for bar in found] == [
        (2, "CPU kernel", "large", "float16", 1000),
        (4, "CPU kernel", "wide", "float32", 20),
        (5, "CPU kernel, rknn2", "small", "float16", 10),
    ]


def test_segments_fill_the_bar() -> None:
    (bar,) = bars([profiled("CPU kernel", "a", 8)])
    assert bar.time == "4.00"
    assert [each.phase for each in bar.segments] == ["conversion", "math", "allocation", "other"]
    assert bar.description == (
        "conversion 1.00 ns (25%), math 2.50 ns (62%), allocation < 0.01 ns (< 1%), "
        "other 0.50 ns (12%)"
    )
    ends = [each.x + each.width for each in bar.segments]
    assert [each.x for each in bar.segments[1:]] == pytest.approx(ends[:-1], abs=0.15)
    assert ends[-1] == pytest.approx(WIDTH, abs=0.15)


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0.0, "0.00"),
        (0.004, "< 0.01"),
        (0.006, "0.01"),
        (1.23, "1.23"),
        (12.34, "12.3"),
        (1e3, "1000"),
    ],
)
def test_nanoseconds(nanoseconds: float, text: str) -> None:
    assert time_text(nanoseconds) == text


def test_page_shows_where_the_time_goes() -> None:
    text = render_page(record("a"), profiled("CPU kernel", "b", 1), profiled(EVIL, EVIL, 4096))
    document = Document(text)
    told = document.text.partition("Where the time goes")[2].partition("Cases")[0]
    assert f"4.00 ns per element 4{THIN}096 elements" in re.sub(r"\s*\n\s*", " ", told)
    assert "4.00 ns per element 1 element\n" in told
    assert "math 2.50 ns 62%" in told
    assert '<a href="#case-1">b</a>' in text
    pictures = re.findall(r"<svg role=.*?</svg>", text, re.DOTALL)
    assert len(pictures) == 2
    for picture in pictures:
        assert picture.count("<title>") == picture.count("<desc>") == 1
    assert "script" not in {tag for tag, _ in document.elements}
    assert "Where the time goes" not in render_page(record("a"))


def test_colors_of_phases_are_in_all_schemes() -> None:
    style = (ROOT / "opkit/report/style.css").read_text()
    content = bars([profiled("CPU kernel", "a", 8)])[0].content
    used = re.findall(r"var\(--(.*?)\)", content)
    assert used == ["conversion", "math", "allocation", "other"]
    for phase in PHASES:
        assert f".phase.{phase}::before {{ border-color: var(--{phase}); }}" in style
        # That of the math is --series, which is in all schemes.
        assert style.count(f"--{phase}:") == (1 if phase == "math" else 2)
    assert "--math: var(--series);" in style


# ---- scons report -------------------------------------------------------------------------------

CASES = """return {
    open: page.querySelectorAll("details[open]").length,
    cases: [...page.querySelectorAll(".row")].filter(row => row.checkVisibility()).map(row => ({
        name: row.querySelector("summary").textContent,
        outcome: row.querySelector(".outcome").textContent,
        pictures: [...row.querySelectorAll(".thumbnail use")].filter(
            use => use.getBoundingClientRect().width > 0
        ).length,
    })),
    plots: [...page.querySelectorAll("details")].map(details => {
        const plots = [...details.closest("tbody").querySelectorAll(".plot")];
        const visible = () => plots.filter(plot => plot.checkVisibility()).length;
        details.open = false;
        const closed = visible();
        details.open = true;
        return [closed, visible()];
    }),
    width_with_all_open: page.documentElement.scrollWidth,
};"""


@pytest.fixture(scope="module")
def reported(
    example: Callable[..., Repository], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Repository, str]:
    """Return the repository of ResizeArea with its report, and the output of `scons report`."""
    path = tmp_path_factory.mktemp("report") / "ResizeArea"
    shutil.copytree(example("resize_area", "rknn").path, path)
    repository = Repository(path)
    return repository, repository.scons("report").stdout


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_browser_shows_every_case(reported: tuple[Repository, str], width: int) -> None:
    repository, _ = reported
    seen = look(repository.path / "build/report.html", width, CASES)
    assert seen.console == []
    assert seen.width == seen.measured["width_with_all_open"] == width
    records = load(repository.path / "build/results")
    assert len(records) == 114
    assert [case["name"] for case in seen.measured["cases"]] == [one.result.case for one in records]
    assert {case["outcome"] for case in seen.measured["cases"]} == {"passed"}
    finite = [np.isfinite(one.outputs[0].kernel).any() for one in records]
    assert [case["pictures"] for case in seen.measured["cases"]] == [1 + has for has in finite]
    assert seen.measured["plots"] == [[0, 2]] * 114
    assert seen.measured["open"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "<script>nothing.is.here;</script>",
        "<meta http-equiv=Content-Security-Policy content=\"POLICY\"><img src='http://[::1]:9/a.png'>",
    ],
    ids=["error in a script", "request"],
)
def test_browser_check_detects_bad_page(tmp_path: Path, body: str) -> None:
    file = tmp_path / "page.html"
    file.write_text(f"<!DOCTYPE html><title>bad</title>{body.replace('POLICY', POLICY)}")
    assert look(file, 390).console != []


def test_browser_check_detects_wide_page(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("<!DOCTYPE html><title>wide</title><p style='width: 400px; margin: 0'>wide")
    assert look(file, 390).width > 390


@pytest.mark.slow
def test_scons_report_output(reported: tuple[Repository, str]) -> None:
    repository, printed = reported
    size = (repository.path / "build/report.html").stat().st_size
    assert f"build/report.html: {size} bytes, 114 results, 0 failed" in printed.splitlines()
    assert size < 1_000_000
    text = (repository.path / "build/report.html").read_text()
    assert "build/rv1126/ResizeArea.rknnop" in text
    assert "test_cpu_kernel_channels_first" in text


CAUSES = """return {
    causes: page.querySelectorAll(".cause").length,
    maps: page.querySelectorAll(".cause svg path[opacity]").length,
    open: page.querySelectorAll("details[open]").length,
    rows: page.querySelectorAll(".coverage tbody th").length,
};"""


@pytest.mark.slow
@pytest.mark.nightly
def test_failing_case_is_shown_and_fails_build(copy_of_fresh: Repository) -> None:
    repository = copy_of_fresh
    (compute,) = repository.path.glob("*_compute.h")
    text = compute.read_text()
    assert text.count("    return NULL;") == 1
    compute.write_text(
        text.replace(
            "    return NULL;", "    outputs->output.float32[0] += 1.0F;\n    return NULL;"
        )
    )
    result = repository.scons("report", check=False)
    assert result.returncode == 2
    page_path = repository.path / "build/report.html"
    page_text = page_path.read_text()
    for width in (390, 1280):
        seen = look(page_path, width, CAUSES)
        assert (seen.console, seen.width) == ([], width)
        assert seen.measured == {"causes": 1, "maps": 1, "open": 1, "rows": 6}
    records = load(repository.path / "build/results")
    of_the_cpu_kernel = [one for one in records if one.result.kernel == "CPU kernel"]
    assert page_text.count('<td class="outcome bad">failed</td>') == len(of_the_cpu_kernel) > 0
    assert all(one.outputs for one in records)
    assert "Traceback" not in result.stdout + result.stderr

    compute.write_text(text)
    repository.scons("report")
    assert len(load(repository.path / "build/results")) == len(records)
    assert "all passed" in (repository.path / "build/report.html").read_text()
