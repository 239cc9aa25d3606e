"""apply.py adds an operator to a checkout of ppl.nn, and removes it again."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import vermin
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from opkit.runtimes.pplnn import apply
from tests.runtimes.pplnn.checkouts import (
    HOSTS,
    OLD_VERSIONS,
    PARSERS,
    RISCV_OPS,
    STRAY,
    VERSIONS,
    X86_OPS,
    Checkout,
    make_checkout,
    run,
)
from tests.runtimes.pplnn.operators import description, make_repository

RECORD = "src/ppl/nn/oputils/custom.resizearea.overlay.json"
COMPUTE = "src/ppl/nn/oputils/custom/resizearea/resizearea_compute.h"
OP = "src/ppl/nn/engines/riscv/optimizer/ops/custom/resizearea_op.cc"


@dataclass
class Work:
    """An operator's repository, a checkout for it, and the command between them."""

    repository: Path
    checkout: Checkout
    capsys: pytest.CaptureFixture[str]

    def run(self, *options: str) -> int:
        return run(self.repository, self.checkout, *options)

    def compute(self, text: str) -> None:
        """Write the math."""
        (self.repository / "resizearea_compute.h").write_text(text)

    def refused(self, *options: str) -> str:
        """Run the command; check that it fails without a change, and return its message."""
        before = self.checkout.content()
        assert self.run(*options) == 2
        assert self.checkout.content() == before
        message = self.capsys.readouterr().err
        assert message.startswith("error: ")
        return message


@pytest.fixture
def work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Work:
    repository = make_repository(tmp_path / "ResizeArea", description())
    return Work(repository, make_checkout(tmp_path / "ppl.nn", is_git=True), capsys)


def added_lines(checkout: Checkout, path: str) -> list[str]:
    """Return the lines added to a file according to git; check that none is deleted."""
    lines = checkout.git("diff", "-U0", path).splitlines()[4:]
    assert not [line for line in lines if line.startswith("-")]
    return [line[1:] for line in lines if line.startswith("+")]


# ---- Files in the checkout ----


def test_files_are_at_their_paths(work: Work) -> None:
    checkout, repository = work.checkout, work.repository
    before = checkout.content()
    assert work.run() == 0
    sources = [path for path in (repository / "pplnn/src").rglob("*") if path.is_file()]
    laid = {f"src/{path.relative_to(repository / 'pplnn/src')}": path for path in sources}
    compute = ("tensor", "half", "float_bits", "scratch")
    headers = [
        *("resizearea_compute.h", "pplnn/resizearea_shapes.h", "generated/resizearea.h"),
        *(f"include/opkit/compute/{name}.h" for name in compute),
        "include/opkit/runtimes/pplnn/glue/tensors.h",
    ]
    tree = "src/ppl/nn/oputils/custom/resizearea"
    laid |= {f"{tree}/{path}": repository / path for path in headers}
    after = checkout.content()
    assert {path for path, file in after.items() if file and path not in before} == {*laid, RECORD}
    changed = {
        path
        for path, source in laid.items()
        if (checkout.root / path).read_bytes() != source.read_bytes()
    }
    assert changed == {f"{tree}_math_files.h", f"{tree}_files.h"}
    for header in headers[:2]:
        included = f'#include "ppl/nn/oputils/custom/resizearea/{header}"\n'
        assert included in checkout.read(f"{tree}_math_files.h")
    assert {path for path in before if before[path] != after[path]} == {*HOSTS}


