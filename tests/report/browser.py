"""Open a page in headless Chromium and return its state."""

from __future__ import annotations

import html
import json
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.check.target_repositories import need

_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars"
    " --disable-background-networking --disable-component-update --disable-sync"
    " --allow-file-access-from-files --enable-logging=stderr --v=0 --dump-dom"
).split()

# The page is in a frame, which has exactly the requested width and does not change the page.
_HARNESS = """<!DOCTYPE html>
<meta charset="utf-8">
<title>a page in a window</title>
<link rel="icon" href="data:,">
<iframe src="PAGE" style="width: WIDTHpx; height: 900px; border: 0"></iframe>
<pre></pre>
<script>
window.onload = () => {
    const frame = document.querySelector("iframe");
    const page = frame.contentDocument;
    const measure = () => {MEASURE};
    document.querySelector("pre").textContent = JSON.stringify({
        width: page.documentElement.scrollWidth,
        measured: measure(),
    });
};
</script>
"""


@dataclass(frozen=True)
class Seen:
    """The state of a page in the browser.

    Attributes:
        console: messages of the browser's console: errors, and violations of the page's policy.
        width: of the page, in CSS pixels; larger than the window's if it does not fit.
        measured: the value of the script's `return`.
    """

    console: list[str]
    width: int
    measured: Any


def look(page: Path, width: int, script: str = "return null;") -> Seen:
    """Open a page in a window of a width, run a script, and return the page's state.

    Args:
        page: the file.
        width: of the window, in CSS pixels.
        script: JavaScript in which `page` is the document; its `return` must be JSON.
    """
    browser = need("chromium", "chromium")
    with tempfile.TemporaryDirectory() as folder:
        harness = Path(folder) / "harness.html"
        text = _HARNESS.replace("WIDTH", str(width)).replace("PAGE", page.resolve().as_uri())
        harness.write_text(text.replace("MEASURE", script), encoding="utf-8")
        run = subprocess.run(
            [browser, *_FLAGS, f"--user-data-dir={folder}/profile", harness.as_uri()],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    answer = re.search(r"<pre>(.+?)</pre>", run.stdout, re.DOTALL)
    assert answer is not None, run.stderr
    values = json.loads(html.unescape(answer[1]))
    console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    return Seen(console, **values)
