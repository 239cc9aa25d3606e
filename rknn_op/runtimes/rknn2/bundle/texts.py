"""The texts of a bundle: the registration of its operators, the example, its build and README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from opkit.code_layout import comment
from opkit.text import render
from opkit.toolchains.abi import ABIS

_FOLDER = Path(__file__).parent
_TEMPLATES = _FOLDER / "templates"
_APPLICATION = _FOLDER / "application"


def application_files(
    operators: Mapping[str, str], target: str, abis: Sequence[str], model: str, runtime: str
) -> dict[str, bytes]:
    """Return path -> content of the header, the example, its build and the README.

    Args:
        operators: op_type -> lower-case name, of each operator.
        target: the chip.
        abis: the ABIs of the libraries, the default of the chip first.
        model: the name of the model's file.
        runtime: the oldest version of librknnrt for them.
    """
    names = ", ".join(operators)
    texts = {
        "include/custom_ops.h": render(
            _TEMPLATES / "custom_ops.h",
            about=comment(f"The custom operators {names}."),
        ),
        "README.md": render(
            _TEMPLATES / "README.md",
            names=names,
            target=target.upper(),
            abi=abis[0],
            others="".join(f" (or {abi})" for abi in abis[1:]),
            model=model,
            runtime=runtime,
        ),
    }
    unused = {f"{abi}.cmake" for abi in ABIS} - {f"{abi}.cmake" for abi in abis}
    copied = [
        path
        for path in sorted(_APPLICATION.rglob("*"))
        if path.is_file() and path.name not in unused
    ]
    return {
        **{name: text.encode() for name, text in texts.items()},
        **{path.relative_to(_APPLICATION).as_posix(): path.read_bytes() for path in copied},
    }


def registration(names: Sequence[str]) -> str:
    """Return the C source that registers operators in one call.

    Args:
        names: their lower-case names.
    """
    return render(
        _TEMPLATES / "custom_ops.c",
        declarations="\n".join(f"rknn_custom_op *{name}_custom_op(void);" for name in names),
        count=str(len(names)),
        copies="\n".join(
            f"    operators[{index}] = *{name}_custom_op();" for index, name in enumerate(names)
        ),
    )