def test_registration_lines(work: Work) -> None:
    checkout = work.checkout
    assert work.run() == 0
    end = " // opkit: custom.ResizeArea"
    assert added_lines(checkout, PARSERS) == [
        f'#include "ppl/nn/params/custom/resizearea_param.h"{end}',
        f'#include "ppl/nn/models/onnx/parsers/custom/parse_resizearea_param.h"{end}',
        '    PPL_REGISTER_OP_WITH_PARAM("custom", "ResizeArea", 1, 1, '
        "ppl::nn::custom::ResizeAreaParam, ppl::nn::custom::ParseResizeAreaParam, "
        f"ppl::nn::custom::PackResizeAreaParam);{end}",
    ]
    for engine, path in (("riscv", RISCV_OPS), ("x86", X86_OPS)):
        header = f'#include "ppl/nn/engines/{engine}/optimizer/ops/custom/resizearea_op.h"{end}'
        creator = "RegisterOptKernelCreator<custom::ResizeAreaOp>"
        line = f'    {creator}("custom", "ResizeArea", 1, 1);{end}'
        assert added_lines(checkout, path) == [header, line]
        lines = checkout.read(path).splitlines()
        index = next(i for i, line in enumerate(lines) if line.startswith("namespace ppl"))
        assert lines[index - 1] == header
        assert lines[lines.index("void RegisterBuiltinOpImpls() {") + 3] == line
    parsers = checkout.read(PARSERS)
    marks = ("PPL_REGISTER_OP_WITHOUT_PARAM", '"custom"', "void After()")
    places = [parsers.index(mark) for mark in marks]
    assert places == sorted(places)


def test_registration_without_params(work: Work, tmp_path: Path) -> None:
    text = description("Exp", "domain: com.acme-1\nopset: [2, 7]", params=False)
    work.repository = make_repository(tmp_path / "Exp", text)
    assert work.run() == 0
    assert added_lines(work.checkout, PARSERS) == [
        '    PPL_REGISTER_OP_WITHOUT_PARAM("com.acme-1", "Exp", 2, 7, nullptr);'
        " // opkit: com.acme-1.Exp"
    ]
    assert work.run("--revert") == 0
    assert not work.checkout.git("status", "--short")


def test_own_sources_and_headers_come_along(work: Work, tmp_path: Path) -> None:
    repository = work.repository
    make_repository(repository, description(more="sources: [tables/sine.cc]"))
    texts = {
        "tables/sine.cc": '#include "sine.h"\n#include "../deep/er/a.h"\n',
        "tables/sine.h": '#include <math.h>\n#include "nowhere.h"\n',
        "deep/er/a.h": '#include "../../tables/sine.h" // back\n',
    }
    for path, text in texts.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text)
    assert work.run() == 0
    for path, text in texts.items():
        assert work.checkout.read(f"src/ppl/nn/oputils/custom/resizearea/{path}") == text


def test_headers_are_found_in_include(work: Work) -> None:
    work.compute('#include "opkit/compute/half.h"\n')
    assert work.run() == 0
    place = "ppl/nn/oputils/custom/resizearea/include/opkit/compute/half.h"
    assert work.checkout.read(COMPUTE) == f'#include "{place}"\n'
    half = (work.repository / "include/opkit/compute/half.h").read_text()
    assert work.checkout.read(f"src/{place}") == half


def test_update_adds_changes_and_removes(work: Work) -> None:
    checkout, repository = work.checkout, work.repository
    (repository / "tables").mkdir()
    (repository / "tables/sine.h").write_text("")
    work.compute('#include "tables/sine.h"\n')
    assert work.run() == 0
    other = make_repository(repository.parent / "b", description(params=False))
    without_params = Work(other, checkout, work.capsys)
    without_params.compute("int math;\n")
    assert without_params.run() == 0
    there = checkout.content()
    assert "src/ppl/nn/params/custom" not in there
    assert "src/ppl/nn/oputils/custom/resizearea/tables" not in there
    assert checkout.read(COMPUTE) == "int math;\n"
    fresh = make_checkout(checkout.root.parent / "fresh")
    assert run(other, fresh) == 0
    assert fresh.content() == there
    assert work.run() == 0
    assert work.run("--revert") == 0
    assert not checkout.git("status", "--short", "--ignored")


