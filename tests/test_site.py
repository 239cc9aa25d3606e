"""The site of the documentation, in a browser, and the pages that are made from the code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.site import reference
from opkit import runtimes
from rknn_op import cli
from rknn_op.creation.description_schema import schema
from tests.check.target_repositories import need
from tests.marks import slow_first
from tests.report.browser import look
from tests.repositories import ROOT

# A page with each kind of content: links, wide tables, pictures, code, generated tables.
SEEN = ["index", "rknn", "gallery", "start-description", "reference/description", "evidence"]
WIDTHS = [400, 1280]
RESULT = 'class="md-search-result__item"'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site. A broken link is an error of the build."""
    folder = tmp_path_factory.mktemp("site") / "site"
    command_line = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict"]
    subprocess.run([*command_line, "--site-dir", str(folder)], cwd=ROOT, check=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("width", slow_first(1, WIDTHS))
def test_pages_fit_and_load_nothing_from_elsewhere(site: Path, width: int) -> None:
    for page in SEEN:
        seen = look(site / f"{page}.html", width)
        assert (seen.console, seen.width) == ([], width), page


@pytest.mark.slow
def test_search_works_without_a_server(site: Path) -> None:
    done = subprocess.run(
        [
            *(need("chromium", "chromium"), "--headless", "--no-sandbox", "--disable-gpu"),
            *("--virtual-time-budget=20000", f"--user-data-dir={site}/../profile", "--dump-dom"),
            f"{(site / 'index.html').as_uri()}?q=GridSample",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.count(RESULT) >= 3


def test_reference_has_every_verb() -> None:
    page = reference.verbs()
    assert re.findall(r"^## `rknn-op (\S+)`$", page, re.MULTILINE) == [*cli.VERBS]


def test_reference_has_every_key_with_its_meaning() -> None:
    page = reference.description()
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", page, re.MULTILINE)
    properties = schema(runtimes.available(), runtimes.DEFAULT)["properties"]
    keys = [key for key, value in properties.items() if value]  # not those of the vendor's files
    assert [key for key, _, _ in rows][: len(keys)] == keys
    assert [row for row in rows if not all(row)] == []
    assert {"same_as", "default", "source", "length"} <= {key for key, _, _ in rows}
