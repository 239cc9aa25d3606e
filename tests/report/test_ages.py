"""The age of products against their sources."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opkit.report.ages import FILE, Age, ages, lines, record
from opkit.toolchains.compile_inputs import digests

PRODUCTS = ("build/a/Op.rknnop", "build/b/Op.rknnop")
SOURCES = ("op.yml", "math.h")
BUILT = 1e9


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with two products, as the working directory."""
    monkeypatch.chdir(tmp_path)
    for name in (*PRODUCTS, *SOURCES):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, (BUILT, BUILT))
    sources = {**digests(SOURCES), "first/math.h": ""}
    record(tmp_path, {product: {**sources, **digests({product})} for product in PRODUCTS})
    return tmp_path


def change(path: Path, later: float) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("another one")
    os.utime(path, (BUILT + later, BUILT + later))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"math.h": 1}, "stale, 1 second older than math.h"),
        ({"math.h": 3600 * 49, "op.yml": 1}, "stale, 2 days older than math.h and 1 more"),
        ({"math.h": 0.5}, "stale, less than a second older than math.h"),
        ({"math.h": -1}, "stale, built from another math.h"),
        ({"first/math.h": 60}, "stale, 1 minute older than first/math.h"),
    ],
)
def test_stale_products(changes: dict[str, float], text: str, root: Path) -> None:
    for name, later in changes.items():
        change(root / name, later)
    assert ages(root) == dict.fromkeys(PRODUCTS, Age(text, True))


def test_timestamps_alone_make_nothing_stale(root: Path) -> None:
    os.utime(root / "math.h", (BUILT + 60, BUILT + 60))
    (root / PRODUCTS[1]).unlink()
    (product,) = ages(root)
    age = ages(root)[product]
    assert product == PRODUCTS[0]
    assert not age.is_stale
    assert age.text.startswith("up to date, ")
    assert age.text.endswith(" days old")


def test_product_of_a_killed_build_is_stale(root: Path) -> None:
    change(root / PRODUCTS[0], 60)
    assert ages(root)[PRODUCTS[0]] == Age("stale, not from a finished build", True)
    assert not ages(root)[PRODUCTS[1]].is_stale


def test_deleted_source_is_stale(root: Path) -> None:
    (root / "math.h").unlink()
    assert {age.text for age in ages(root).values()} == {"stale, built from another math.h"}


def test_generated_files_are_not_named(root: Path) -> None:
    manifest = '{"version": "0.1.0", "written once": {}, "generated": ["math.h"]}'
    (root / "generated").mkdir()
    (root / "generated/manifest.json").write_text(manifest)
    change(root / "op.yml", 60)
    change(root / "math.h", 120)
    assert {age.text for age in ages(root).values()} == {"stale, 1 minute older than op.yml"}


def test_record_keeps_other_products(root: Path) -> None:
    change(root / "math.h", 60)
    record(root, {PRODUCTS[1]: digests(SOURCES)})
    assert [age.is_stale for age in ages(root).values()] == [True, False]


@pytest.mark.parametrize("damage", ["", "{"])
def test_damaged_record_is_ignored(damage: str, root: Path) -> None:
    (root / FILE).write_text(damage)
    assert ages(root) == {}


def test_lines() -> None:
    stale = Age("stale, 2 hours older than long_name_compute.h", True)
    others = Age("stale, 3 hours older than math.h", True)
    found = {
        **dict.fromkeys((*PRODUCTS, "build/b/Op.a"), stale),
        "build/c/Op.rknnop": Age("up to date, 1 day old", False),
        "build/d/Op.rknnop": others,
    }
    assert lines(found) == [
        "packages for a, b: stale, 2 hours older than long_name_compute.h; run scons\n  target=all",
        "packages for c: up to date, 1 day old",
        "packages for d: stale, 3 hours older than math.h; run scons target=d",
    ]
