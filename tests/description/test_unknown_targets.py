"""The chip says the runtime: targets that the description's runtimes do not have."""

from __future__ import annotations

import pytest

from opkit.runtimes import available, complaints
from tests.marks import quick_first
from tests.repositories import Repository

_TEXT = """\
name: Stub
{more}
inputs:
  x: {{type: VX_TYPE_TENSOR}}
outputs:
  y: {{type: VX_TYPE_TENSOR}}
"""


def _messages(more: str) -> list[str]:
    return [str(each) for each in complaints(_TEXT.format(more=more))[1]]


_OTHERS = [
    (target, runtime.describe.title, runtime.name)
    for runtime in available().values()
    if runtime.name != "rknn"
    for target in runtime.describe.targets
]


@pytest.mark.parametrize(("target", "title", "runtime"), _OTHERS)
def test_target_names_its_runtime(target: str, title: str, runtime: str) -> None:
    (message,) = _messages(f"target_platform: {target.upper()}")
    assert message.startswith(f"op.yml:2: target_platform: {target.upper()} is a ")
    assert message.endswith(f" of {title}; write `runtimes: [{runtime}]`")


@pytest.mark.parametrize("runtimes", ["[rknn]", "[pplnn]", "[rknn2]"])
def test_refused_chip_gives_the_reason_for_every_runtime(runtimes: str) -> None:
    (message,) = _messages(f"runtimes: {runtimes}\ntarget_platform: rv1106")
    assert "target_platform: RV1106 has no custom operators" in message
    assert message.count("(expected") == 1


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("rk3399", "did you mean 'rk3399pro'? ("),
        (
            "rk3558",
            "did you mean 'rk3588', a chip of RKNN-Toolkit2? Then write `runtimes: [rknn2]` (",
        ),
        ("zzz", "unknown value 'zzz' ("),
    ],
)
def test_misspelled_target(target: str, hint: str) -> None:
    (message,) = _messages(f"target_platform: {target}")
    assert f"{hint}expected rk1806, rk1808" in message


@pytest.mark.parametrize("value", ["[rknn2]", "rknn2", "[unknown]"])
def test_misspelled_runtimes_is_one_problem(value: str) -> None:
    more = f"runtime: {value}\ntarget_platform: rk3588\nframework: onnx\nop_type: Stub"
    (message,) = _messages(more)
    assert "unknown key 'runtime'; did you mean 'runtimes'?" in message


@pytest.mark.parametrize(
    ("target", "message"),
    quick_first(
        1,
        [
            (
                "rk3588",
                "error: target=rk3588: rk3588 is a chip of RKNN-Toolkit2; add rknn2 to "
                "`runtimes` in op.yml\n",
            ),
            ("RV1103", "error: target=RV1103: RV1103 has no custom operators: "),
            ("rk1880", "error: target=rk1880: unknown value 'rk1880'; did you mean 'rk1808'? (exp"),
            ("", "error: target=: unknown value '' (expected rk1806, "),
        ],
    ),
)
def test_target_of_scons(fresh: Repository, target: str, message: str) -> None:
    done = fresh.scons(f"target={target}", check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert "sconstruct.py" not in done.stderr + done.stdout
