"""Every command of every page runs, in order and in a new folder, as for a user.

The commands inside of sentences have placeholders: their verbs and options exist.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click
import onnx
import pytest
from onnx import TensorProto, helper

from opkit import runtimes
from rknn_op.cli import main
from tests import test_docs
from tests.check.target_repositories import need
from tests.marks import slow_first
from tests.models.models import detector
from tests.pages import (
    INSTALLATION,
    PAGES,
    README,
    blocks,
    environment_of_a_user,
    follow,
    new_clone,
    path_of_a_user,
    steps,
)
from tests.repositories import EXAMPLES, ROOT, generate
from tests.rknn_op.command import rknn_op
from tests.rknn_op.older import age

WALK = ("start-model", "start-description", "rknn2", "pplnn")
"""Pages that a new user follows, in the order of the README."""
START = {
    "start-model": [PAGES["start-model"]],
    "start-description": [PAGES[name] for name in WALK[1:]],
    "start-vendor": [PAGES["start-vendor"]],
}
"""Name -> the texts whose commands follow each other, from a new clone."""
FAILING = {"start-vendor": ("scons check",)}
"""Name -> the beginnings of the commands that fail, besides scan's."""
ELSEWHERE = {
    **dict.fromkeys(test_docs.PAGES, "tests/test_docs.py"),
    "graft": "tests/models/test_graft_page.py",
    "index": "tests/test_readme.py",
    "quantized": "tests/models/test_quantize.py",
    "rewrite": "tests/models/rewriting/test_rewrite_page.py",
    "scan": "tests/models/test_scan_page.py",
}
"""Page -> the module that runs its commands."""
_VENDOR = "needs the vendor's library, which is not the project's to give"
_POCL = "downloads 60 MB; .ci/opencl_environment installs the same for test_opencl_shim.py"
_NDK = "needs Android's NDK; test_android.py has a stand-in"
_ARMHF = "needs packages of another architecture, which root adds"
_SYSTEM = "installs packages of the system as root"
NOT_ON_A_PC = {
    "scons target=rk3588 os=android ndk=~/android-ndk-r27c": _NDK,
    "scons deploy target=rk3588 os=android abi=armeabi-v7a": _NDK,
    "sudo dpkg --add-architecture armhf && sudo apt update && "
    "sudo apt install gcc-arm-linux-gnueabihf": _SYSTEM,
    "apt-get download {pocl-opencl-icd,libpocl2,ocl-icd-libopencl1,libllvm15,libclang-cpp15,"
    "libhwloc15,libedit2,libffi8}:armhf \\": _ARMHF,
    "  {libicu72,libxml2,liblzma5,libtinfo6,libz3-4,libzstd1,libbsd0,libmd0,libltdl7,libudev1,"
    "zlib1g}:armhf libpocl2-common": _ARMHF,
    'for package in *.deb; do dpkg -x "$package" pocl; done': _ARMHF,
    "scons check librknnrt=.../armhf/librknnrt.so librknnrt_opencl=pocl": _VENDOR,
    "pip install pyopencl pocl-binary-distribution": _POCL,
    "scons check driver=rknpu/drivers/linux-armhf-puma-mini/usr/lib": _VENDOR,
    "scons check librknnrt=rknn-toolkit2/rknpu2/runtime/Linux/librknn_api/armhf/librknnrt.so": (
        _VENDOR
    ),
    "sudo apt install qemu-user-static libc6-armhf-cross libstdc++6-armhf-cross "
    "libgcc-s1-armhf-cross": _SYSTEM,
}
"""Command that no test runs as it is -> the third party that it needs."""
OF_CI = [*blocks("sh")[0].splitlines()[1:], *blocks("sh")[-1].splitlines()]
"""Commands of the README that .ci/run runs; tests/test_readme.py compares them."""
WITH_PYTORCH = {"python export.py": "tests/models/test_pytorch.py"}
"""Command that runs where PyTorch is installed -> the module that does so."""
LEFT_OUT = [*NOT_ON_A_PC, *WITH_PYTORCH]


