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


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "ResizeArea", description())


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return make_checkout(tmp_path / "ppl.nn", is_git=True)


def added_lines(checkout: Checkout, path: str) -> list[str]:
    """Return the lines added to a file according to git; check that none is deleted."""
    lines = checkout.git("diff", "-U0", path).splitlines()[4:]
    assert not [line for line in lines if line.startswith("-")]
    return [line[1:] for line in lines if line.startswith("+")]


# ---- Files in the checkout ----


def test_files_are_at_their_paths(repository: Path, checkout: Checkout) -> None:
    before = checkout.content()
    assert run(repository, checkout) == 0
    sources = repository / "pplnn/src"
    laid = {
        f"src/{path.relative_to(sources)}": path.read_bytes()
        for path in sources.rglob("*")
        if path.is_file()
    }
    tree = "src/ppl/nn/oputils/custom/resizearea"
    headers = [
        *("resizearea_compute.h", "pplnn/resizearea_shapes.h", "generated/resizearea.h"),
        *(
            f"include/opkit/compute/{name}.h"
            for name in ("tensor", "half", "float_bits", "scratch")
        ),
        "include/opkit/runtimes/pplnn/glue/tensors.h",
    ]
    laid |= {f"{tree}/{path}": (repository / path).read_bytes() for path in headers}
    after = checkout.content()
    assert {path for path, file in after.items() if file and path not in before} == {*laid, RECORD}
    changed = {path for path, data in laid.items() if (checkout.root / path).read_bytes() != data}
    of_math = "src/ppl/nn/oputils/custom/resizearea_math_files.h"
    assert changed == {of_math, "src/ppl/nn/oputils/custom/resizearea_files.h"}
    for header in ("resizearea_compute.h", "pplnn/resizearea_shapes.h"):
        included = f"ppl/nn/oputils/custom/resizearea/{header}"
        assert f'#include "{included}"\n' in checkout.read(of_math)
    assert {path for path in before if before[path] != after[path]} == {*HOSTS}


def test_registration_lines(repository: Path, checkout: Checkout) -> None:
    assert run(repository, checkout) == 0
    end = " // opkit: custom.ResizeArea"
    assert added_lines(checkout, PARSERS) == [
        f'#include "ppl/nn/params/custom/resizearea_param.h"{end}',
        f'#include "ppl/nn/models/onnx/parsers/custom/parse_resizearea_param.h"{end}',
        '    PPL_REGISTER_OP_WITH_PARAM("custom", "ResizeArea", 1, 1, '
        "ppl::nn::custom::ResizeAreaParam, ppl::nn::custom::ParseResizeAreaParam, "
        f"ppl::nn::custom::PackResizeAreaParam);{end}",
    ]
    for engine, path in (("riscv", RISCV_OPS), ("x86", X86_OPS)):
        header = f"ppl/nn/engines/{engine}/optimizer/ops/custom/resizearea_op.h"
        assert added_lines(checkout, path) == [
            f'#include "{header}"{end}',
            '    RegisterOptKernelCreator<custom::ResizeAreaOp>("custom", "ResizeArea", 1, 1);'
            + end,
        ]
        lines = checkout.read(path).splitlines()
        index = next(i for i, line in enumerate(lines) if line.startswith("namespace ppl"))
        assert header in lines[index - 1]
        index = lines.index("void RegisterBuiltinOpImpls() {")
        assert "custom::ResizeAreaOp" in lines[index + 3]
    parsers = checkout.read(PARSERS)
    assert parsers.index("PPL_REGISTER_OP_WITHOUT_PARAM") < parsers.index('"custom"')
    assert parsers.index('"custom"') < parsers.index("void After()")


