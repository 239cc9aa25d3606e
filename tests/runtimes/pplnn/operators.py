"""Write repositories of operators, with the files for apply.py and CMake."""

from __future__ import annotations

import functools
from pathlib import Path

from opkit import runtimes
from opkit.files.generation import generated_files
from opkit.files.skeletons import once_only_files


def description(name: str = "ResizeArea", more: str = "", params: bool = True) -> str:
    """Return the text of an op.yml."""
    lines = [
        f"name: {name}",
        "runtimes: [pplnn]",
        "inputs: {x: {type: VX_TYPE_TENSOR}}",
        "outputs: {y: {type: VX_TYPE_TENSOR}}",
        *(["params: {scale: {type: int}}"] if params else []),
    ]
    return "\n".join([*lines, more])


_PARAMS = """\
params:
  a: {type: int}
  b: {type: float, default: 0.5}
  c: {type: ints, default: [1, 2]}
  d: {type: floats, length: 3}
  e: {type: string, default: nearest}
"""
OPERATORS = {
    "every_param": description("EveryParam", _PARAMS, params=False),
    "no_param": description("NoParam", "domain: com.acme", params=False),
}
"""Name -> op.yml of operators with every feature of generated files, and with the fewest."""


@functools.cache
def files(text: str) -> dict[str, str]:
    """Return path -> text of the files of an operator."""
    spec = runtimes.parse(text)
    of_operator = runtimes.selected(spec)
    return once_only_files(spec, of_operator) | generated_files(spec, "", of_operator)


def make_repository(folder: Path, text: str) -> Path:
    """Write the files of an operator into a folder, and return the folder."""
    for path, content in files(text).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    return folder