@dataclass(frozen=True)
class Setting:
    """The circumstances of a page.

    Attributes:
        make: makes the files that the page begins with, in a folder.
        words: word of the page -> the path in that folder that it stands for.
        before: command -> what the user does before it, as the text around it says.
        failing: the beginnings of the commands that end with status 1.
    """

    make: Callable[[Path], None] = lambda _: None
    words: Mapping[str, Path] = field(default_factory=dict)
    before: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    failing: tuple[str, ...] = ()


# ---- Circumstances of the pages ------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = [need("git", "git"), *names, *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=Operators")


def descriptions(folder: Path) -> None:
    """Write descriptions of two runtimes."""
    (folder / "descriptions").mkdir()
    for name, runtime in {"Clip": "[rknn]\nkernels: [cpu]", "Scale": "[rknn2]"}.items():
        (folder / f"descriptions/{name.lower()}.yml").write_text(
            f"name: {name}\nruntimes: {runtime}\n"
            "inputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"
        )


def publish_and_change(team: Path) -> None:
    """Push the workspace to the team's server, a folder here, and change an operator."""
    commit(team)
    git(team, "clone", "--quiet", "--bare", ".", "../server.git")
    git(team, "remote", "add", "origin", "../server.git")
    git(team, "fetch", "--quiet", "origin")
    math = team / "Scale/scale_compute.h"
    math.write_text(f"{math.read_text()}/* Changed. */\n")


def older_repository(folder: Path) -> None:
    """Make a repository of an older version, under git."""
    repository = folder / "operators/exp"
    done = rknn_op("create", "-c", str(EXAMPLES / "exp/exp.yml"), "-p", str(repository))
    assert done.exit_code == 0, done.output
    age(repository)
    commit(repository)


def model_of_pytorch(folder: Path) -> None:
    """Write the model of the page without PyTorch."""
    tensors = [("x", [1, 3, 8, 8]), ("y", [1, 8, 6, 6])]
    x, y = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in tensors]
    weights = helper.make_tensor("w", TensorProto.FLOAT, [8, 3, 3, 3], [0.1] * 216)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["conv2d"]),
        helper.make_node(
            "SoftClip",
            ["conv2d"],
            ["soft_clip"],
            name="node_soft_clip",
            domain="com.example",
            limit=2.0,
        ),
        helper.make_node("Relu", ["soft_clip"], ["y"]),
    ]
    inner = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, 6, 6])
        for name in ("conv2d", "soft_clip")
    ]
    graph = helper.make_graph(nodes, "main", [x], [y], [weights], value_info=inner)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.example", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), folder / "model.onnx")


SETTINGS = {
    "operators": Setting(),
    "updating": Setting(older_repository),
    "pytorch": Setting(model_of_pytorch, failing=("rknn-op scan",)),
    "many": Setting(
        descriptions,
        words={"/mnt/team/rknn-op": Path("cache")},
        before={"rknn-op check --changed origin/main": publish_and_change},
    ),
}
"""Page that is followed alone -> its setting."""


# ---- Commands on lines of their own --------------------------------------------------------------


@pytest.mark.slow
def test_readme(tmp_path: Path) -> None:
    """The commands run in a new clone, in the environment that the first ones make."""
    environment = environment_of_a_user()
    path = f"{environment}:{path_of_a_user(tmp_path)}"
    left_out = [*LEFT_OUT, *OF_CI, *INSTALLATION]
    follow([README], environment.parents[1], path, failing=("rknn-op scan",), left_out=left_out)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("name", START)