def test_registration_without_params(tmp_path: Path, checkout: Checkout) -> None:
    text = description("Exp", "domain: com.acme-1\nopset: [2, 7]", params=False)
    assert run(make_repository(tmp_path / "Exp", text), checkout) == 0
    assert added_lines(checkout, PARSERS) == [
        '    PPL_REGISTER_OP_WITHOUT_PARAM("com.acme-1", "Exp", 2, 7, nullptr);'
        " // opkit: com.acme-1.Exp"
    ]
    assert run(tmp_path / "Exp", checkout, "--revert") == 0
    assert not checkout.git("status", "--short")


def test_own_sources_and_headers_come_along(tmp_path: Path, checkout: Checkout) -> None:
    text = description(more="sources: [tables/sine.cc]")
    repository = make_repository(tmp_path / "ResizeArea", text)
    (repository / "tables").mkdir()
    (repository / "tables/sine.cc").write_text('#include "sine.h"\n#include "../deep/er/a.h"\n')
    (repository / "tables/sine.h").write_text('#include <math.h>\n#include "nowhere.h"\n')
    (repository / "deep/er").mkdir(parents=True)
    (repository / "deep/er/a.h").write_text('#include "../../tables/sine.h" // back\n')
    assert run(repository, checkout) == 0
    tree = checkout.root / "src/ppl/nn/oputils/custom/resizearea"
    for path in ("tables/sine.cc", "tables/sine.h", "deep/er/a.h"):
        assert (tree / path).read_bytes() == (repository / path).read_bytes()


def test_headers_are_found_in_include(repository: Path, checkout: Checkout) -> None:
    (repository / "resizearea_compute.h").write_text('#include "opkit/compute/half.h"\n')
    assert run(repository, checkout) == 0
    place = "ppl/nn/oputils/custom/resizearea/include/opkit/compute/half.h"
    assert checkout.read(COMPUTE) == f'#include "{place}"\n'
    half = (repository / "include/opkit/compute/half.h").read_text()
    assert checkout.read(f"src/{place}") == half


def test_update_adds_changes_and_removes(repository: Path, checkout: Checkout) -> None:
    (repository / "tables").mkdir()
    (repository / "tables/sine.h").write_text("")
    (repository / "resizearea_compute.h").write_text('#include "tables/sine.h"\n')
    assert run(repository, checkout) == 0
    without_params = make_repository(repository.parent / "b", description(params=False))
    (without_params / "resizearea_compute.h").write_text("int math;\n")
    assert run(without_params, checkout) == 0
    there = checkout.content()
    assert "src/ppl/nn/params/custom" not in there
    assert "src/ppl/nn/oputils/custom/resizearea/tables" not in there
    assert checkout.read(COMPUTE) == "int math;\n"
    fresh = make_checkout(checkout.root.parent / "fresh")
    assert run(without_params, fresh) == 0
    assert fresh.content() == there
    assert run(repository, checkout) == 0
    assert run(repository, checkout, "--revert") == 0
    assert not checkout.git("status", "--short", "--ignored")


