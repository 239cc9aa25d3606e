"""The choice of tried changes does not depend on the order in which trials end."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from opkit.mutation.mutants import Change
from opkit.mutation.run import report
from opkit.mutation.trials import Copy, Outcome, copy_repository, try_changes

CHANGES = [Change("sum.h", "+1", line, (line, line), b"x", "", "") for line in range(20)]
# Line -> outcome; of others: noticed.
OUTCOMES = {
    2: Outcome.SAME_CODE,
    3: Outcome.LIVES,
    5: Outcome.DOES_NOT_COMPILE,
    6: Outcome.SAME_CODE,
}


@pytest.mark.parametrize("copies", [1, 3])
def test_same_code_is_replaced_by_the_next_change(tmp_path: Path, copies: int) -> None:
    used = Counter[Path]()
    lock = threading.Lock()

    def outcome(change: Change, copy: Copy) -> Outcome:
        with lock:
            used[copy.root] += 1
            assert used[copy.root] == 1, "two trials at a time in one copy"
        time.sleep(0.001 * (change.line * 7 % 5))
        with lock:
            used[copy.root] -= 1
        return OUTCOMES.get(change.line, Outcome.NOTICED)

    places = [Copy(tmp_path / f"{number}", tmp_path, {}, []) for number in range(copies)]
    results = try_changes(iter(CHANGES), 5, places, outcome, lambda: None)
    assert results == [
        (change, OUTCOMES.get(change.line, Outcome.NOTICED)) for change in CHANGES[:8]
    ]


def test_error_ends_what_trials_wait_for(tmp_path: Path) -> None:
    killed = threading.Event()
    tried = set[int]()

    def outcome(change: Change, copy: Copy) -> Outcome:
        tried.add(change.line)
        if change.line == 0:
            raise KeyboardInterrupt
        assert killed.wait(60)
        return Outcome.NOTICED

    places = [Copy(tmp_path / f"{number}", tmp_path, {}, []) for number in range(2)]
    with pytest.raises(KeyboardInterrupt):
        try_changes(iter(CHANGES), 5, places, outcome, killed.set)
    assert tried <= {0, 1, 2}  # at most one after the error, before the end


def test_report_has_the_number_of_the_noun() -> None:
    change = Change("sum.h", "+1", 3, (0, 1), b"y", "x", "y")
    same = (change, Outcome.SAME_CODE)  # not counted

    def first_line(*outcomes: Outcome) -> str:
        results = [(change, outcome) for outcome in outcomes]
        return report([*results, same], len(outcomes)).partition("\n")[0]

    noticed, lives = Outcome.NOTICED, Outcome.LIVES
    assert first_line(noticed) == "your cases notice 1 change"
    assert first_line(noticed, noticed) == "your cases notice all 2 changes"
    assert first_line(lives) == "your cases notice 0 of 1 change; this one lives:"
    assert first_line(lives, lives) == "your cases notice 0 of 2 changes; these 2 live:"


def test_copy_has_links_to_what_is_built(tmp_path: Path) -> None:
    repository, root = tmp_path / "Sum", tmp_path / "Sum/build/mutation/0"
    for name in ("sum.h", "src/more.c", "build/x64/libsum.so", "build/other", ".git/HEAD"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(name)
    for name in (".venv/pyvenv.cfg", "env/pyvenv.cfg"):
        (repository / name).parent.mkdir()
        (repository / name).write_text("")
    (tmp_path / "data").mkdir()
    (repository / "data").symlink_to("../data")
    (repository / "gone").symlink_to("nowhere")
    copy_repository(repository, root)
    copy = Copy(root, repository, {"sum.h": b"sum.h"}, ["build/x64/libsum.so"])
    copy.reset()
    (root / "sum.h").write_text("changed")
    (root / "build/x64/libsum.so").unlink()
    (root / "build/x64/libsum.so").write_text("changed")
    copy.reset()
    files = {str(path.relative_to(root)): path for path in root.rglob("*") if not path.is_dir()}
    assert files.keys() == {"sum.h", "src/more.c", "build/x64/libsum.so"}
    assert all(path.read_text() == name for name, path in files.items())
    assert (root / "data").resolve() == tmp_path / "data"
    assert (repository / "sum.h").read_text() == "sum.h"
    assert not (root / "src/more.c").is_symlink()


@pytest.mark.parametrize(
    ("outcomes", "count", "expected"),
    [
        ("", 3, "mutate=3: there is nothing to change in the kernels"),
        ("N", 1, "your cases notice 1 change"),
        ("N", 2, "mutate=2: there are no more than 1 change\nyour cases notice 1 change"),
        ("NN", 2, "your cases notice all 2 changes"),
        ("L", 1, "your cases notice 0 of 1 change; this one lives:\nsum.h:0 `x` -> `y`"),
        (
            "NLL",
            3,
            "your cases notice 1 of 3 changes; these 2 live:\nsum.h:1 `x` -> `y`\n"
            "sum.h:2 `x` -> `y`",
        ),
    ],
)
def test_report(outcomes: str, count: int, expected: str) -> None:
    names = {"N": Outcome.NOTICED, "L": Outcome.LIVES}
    changes = [Change("sum.h", "+1", line, (line, line), b"y", "x", "y") for line in range(3)]
    results = [(change, names[each]) for change, each in zip(changes, outcomes, strict=False)]
    text, _, advice = report(results, count).partition("\nAdd a case that fails")
    assert text == expected
    assert bool(advice) == ("L" in outcomes)