def test_check_changes_nothing(work: Work) -> None:
    def changes() -> list[str]:
        """Return the lines that --check prints; nothing is changed."""
        before = work.checkout.content()
        work.capsys.readouterr()
        assert work.run("--check") == 1
        assert work.checkout.content() == before
        return work.capsys.readouterr().out.splitlines()

    assert f"write {OP}" in changes()
    (work.repository / "sine.h").write_text("")
    work.compute('#include "sine.h"\n')
    assert work.run() == 0
    assert work.run("--check") == 0
    work.compute("int math;\n")
    removed = "remove src/ppl/nn/oputils/custom/resizearea/sine.h"
    assert changes()[1:3] == [f"write {COMPUTE}", removed]


def test_second_run_writes_nothing(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    assert work.run() == 0
    with monkeypatch.context() as patched:
        faults = Faults(patched, at=0)
        assert work.run() == 0
    assert faults.count == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_versions(
    version: str, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.checkout = make_checkout(tmp_path / version, version, is_git=True)
    work.checkout.git("tag", "a-tag")
    monkeypatch.setenv("GIT_DIR", str(tmp_path))  # as in a hook of another repository
    assert work.run() == 0
    seen = f": ppl.nn {version} or later, by its files (a-tag, by git)"
    assert seen in work.capsys.readouterr().out
    assert ((work.checkout.root / STRAY).exists()) == (version == "v0.10.0")


def test_standalone_command(work: Work) -> None:
    """The file in a repository requires only Python."""
    root = work.checkout.root
    for option, status, last in (
        ("--check", 1, "is not up to date in the checkout; nothing was changed"),
        ("", 0, "is in the checkout; run cmake again, which finds new files"),
        ("--check", 0, "is up to date in the checkout; nothing to do"),
        ("--revert", 0, f"was taken out of {root}"),
        ("--revert", 0, f"is not in {root}"),
    ):
        command = [sys.executable, "-I", "-S", "pplnn/apply.py", str(root), *option.split()]
        done = subprocess.run(command, cwd=work.repository, check=False, stdout=subprocess.PIPE)
        assert done.returncode == status
        assert done.stdout.decode().splitlines()[-1] == f"custom.ResizeArea {last}"
    assert not work.checkout.git("status", "--short")
    text = (work.repository / "pplnn/apply.py").read_text()
    assert text.startswith("# Generated by opkit. Do not edit")
    _, python_3 = vermin.detect(text)
    assert python_3 <= (3, 8)


# ---- Refusals ----


@pytest.mark.parametrize("version", OLD_VERSIONS)
def test_old_version_is_refused(version: str, work: Work, tmp_path: Path) -> None:
    work.checkout = make_checkout(tmp_path / version, version)
    message = work.refused()
    assert f"is ppl.nn {version} or older, by its files: " in message
    assert "v0.9.2 to v0.10.0 and later; check one of these out" in message


def test_other_folder_is_refused(work: Work, tmp_path: Path) -> None:
    for root in (tmp_path / "missing", work.repository):
        work.checkout = Checkout(root)
        assert "is not a checkout of ppl.nn: no " in work.refused()


@pytest.mark.parametrize(
    ("path", "old", "new", "problem"),
    [
        *(
            (path, anchor, f"/* */ {anchor}", f"{path}: no line that begins with '{anchor}'")
            for path, anchor in (
                (PARSERS, "using namespace std;"),
                (PARSERS, "ParamParserManager::ParamParserManager()"),
                (RISCV_OPS, "namespace ppl { namespace nn { namespace riscv"),
                (X86_OPS, "void RegisterBuiltinOpImpls()"),
            )
        ),
        (RISCV_OPS, "\n}\n\n}}}", "\n} }}}", "with a line } after it"),
    ],
)
def test_missing_anchor_is_refused(path: str, old: str, new: str, problem: str, work: Work) -> None:
    work.checkout.write(path, work.checkout.read(path).replace(old, new))
    assert problem in work.refused()


@pytest.mark.parametrize("staged", [False, True])
def test_dirty_file_is_refused(staged: bool, work: Work) -> None:
    checkout = work.checkout
    assert work.run() == 0
    checkout.write(X86_OPS, checkout.read(X86_OPS) + "// mine\n")
    if staged:
        checkout.git("add", X86_OPS)
    work.compute("int math;\n")
    message = work.refused()
    assert f"  {X86_OPS}: has changes that are not committed" in message
    assert RISCV_OPS not in message
    checkout.commit()
    assert work.run() == 0
    assert work.run("--revert") == 0
    assert checkout.read(X86_OPS).endswith("// mine\n")


def test_committed_operator_is_not_dirty(work: Work, tmp_path: Path) -> None:
    superproject = Checkout(tmp_path / "super")
    checkout = work.checkout = make_checkout(superproject.root / "third_party/ppl.nn")
    superproject.write(".gitattributes", "*.cc text eol=crlf\n")
    superproject.commit()
    (checkout.root / RISCV_OPS).unlink()
    superproject.git("checkout", ".")  # with CRLF
    before = checkout.content()
    assert b"\r\n" in (checkout.root / RISCV_OPS).read_bytes()
    assert work.run() == 0
    superproject.commit()
    assert work.run("--check") == 0
    assert work.run("--revert") == 0
    assert checkout.content() == before


def test_file_in_the_way_is_refused(work: Work) -> None:
    work.checkout.write(OP, "// mine\n")
    (work.checkout.root / COMPUTE).mkdir(parents=True)
    work.checkout.write("src/ppl/nn/params/custom", "a file\n")
    message = work.refused()
    assert f"{OP}: is in the way, and not of custom.ResizeArea; delete or move it" in message
    assert f"{COMPUTE}: is in the way, and not a file" in message
    assert "/src/ppl/nn/params/custom is not a folder" in message


@pytest.mark.parametrize("options", [[], ["--revert"]])
def test_changed_file_is_refused(options: list[str], work: Work) -> None:
    assert work.run() == 0
    work.checkout.write(OP, "// mine\n")
    message = work.refused(*options)
    assert f"{OP}: was changed since custom.ResizeArea was laid there" in message


def test_other_registration_is_refused(work: Work) -> None:
    checkout = work.checkout
    text = checkout.read(RISCV_OPS).replace('"", "North"', '"custom","ResizeArea"')
    checkout.write(RISCV_OPS, text)
    checkout.commit()
    number = text[: text.index('"custom"')].count("\n") + 1
    problem = f"{RISCV_OPS}:{number}: registers custom.ResizeArea already; delete"
    assert problem in work.refused()


def test_same_names_are_refused(work: Work, tmp_path: Path) -> None:
    assert work.run() == 0
    work.repository = make_repository(tmp_path / "other", description("Resizearea"))
    assert "one checkout cannot hold both" in work.refused()


def test_broken_record_is_refused(work: Work) -> None:
    for text in ("<<<<<<< HEAD\n", "[]", '{"operator": "custom.ResizeArea", "file": {}}'):
        work.checkout.write(RECORD, text)
        assert f"{RECORD}: invalid; restore it" in work.refused()


def test_link_is_refused(work: Work, tmp_path: Path) -> None:
    place = work.checkout.root / RISCV_OPS
    shutil.move(place, tmp_path / "elsewhere.cc")
    place.symlink_to(tmp_path / "elsewhere.cc")
    assert f"{RISCV_OPS}: is behind a symbolic link" in work.refused()


def test_read_only_checkout_is_refused(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permission bits decide, as root may write everything."""

    def access(path: Path, mode: int) -> bool:
        return bool(path.stat().st_mode & stat.S_IWUSR)

    monkeypatch.setattr(os, "access", access)
    (work.checkout.root / X86_OPS).chmod(0o444)
    (work.checkout.root / "src/ppl/nn/oputils").chmod(0o555)
    message = work.refused()
    assert f"{X86_OPS}: is read-only" in message
    assert "src/ppl/nn/oputils is read-only" in message


def test_file_modes_stay(work: Work) -> None:
    place = work.checkout.root / X86_OPS
    place.chmod(0o755)
    before = work.checkout.content()
    assert work.run() == 0
    assert stat.S_IMODE(place.stat().st_mode) == 0o755
    assert work.run("--revert") == 0
    assert work.checkout.content() == before


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ("sources: [a.cc, b.c]", "op.yml:6: sources[1]: b.c"),
        ("sources: [b.cpp]", "op.yml:6: sources[0]: b.cpp"),
        ("include: [tables]", "op.yml:6: include[0]: tables"),
        ("cflags: [-O3]", "op.yml: cflags: -O3"),
    ],
)
def test_cmake_only_features_are_refused(more: str, what: str, work: Work) -> None:
    make_repository(work.repository, description(more=more))
    message = work.refused()
    assert f"{what} cannot be laid over ppl.nn" in message
    assert "build ppl.nn with pplnn/cmake/inject.cmake" in message


def test_broken_repository_is_refused(work: Work) -> None:
    (work.repository.parent / "outside.h").write_text("")
    work.compute('#include "../outside.h"\n')
    outside = "resizearea_compute.h: includes ../outside.h, which is outside of the"
    assert outside in work.refused()
    missing = "pplnn/src/ppl/nn/params/custom/resizearea_param.h"
    (work.repository / missing).unlink()
    assert f"{missing}: file not found" in work.refused()
    (work.repository / "pplnn/overlay.json").write_text("{}")
    assert "pplnn/overlay.json: " in work.refused()


def test_failing_disk(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    before = work.checkout.content()
    with monkeypatch.context() as patched:
        Faults(patched, at=9, error=OSError("No space left on device"))
        assert work.run() == 2
    message = work.capsys.readouterr().err
    assert "No space left on device. Nothing is lost: correct that, and run the" in message
    assert work.run("--revert") == 0
    assert work.checkout.content() == before


# ---- Reverting ----


def test_revert_of_nothing(work: Work) -> None:
    before = work.checkout.content()
    assert work.run("--revert") == 0
    assert "custom.ResizeArea is not in" in work.capsys.readouterr().out
    assert work.checkout.content() == before


@pytest.mark.parametrize("command", ["clean -fdxq", "checkout ."])
def test_revert_after_git(command: str, work: Work) -> None:
    before = work.checkout.content()
    assert work.run() == 0
    work.checkout.git(*command.split())
    assert work.run("--revert") == 0
    assert work.checkout.content() == before


def test_revert_keeps_empty_folder(work: Work) -> None:
    (work.checkout.root / "src/ppl/nn/params/custom").mkdir(parents=True)
    before = work.checkout.content()
    assert work.run() == 0
    assert work.run("--revert") == 0
    assert work.checkout.content() == before


ENDINGS = st.sampled_from(["\n", "\r\n"])


# Examples take long: hypothesis does not shrink a failing one.
@pytest.mark.slow
@settings(max_examples=12, deadline=None, phases=(Phase.reuse, Phase.generate))
@given(data=st.data())
def test_operators_do_not_meddle(data: st.DataObject, tmp_path_factory: Any) -> None:
    """The content of a checkout depends on its operators, not on their history."""
    folder = tmp_path_factory.mktemp("operators")
    texts = [description("Exp"), description("Exp2", params=False), description("Aaa", "domain: b")]
    repositories = [make_repository(folder / f"{i}", text) for i, text in enumerate(texts)]
    checkout = make_checkout(folder / "one")
    for path in HOSTS:  # with both kinds of line endings, and bytes that are not UTF-8
        lines = checkout.read(path).splitlines()
        mixed = "".join(line + data.draw(ENDINGS) for line in lines)
        checkout.write(path, mixed.encode() + data.draw(st.binary(max_size=9)))
    other = Checkout(Path(shutil.copytree(checkout.root, folder / "other")))
    before = checkout.content()
    steps = st.lists(st.tuples(st.integers(0, 2), st.sampled_from([(), ("--revert",)])), max_size=7)
    present: set[int] = set()
    for index, option in data.draw(steps):
        assert run(repositories[index], checkout, *option) == 0
        present = present - {index} if option else present | {index}
    for index in present:
        assert run(repositories[index], checkout, "--check") == 0
        assert run(repositories[index], other) == 0
    in_records = [each.content() for each in (checkout, other)]
    without_records = [
        {path: file for path, file in content.items() if not path.endswith(".overlay.json")}
        for content in in_records
    ]
    assert without_records[0] == without_records[1]
    for index in data.draw(st.permutations(sorted(present))):
        assert run(repositories[index], checkout, "--revert") == 0
    assert checkout.content() == before


# ---- Killed at any moment ----


class Killed(BaseException):
    """The end of a process, in a test."""


class Faults:
    """Simulate the end of a process before, or within, one of its changes of files.

    Attributes:
        count: the number of changes so far.
    """

    def __init__(self, patch: pytest.MonkeyPatch, at: int, error: BaseException | None = None):
        self.count = 0
        for name in ("mkdir", "write_bytes", "replace", "unlink", "rmdir"):
            original = getattr(Path, name)

            def change(
                path: Path, *arguments: Any, original: Callable[..., Any] = original, **more: Any
            ) -> Any:
                self.count += 1
                if self.count == at:
                    if arguments and isinstance(arguments[0], bytes):
                        original(path, arguments[0][: len(arguments[0]) // 2])
                    raise error or Killed
                return original(path, *arguments, **more)

            patch.setattr(Path, name, change)


def keep_few_files(repository: Path) -> None:
    """Reduce the operator to few files, so that a run makes few changes."""
    data = repository / apply.DATA
    content = json.loads(data.read_text())
    kept = re.compile("files|param|riscv.*op.h")
    content["files"] = [path for path in content["files"] if kept.search(path)]
    data.write_text(json.dumps(content))


@pytest.mark.slow
@pytest.mark.parametrize("command", ["apply", "update", "revert"])
def test_killed_at_any_moment(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apply, "_git", lambda *_, **__: None)  # starting git takes long
    repository = make_repository(tmp_path / "ResizeArea", description())
    newer = make_repository(tmp_path / "newer", description(params=False))
    for each in (repository, newer):
        keep_few_files(each)
    (newer / "resizearea_compute.h").write_text('#include "more/deep.h"\n')
    (newer / "more").mkdir()
    (newer / "more/deep.h").write_text("")
    original = make_checkout(tmp_path / "original")
    applied = make_checkout(tmp_path / "applied")
    assert run(newer, applied) == 0
    start = make_checkout(tmp_path / "start")
    if command == "update":
        assert run(repository, start) == 0
    elif command == "revert":
        assert run(newer, start) == 0
    option = ("--revert",) if command == "revert" else ()
    for at in itertools.count(1):
        tree = Path(shutil.copytree(start.root, tmp_path / f"{at}"))
        with monkeypatch.context() as patched:
            Faults(patched, at)
            try:
                run(newer, Checkout(tree), *option)
                break
            except Killed:
                pass
        again = Checkout(Path(shutil.copytree(tree, tmp_path / f"{at}-again")))
        assert run(newer, again) == 0
        assert run(newer, again, "--check") == 0
        assert again.content() == applied.content(), at
        back = Checkout(tree)
        assert run(newer, back, "--revert") == 0
        assert back.content() == original.content(), at
        shutil.rmtree(tree)
        shutil.rmtree(again.root)
    assert at > 25


def test_record_is_written_first(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record names the operator of every added file."""
    with monkeypatch.context() as patched:
        Faults(patched, at=6)
        with pytest.raises(Killed):
            work.run()
    record = json.loads(work.checkout.read(RECORD))
    new = work.checkout.git("ls-files", "--others").split()
    assert {path.replace(".opkit-partial", "") for path in new} <= {*record["files"], RECORD}


def test_all_versions_have_the_anchors() -> None:
    for files in VERSIONS.values():
        assert {*HOSTS} <= {*files}