def test_check_changes_nothing(
    repository: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    before = checkout.content()
    assert run(repository, checkout, "--check") == 1
    assert checkout.content() == before
    assert f"write {OP}\n" in capsys.readouterr().out
    (repository / "sine.h").write_text("")
    (repository / "resizearea_compute.h").write_text('#include "sine.h"\n')
    assert run(repository, checkout) == 0
    assert run(repository, checkout, "--check") == 0
    (repository / "resizearea_compute.h").write_text("int math;\n")
    capsys.readouterr()
    before = checkout.content()
    assert run(repository, checkout, "--check") == 1
    assert checkout.content() == before
    assert capsys.readouterr().out.splitlines()[1:3] == [
        f"write {COMPUTE}",
        "remove src/ppl/nn/oputils/custom/resizearea/sine.h",
    ]


def test_second_run_writes_nothing(
    repository: Path, checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(repository, checkout) == 0
    with monkeypatch.context() as patched:
        faults = Faults(patched, at=0)
        assert run(repository, checkout) == 0
    assert faults.count == 0


@pytest.mark.parametrize(
    ("version", "seen"), [("v0.9.2", "v0.9.2 or later"), ("v0.10.0", "v0.10.0 or later")]
)
def test_versions(
    version: str,
    seen: str,
    repository: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checkout = make_checkout(tmp_path / version, version, is_git=True)
    checkout.git("tag", "a-tag")
    monkeypatch.setenv("GIT_DIR", str(tmp_path))  # as in a hook of another repository
    assert run(repository, checkout) == 0
    assert f": ppl.nn {seen}, by its files (a-tag, by git)" in capsys.readouterr().out
    assert ((checkout.root / STRAY).exists()) == (version == "v0.10.0")


def test_standalone_command(repository: Path, checkout: Checkout) -> None:
    """The file in a repository requires only Python."""
    command = [sys.executable, "-I", "-S", "pplnn/apply.py", str(checkout.root)]
    for option, status, last in (
        ("--check", 1, "is not up to date in the checkout; nothing was changed"),
        ("", 0, "is in the checkout; run cmake again, which finds new files"),
        ("--check", 0, "is up to date in the checkout; nothing to do"),
        ("--revert", 0, f"was taken out of {checkout.root}"),
        ("--revert", 0, f"is not in {checkout.root}"),
    ):
        done = subprocess.run(
            [*command, *option.split()], cwd=repository, check=False, stdout=subprocess.PIPE
        )
        assert done.returncode == status
        assert done.stdout.decode().splitlines()[-1] == f"custom.ResizeArea {last}"
    assert not checkout.git("status", "--short")
    text = (repository / "pplnn/apply.py").read_text()
    assert text.startswith("# Generated by opkit. Do not edit")
    _, python_3 = vermin.detect(text)
    assert python_3 <= (3, 8)


# ---- Refusals ----


def refused(repository: Path, checkout: Checkout, capsys: Any, *options: str) -> str:
    """Run the command; check that it fails without a change, and return its message."""
    before = checkout.content()
    assert run(repository, checkout, *options) == 2
    assert checkout.content() == before
    message: str = capsys.readouterr().err
    assert message.startswith("error: ")
    return message


@pytest.mark.parametrize("version", OLD_VERSIONS)
def test_old_version_is_refused(
    version: str, repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout = make_checkout(tmp_path / version, version)
    message = refused(repository, checkout, capsys)
    assert f"is ppl.nn {version} or older, by its files: " in message
    assert "v0.9.2 to v0.10.0 and later; check one of these out" in message


def test_other_folder_is_refused(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for root in (tmp_path / "missing", tmp_path):
        assert "is not a checkout of ppl.nn: no " in refused(repository, Checkout(root), capsys)


@pytest.mark.parametrize(
    ("path", "anchor"),
    [
        (PARSERS, "using namespace std;"),
        (PARSERS, "ParamParserManager::ParamParserManager()"),
        (RISCV_OPS, "namespace ppl { namespace nn { namespace riscv"),
        (X86_OPS, "void RegisterBuiltinOpImpls()"),
    ],
)
def test_missing_anchor_is_refused(
    path: str,
    anchor: str,
    repository: Path,
    checkout: Checkout,
    capsys: pytest.CaptureFixture[str],
) -> None:
    checkout.write(path, checkout.read(path).replace(anchor, f"/* */ {anchor}"))
    message = refused(repository, checkout, capsys)
    assert f"{path}: no line that begins with '{anchor}'" in message


def test_missing_brace_is_refused(
    repository: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    text = checkout.read(RISCV_OPS)
    checkout.write(RISCV_OPS, text.replace("\n}\n\n}}}", "\n} }}}"))
    assert "with a line } after it" in refused(repository, checkout, capsys)


@pytest.mark.parametrize("staged", [False, True])
def test_dirty_file_is_refused(
    staged: bool, repository: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(repository, checkout) == 0
    checkout.write(X86_OPS, checkout.read(X86_OPS) + "// mine\n")
    if staged:
        checkout.git("add", X86_OPS)
    (repository / "resizearea_compute.h").write_text("int math;\n")
    message = refused(repository, checkout, capsys)
    assert f"  {X86_OPS}: has changes that are not committed" in message
    assert RISCV_OPS not in message
    checkout.commit()
    assert run(repository, checkout) == 0
    assert run(repository, checkout, "--revert") == 0
    assert checkout.read(X86_OPS).endswith("// mine\n")


def test_committed_operator_is_not_dirty(repository: Path, tmp_path: Path) -> None:
    superproject = Checkout(tmp_path / "super")
    checkout = make_checkout(superproject.root / "third_party/ppl.nn")
    superproject.write(".gitattributes", "*.cc text eol=crlf\n")
    superproject.commit()
    (checkout.root / RISCV_OPS).unlink()
    superproject.git("checkout", ".")  # with CRLF
    before = checkout.content()
    assert b"\r\n" in (checkout.root / RISCV_OPS).read_bytes()
    assert run(repository, checkout) == 0
    superproject.commit()
    assert run(repository, checkout, "--check") == 0
    assert run(repository, checkout, "--revert") == 0
    assert checkout.content() == before


def test_file_in_the_way_is_refused(
    repository: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.write(OP, "// mine\n")
    (checkout.root / COMPUTE).mkdir(parents=True)
    checkout.write("src/ppl/nn/params/custom", "a file\n")
    message = refused(repository, checkout, capsys)
    assert f"{OP}: is in the way, and not of custom.ResizeArea; delete or move it" in message
    assert f"{COMPUTE}: is in the way, and not a file" in message
    assert "/src/ppl/nn/params/custom is not a folder" in message


@pytest.mark.parametrize("option", [(), ("--revert",)])
def test_changed_file_is_refused(
    option: tuple[str, ...],
    repository: Path,
    checkout: Checkout,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(repository, checkout) == 0
    checkout.write(OP, "// mine\n")
    message = refused(repository, checkout, capsys, *option)
    assert f"{OP}: was changed since custom.ResizeArea was laid there" in message


def test_other_registration_is_refused(
    repository: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    text = checkout.read(RISCV_OPS).replace('"", "North"', '"custom","ResizeArea"')
    checkout.write(RISCV_OPS, text)
    checkout.commit()
    message = refused(repository, checkout, capsys)
    number = text[: text.index('"custom"')].count("\n") + 1
    assert f"{RISCV_OPS}:{number}: registers custom.ResizeArea already; delete" in message


def test_same_names_are_refused(
    repository: Path, tmp_path: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(repository, checkout) == 0
    other = make_repository(tmp_path / "other", description("Resizearea"))
    assert "one checkout cannot hold both" in refused(other, checkout, capsys)


def test_broken_record_is_refused(
    repository: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("<<<<<<< HEAD\n", "[]", '{"operator": "custom.ResizeArea", "file": {}}'):
        checkout.write(RECORD, text)
        assert f"{RECORD}: invalid; restore it" in refused(repository, checkout, capsys)


def test_link_is_refused(
    repository: Path, tmp_path: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "elsewhere.cc"
    shutil.move(checkout.root / RISCV_OPS, elsewhere)
    (checkout.root / RISCV_OPS).symlink_to(elsewhere)
    assert f"{RISCV_OPS}: is behind a symbolic link" in refused(repository, checkout, capsys)


def test_read_only_checkout_is_refused(
    repository: Path,
    checkout: Checkout,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Permission bits decide, as root may write everything."""

    def access(path: Path, mode: int) -> bool:
        return bool(path.stat().st_mode & stat.S_IWUSR)

    monkeypatch.setattr(os, "access", access)
    (checkout.root / X86_OPS).chmod(0o444)
    (checkout.root / "src/ppl/nn/oputils").chmod(0o555)
    message = refused(repository, checkout, capsys)
    assert f"{X86_OPS}: is read-only" in message
    assert "src/ppl/nn/oputils is read-only" in message


def test_file_modes_stay(repository: Path, checkout: Checkout) -> None:
    (checkout.root / X86_OPS).chmod(0o755)
    before = checkout.content()
    assert run(repository, checkout) == 0
    assert stat.S_IMODE((checkout.root / X86_OPS).stat().st_mode) == 0o755
    assert run(repository, checkout, "--revert") == 0
    assert checkout.content() == before


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ("sources: [a.cc, b.c]", "op.yml:6: sources[1]: b.c"),
        ("sources: [b.cpp]", "op.yml:6: sources[0]: b.cpp"),
        ("include: [tables]", "op.yml:6: include[0]: tables"),
        ("cflags: [-O3]", "op.yml: cflags: -O3"),
    ],
)
def test_cmake_only_features_are_refused(
    more: str, what: str, tmp_path: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = make_repository(tmp_path / "ResizeArea", description(more=more))
    message = refused(repository, checkout, capsys)
    assert f"{what} cannot be laid over ppl.nn" in message
    assert "build ppl.nn with pplnn/cmake/inject.cmake" in message


def test_broken_repository_is_refused(
    repository: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = repository.parent / "outside.h"
    outside.write_text("")
    (repository / "resizearea_compute.h").write_text('#include "../outside.h"\n')
    message = refused(repository, checkout, capsys)
    assert "resizearea_compute.h: includes ../outside.h, which is outside of the" in message
    (repository / "pplnn/src/ppl/nn/params/custom/resizearea_param.h").unlink()
    message = refused(repository, checkout, capsys)
    assert "pplnn/src/ppl/nn/params/custom/resizearea_param.h: file not found" in message
    (repository / "pplnn/overlay.json").write_text("{}")
    assert "pplnn/overlay.json: " in refused(repository, checkout, capsys)


def test_failing_disk(
    repository: Path,
    checkout: Checkout,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = checkout.content()
    with monkeypatch.context() as patched:
        Faults(patched, at=9, error=OSError("No space left on device"))
        assert run(repository, checkout) == 2
    message = capsys.readouterr().err
    assert "No space left on device. Nothing is lost: correct that, and run the" in message
    assert run(repository, checkout, "--revert") == 0
    assert checkout.content() == before


# ---- Reverting ----


def test_revert_of_nothing(
    repository: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    before = checkout.content()
    assert run(repository, checkout, "--revert") == 0
    assert "custom.ResizeArea is not in" in capsys.readouterr().out
    assert checkout.content() == before


def test_revert_after_git_clean(repository: Path, checkout: Checkout) -> None:
    before = checkout.content()
    assert run(repository, checkout) == 0
    checkout.git("clean", "-fdxq")
    assert run(repository, checkout, "--revert") == 0
    assert checkout.content() == before
    assert run(repository, checkout) == 0
    checkout.git("checkout", ".")
    assert run(repository, checkout, "--revert") == 0
    assert checkout.content() == before


def test_revert_keeps_empty_folder(repository: Path, checkout: Checkout) -> None:
    (checkout.root / "src/ppl/nn/params/custom").mkdir(parents=True)
    before = checkout.content()
    assert run(repository, checkout) == 0
    assert run(repository, checkout, "--revert") == 0
    assert checkout.content() == before


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
    command: str, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apply, "_git", lambda *_, **__: None)  # starting git takes long
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


def test_record_is_written_first(
    repository: Path, checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record names the operator of every added file."""
    with monkeypatch.context() as patched:
        Faults(patched, at=6)
        with pytest.raises(Killed):
            run(repository, checkout)
    record = json.loads(checkout.read(RECORD))
    new = checkout.git("ls-files", "--others").split()
    assert {path.replace(".opkit-partial", "") for path in new} <= {*record["files"], RECORD}


def test_all_versions_have_the_anchors() -> None:
    for files in VERSIONS.values():
        assert {*HOSTS} <= {*files}
