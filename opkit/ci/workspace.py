"""`python -m opkit.ci.workspace`: check the operators of the workspace in the working directory."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from opkit import repository, runtimes, workspace_members
from opkit.ci import generated
from opkit.ci.git_changes import changed
from opkit.common.errors import OpkitError
from opkit.common.text import aligned
from opkit.repository_files import write_text
from opkit.shared_files import shared_files
from opkit.workspace_members import members


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an action for each operator; print a table of the runs of SCons.

    Returns:
        1 if an action failed; the other operators' actions still run.
    """
    options = _parser().parse_args(arguments)
    root = Path.cwd()
    try:
        if not (root / workspace_members.FILE).is_file():
            raise OpkitError(f"{root} is not a workspace: {workspace_members.FILE} not found")
        repository.refuse_changed_lock(root)
        found = members(root)
        if options.changed:
            found = changed(root, found, options.changed)
    except OpkitError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.action == "products":
        for member in found:
            for product in repository.products(member, runtimes.available().values()):
                print(product.relative_to(root))
        return 0
    failures = []
    texts = shared_files()
    for path, text in texts.items():
        write_text(root, path, text)
    for folder, names in [(root, [*texts]), *((each, None) for each in found)]:
        try:
            generated.refuse_uncommitted(folder, names)
        except OpkitError as error:
            failures.append(f"{folder.relative_to(root)}: {error}" if names is None else str(error))
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    if options.action == "generated":
        return int(bool(failures))
    return int(_checks_failed(root, found, options.target) or bool(failures))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m opkit.ci.workspace", description=__doc__)
    parser.add_argument(
        "action",
        choices=["generated", "check", "products"],
        help="generated: refuse generated files that are not in git; check: also check and build "
        "each operator; products: print the paths of the built products",
    )
    parser.add_argument(
        "--changed", default="", metavar="REF", help="only operators that differ from a commit"
    )
    parser.add_argument(
        "--target", default="all", help="the target of check; default: all of each operator"
    )
    return parser


def _checks_failed(root: Path, found: Sequence[Path], target: str) -> bool:
    """Check and build each operator with all processors; print a table; return whether one fails.

    An operator without the target is left out, and counted.
    """
    rows = []
    left_out = 0
    for member in found:
        if not _has_target(member, target):
            left_out += 1
            continue
        for command in (["check"], []):
            words = [f"target={target}", *command]
            name = str(member.relative_to(root))
            print(f"::group::{name}: scons {' '.join(words)}", flush=True)
            start = time.perf_counter()
            scons = [sys.executable, "-m", "SCons", "-Q", *words]
            status = subprocess.run(scons, cwd=member, check=False).returncode
            seconds = f"{time.perf_counter() - start:.1f} s"
            print("::endgroup::", flush=True)
            rows.append(
                (name, " ".join(["scons", *words]), "failed" if status else "done", seconds)
            )
    print(aligned([("operator", "command", "result", "time"), *rows]))
    if left_out:
        print(f"{left_out} of {len(found)} operators have no target {target}")
    return any(row[2] == "failed" for row in rows)


def _has_target(member: Path, target: str) -> bool:
    try:
        return repository.has_target(repository.load(member), target)
    except OpkitError:
        return True  # SCons prints the error


if __name__ == "__main__":
    raise SystemExit(main())