def test_new_user(name: str, tmp_path: Path) -> None:
    """The commands run in a new clone, in the environment that they make."""
    failing = ("rknn-op scan", *FAILING.get(name, ()))
    left_out = [*LEFT_OUT, *OF_CI]
    clone, path = new_clone(tmp_path), path_of_a_user(tmp_path)
    follow(START[name], clone, path, failing=failing, left_out=left_out)


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_first(2, SETTINGS))
def test_commands_of_page(name: str, tmp_path: Path) -> None:
    setting = SETTINGS[name]
    setting.make(tmp_path)
    follow(
        [PAGES[name]],
        tmp_path,
        f"{environment_of_a_user()}:{path_of_a_user(tmp_path)}",
        {word: tmp_path / path for word, path in setting.words.items()},
        setting.before,
        setting.failing,
        LEFT_OUT,
    )


def test_model_of_the_pages() -> None:
    assert onnx.load(ROOT / "docs/detector.onnx") == detector()


def test_every_page_is_followed() -> None:
    """Each page with commands is in one table; each command without a test has its reason."""
    with_commands = {name: [step for step, _ in steps(text)] for name, text in PAGES.items()}
    left_out = {step for each in with_commands.values() for step in each if step in LEFT_OUT}
    assert left_out == {*LEFT_OUT}
    running = {name for name, each in with_commands.items() if {*each} - left_out}
    assert sorted([*WALK, "start-vendor", *SETTINGS, *ELSEWHERE]) == sorted(running)
    for name in {*ELSEWHERE} - {"index"}:  # whose tests take the blocks with output
        assert not blocks("sh", PAGES[name])
    for module in {*ELSEWHERE.values(), *WITH_PYTORCH.values()} - {ELSEWHERE["index"]}:
        assert "console(PAGE)" in (text := (ROOT / module).read_text()) or "console(text)" in text


# ---- Commands inside of sentences ----------------------------------------------------------------

OF_OTHERS = ("bash .ci/run", "cruft update", "git diff", "pip install ", "pytest")
"""The beginnings of commands of other programs."""


@pytest.fixture(scope="module")
def help_of_scons(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the `scons -h` of an operator with all runtimes."""
    text = (
        f"name: Every\nruntimes: [{', '.join(runtimes.available())}]\n"
        "inputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"
    )
    return generate(tmp_path_factory.mktemp("every"), text).scons("-h").stdout


def test_commands_in_sentences_exist(help_of_scons: str) -> None:
    """Verbs, options and modules of these commands exist."""
    programs = "scons|rknn-op|cookiecutter|bash|pip|pytest|git|python|cruft"
    inline = re.findall(rf"`((?:{programs})(?: [^`]*)?)`", "\n".join([README, *PAGES.values()]))
    assert inline
    for command in {" ".join(each.split()) for each in inline}:
        program, *words = shlex.split(command)
        if command.startswith("python -m "):
            assert importlib.util.find_spec(words[1]), command
        elif program == "scons":
            assert [each for each in words if not _is_in_help(each, help_of_scons)] == [], command
        elif program == "rknn-op":
            assert _unknown_words(words) == [], command
        else:
            assert command.startswith(OF_OTHERS), command


def _is_in_help(word: str, text: str) -> bool:
    """Return whether `scons -h` has an option or a command."""
    name, sign, _ = word.partition("=")
    pattern = rf"^  {name}=" if sign else rf"^  scons .*\b{name}\b"
    return word == "-h" or re.search(pattern, text, re.MULTILINE) is not None


def _unknown_words(words: list[str]) -> list[str]:
    """Return the words of a command of `rknn-op` that name no verb or option."""
    if words[:1] in ([], ["..."], ["-h"], ["--action"]):  # test_command.py runs the last form
        return []
    verb = main.get_command(click.Context(main), words[0])
    if verb is None:
        return [words[0]]
    options = {name for each in verb.params for name in (*each.opts, *each.secondary_opts)}
    own = words[1 : words.index("--")] if "--" in words else words[1:]
    if isinstance(verb, click.Group):
        return [word for word in own[:1] if verb.get_command(click.Context(verb), word) is None]
    return [word for word in own if word.startswith("-") and word not in options]
