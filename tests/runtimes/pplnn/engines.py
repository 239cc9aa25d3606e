"""Run operators through ppl.nn's stages, on opkit's declarations of ppl.nn."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from opkit import runtimes
from opkit.description.spec import OpSpec
from opkit.files.generation import generated_files
from opkit.files.skeletons import once_only_files
from opkit.runtimes.invocation import Array
from opkit.runtimes.pplnn.tree_names import ENGINES, SOURCES, names
from tests.compiling import C_SOURCES
from tests.files.texts import DECLARATIONS
from tests.repositories import EXAMPLES, example_folder

STRICT = ("-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror")

TYPES = {
    "uint8": 1,
    "float16": 5,
    "float32": 6,
    "float64": 7,
    "int8": 10,
    "int16": 11,
    "int32": 12,
    "int64": 13,
    "bool": 14,
}
"""dtype -> ppl::common::datatype_t."""
UNKNOWN, NDARRAY, N4CX, N8CX, N16CX = 0, 1, 5, 6, 7
CHANNELS = {N4CX: 4, N8CX: 8, N16CX: 16}
"""Data format -> the channels of a block."""
SUCCESS, UNSUPPORTED, INVALID_VALUE, NOT_FOUND = 0, 2, 4, 6


def example_text(name: str) -> str:
    """Return the description of an example for this runtime alone."""
    lines = (EXAMPLES / name / f"{name}.yml").read_text().splitlines(keepends=True)
    of_others = ("target_platform", "kernels", "op_type", "runtimes")
    text = "".join(line for line in lines if not line.startswith(of_others))
    return f"runtimes: [pplnn]\n{text}"


def example(name: str) -> tuple[OpSpec, Path]:
    """Return the description of an example for this runtime alone, and a folder of its files."""
    spec = runtimes.parse(example_text(name))
    return spec, example_folder(name, spec)


def write(spec: OpSpec, folder: Path, files: Path | None = None) -> Path:
    """Write an operator's files, with the user's from a folder, without a repository."""
    chosen = runtimes.selected(spec)
    texts = {**once_only_files(spec, chosen), **generated_files(spec, "", chosen)}
    for path, text in texts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        mine = files / path if files else target
        target.write_text(mine.read_text() if files and mine.is_file() else text)
    return folder


def sources(folder: Path) -> list[Path]:
    """Return the sources for ppl.nn in a repository."""
    return sorted((folder / SOURCES).rglob("*.cc"))


def cxx() -> list[str]:
    """Return a compiler with a C++ library: g++, or zig, which compiles the library first."""
    found = shutil.which("g++")
    return [found] if found else [sys.executable, "-m", "ziglang", "c++"]


@dataclass
class Answer:
    """The result of a node.

    Attributes:
        status: stage -> its return code.
        selected: the requested format and type of each input.
        selected_outputs: the requested format and type of each output.
        outputs: name -> array.
        formats: of each output of the kernel.
        shapes: of each output inferred while a model is loaded; () if unknown.
        log: the log's text.
    """

    status: dict[str, int] = field(default_factory=dict)
    selected: list[tuple[int, int]] = field(default_factory=list)
    selected_outputs: list[tuple[int, int]] = field(default_factory=list)
    outputs: dict[str, Array] = field(default_factory=dict)
    formats: list[int] = field(default_factory=list)
    shapes: list[tuple[int, ...]] = field(default_factory=list)
    packs: bool = True
    log: str = ""


@dataclass(frozen=True)
class Engine:
    """A program that contains an operator.

    Attributes:
        spec: the operator.
        program: its path.
    """

    spec: OpSpec
    program: Path

    def run(
        self,
        engine: str,
        inputs: Mapping[str, Array | None],
        attributes: Mapping[str, tuple[str, Any]] | None = None,
        precision: int = TYPES["float32"],
        formats: Sequence[int] = (),
    ) -> Answer:
        """Run a node in an engine; attributes: name -> (kind in ONNX, value)."""
        lines = [f"precision {precision}", *_attributes(attributes)]
        for index, (name, array) in enumerate(inputs.items()):
            format_ = formats[index] if formats else NDARRAY
            lines.append("missing" if array is None else _tensor(name, array, format_))
        return self._answer(engine, lines)

    def load(
        self,
        engine: str,
        shapes: Mapping[str, Sequence[int]],
        attributes: Mapping[str, tuple[str, Any]] | None = None,
        dtype: str = "float32",
    ) -> Answer:
        """Infer shapes as an engine does while it loads a model; -1 is an unknown dimension."""
        lines = ["loading", *_attributes(attributes)]
        for name, shape in shapes.items():
            dims = " ".join(map(str, shape))
            lines.append(f"input {name} {TYPES.get(dtype, UNKNOWN)} {NDARRAY} {len(shape)} {dims}")
        return self._answer(engine, lines)

    def _answer(self, engine: str, lines: list[str]) -> Answer:
        lines += [f"output {output.name} {UNKNOWN} {N4CX} 0" for output in self.spec.outputs]
        done = subprocess.run(
            [self.program, engine],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            check=True,
        )
        answer = Answer(log=done.stderr)
        results = iter(self.spec.outputs)
        for line in done.stdout.splitlines():
            what, *words = line.split()
            match what:
                case "selects":
                    answer.selected.append((int(words[0]), int(words[1])))
                case "selects-output":
                    answer.selected_outputs.append((int(words[0]), int(words[1])))
                case "pack":
                    answer.status["pack"], answer.packs = int(words[0]), words[1] == "1"
                case "inferred":
                    answer.shapes.append(tuple(map(int, words[3:-1])))
                case "result":
                    answer.formats.append(int(words[1]))
                    answer.outputs[next(results).name] = _array(words)
                case _:
                    answer.status[what] = int(words[0])
        return answer


def _attributes(attributes: Mapping[str, tuple[str, Any]] | None) -> list[str]:
    return [
        f"{kind} {name} {_words(kind, value)}" for name, (kind, value) in (attributes or {}).items()
    ]


def _words(kind: str, value: Any) -> str:
    if kind == "string":
        return str(value).encode().hex()
    return " ".join(map(repr, value if isinstance(value, (list, tuple)) else [value]))


def _tensor(name: str, array: Array, format_: int) -> str:
    shape = " ".join(map(str, array.shape))
    type_ = TYPES[array.dtype.name]
    data = blocked(array, CHANNELS[format_]) if format_ in CHANNELS and array.ndim > 1 else array
    return f"input {name} {type_} {format_} {array.ndim} {shape} {data.tobytes().hex()}"


def blocked(array: Array, channels: int) -> Array:
    """Return an array with its channels, the second dimension, in blocks; the padding is 0.

    An array (N, C, ...) becomes (N, blocks, ..., channels of a block).
    """
    padding = [(0, 0)] * array.ndim
    padding[1] = (0, -array.shape[1] % channels)
    padded = np.pad(array, padding)
    blocks = padded.shape[1] // channels
    split = padded.reshape(array.shape[0], blocks, channels, *array.shape[2:])
    return np.ascontiguousarray(np.moveaxis(split, 2, -1))


def _dense(data: Array, shape: tuple[int, ...], channels: int) -> Array:
    """Return an array with channels in blocks as a dense one, without the padding."""
    split = data.reshape(shape[0], -1, *shape[2:], channels)
    merged = np.moveaxis(split, -1, 2).reshape(shape[0], -1, *shape[2:])
    return merged[:, : shape[1]]


def _array(words: Sequence[str]) -> Array:
    type_, rank = int(words[0]), int(words[2])
    dtype = next(name for name, number in TYPES.items() if number == type_)
    shape = tuple(map(int, words[3 : 3 + rank]))
    data = np.frombuffer(bytes.fromhex(words[3 + rank][1:]), dtype)
    channels = CHANNELS.get(int(words[1]))
    return _dense(data, shape, channels) if channels else data.reshape(shape)


def build(spec: OpSpec, folder: Path, files: Path | None = None) -> Engine:
    """Compile the sources of an operator and the test program, as one translation unit."""
    write(spec, folder, files)
    where = names(spec)
    space, title = f"ppl::nn::{where.folder}", where.title
    lines = [f'#include "{path.relative_to(folder)}"' for path in sources(folder)]
    if spec.params:
        macros = {"PARAM": "", "PARSE": "Parse", "PACK": "Pack"}
        lines += [f"#define {name} {space}::{word}{title}Param" for name, word in macros.items()]
    for engine in ENGINES:
        op = f"ppl::nn::{engine}::{where.folder}::{title}Op"
        lines.append(f"#define {engine.upper()}_OP {op}")
    (folder / "operator_under_test.h").write_text("\n".join(lines) + "\n")
    program = folder / "engine"
    includes = [
        f"-I{path}" for path in (folder, folder / "include", folder / SOURCES, DECLARATIONS)
    ]
    subprocess.run(
        [*cxx(), *STRICT, "-O0", *includes, C_SOURCES / "pplnn_engine.cc", "-o", program],
        check=True,
    )
    return Engine(spec, program)
