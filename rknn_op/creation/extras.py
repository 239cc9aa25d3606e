"""The choice of files around an operator: CI, dependency updates, git hooks, a container."""

from __future__ import annotations

from opkit.errors import OpkitError

DEFAULT = "ci"
_CI = (".github/workflows/ci.yml",)
_OTHERS = (".devcontainer/devcontainer.json", ".github/dependabot.yml", ".pre-commit-config.yaml")
_LEFT_OUT = {"none": (*_CI, *_OTHERS), DEFAULT: _OTHERS, "all": ()}
"""Choice -> the paths of the template's files that a repository does not get."""
CHOICES = tuple(_LEFT_OUT)


def left_out(choice: str) -> tuple[str, ...]:
    """Return the paths of the template's files that a repository does not get.

    Args:
        choice: one of CHOICES, in any case.

    Raises:
        OpkitError: the choice is unknown.
    """
    if choice.lower() not in _LEFT_OUT:
        raise OpkitError(f"extras: invalid {choice[:40]!r} (expected {', '.join(CHOICES)})")
    return _LEFT_OUT[choice.lower()]
