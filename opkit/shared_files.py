"""The generated files at the root of a workspace."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from opkit.files import generation

_OPKIT = Path(__file__).resolve().parent


@cache
def shared_files() -> dict[str, str]:
    """Return path -> text of the generated files: the documents of all runtimes, and CI's steps."""
    documents = [*_OPKIT.glob("docs/*.md"), *_OPKIT.glob("runtimes/*/docs/*.md")]
    return {
        ".github/actions/operators/action.yml": generation.copy("ci/workspace_action.yml"),
        **{
            f"docs/{path.name}": generation.copy(path.relative_to(_OPKIT).as_posix())
            for path in sorted(documents)
        },
    }
