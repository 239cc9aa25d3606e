"""The templates of this runtime's files."""

from __future__ import annotations

from pathlib import Path

from opkit.text import renderer

render = renderer(Path(__file__).parent / "templates")
