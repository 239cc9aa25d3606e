"""Read damaged packages and libraries: the maximum cost of one, and any traceback.

    python -m benchmarks.fuzz --mutants 100000 --output benchmarks
    python -m benchmarks.fuzz --atheris package --seconds 300

The second form is guided by coverage. It needs `pip install atheris`, and writes its findings into
the current folder.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from benchmarks import results_file
from opkit.common.errors import OpkitError
from opkit.runtimes.rknn import rknnop
from opkit.runtimes.rknn.rknnop import Package, pack, unpack
from opkit.toolchains import elf
from opkit.toolchains.abi import ABIS
from rknn_op.runtimes.rknn import package_changes, package_contents
from tests.compiling import build
from tests.mutation import measure, mutants

_FUNCTIONS = 200
_LIBRARY = "#include <math.h>\n#include <stdlib.h>\n" + "".join(
    f'double function_{index}(double x) {{ return getenv("X") ? pow(x, {index}) : sin(x); }}\n'
    for index in range(_FUNCTIONS)
)
_OP_YML = """\
name: Op
target_platform: rv1126
inputs: {a: {type: VX_TYPE_TENSOR}}
outputs: {b: {type: VX_TYPE_TENSOR}}
params:
  size: {type: VX_TYPE_INT32, default: 1}
"""
_PYTHON = "class Op:\n    pass\n"


def libraries() -> dict[str, list[bytes]]:
    """Return for every ABI a small library and one with many symbols."""
    made: dict[str, list[bytes]] = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "op.c")
        source.write_text(_LIBRARY)
        for abi in ABIS.values():
            for visibility in ("hidden", "default"):
                flags = ("-shared", "-O2", "-s", f"-fvisibility={visibility}")
                output = build(source.with_suffix(".so"), *flags, source, "-lm", abi=abi)
                made.setdefault(abi.name, []).append(output.read_bytes())
    return made


def _corpora() -> dict[str, list[bytes]]:
    found = libraries()
    small, *_ = zip(*found.values(), strict=True)
    named = dict(zip(found, small, strict=True))
    packages = [
        Package(
            version,
            binary,
            {abi: named[abi] for abi in rknnop.LIBRARIES[version]},
            _OP_YML,
            _PYTHON,
        )
        for version, binary in ((1, b""), (2, b"SHDR...."))
    ]
    return {
        "library": [data for both in found.values() for data in both],
        "package": [pack(each) for each in (*packages, _UNCHANGED, _UNCHANGED)],
    }


def _read_package(data: bytes) -> None:
    package = unpack(data, "op.rknnop")
    assert pack(package) == data
    package_contents.as_text(package)
    json.dumps(package_contents.as_json(package, "op.rknnop"))
    package_changes.changes(_UNCHANGED, package)


_UNCHANGED = Package(2, b"", dict.fromkeys(rknnop.ABIS, b""), _OP_YML, _PYTHON)
_READERS: dict[str, Callable[[bytes], object]] = {"library": elf.read, "package": _read_package}


def _table(count: int) -> str:
    rows = []
    for name, corpus in _corpora().items():
        cost = measure(_READERS[name], mutants(corpus, count))
        cells = (f"{cost.refused:,}", f"{1000 * cost.seconds:.0f}", f"{cost.peak // 1024:,}")
        rows.append([name, f"{cost.files:,}", *cells])
    head = ["", "files", "refused", "ms at most", "kB at most"]
    return results_file.table(head, rows)


def _functions(*modules: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions and methods of modules."""
    for module in modules:
        for value in vars(module).values():
            for function in vars(value).values() if isinstance(value, type) else [value]:
                if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                    yield function


def _atheris(name: str, seconds: int) -> None:
    """Read mutations by atheris of the files for some seconds; does not return."""
    try:
        atheris: Any = importlib.import_module("atheris")
    except ImportError:
        raise SystemExit("atheris is not installed; run `pip install atheris`") from None
    corpus = Path(tempfile.mkdtemp(prefix="fuzz-"))
    for index, data in enumerate(_corpora()[name]):
        (corpus / str(index)).write_bytes(data)
    for function in _functions(elf, rknnop, package_contents, package_changes):
        atheris.instrument_func(function)

    def read(data: bytes) -> None:
        with contextlib.suppress(OpkitError):
            _READERS[name](data)

    limits = ("-timeout=5", "-rss_limit_mb=1024", "-max_len=65536")
    atheris.Setup([sys.argv[0], str(corpus), f"-max_total_time={seconds}", *limits], read)
    atheris.Fuzz()


def main() -> None:
    """Run the command line of the module's docstring."""
    parser = results_file.parser("fuzz", __doc__)
    parser.add_argument("--mutants", type=int, default=2000, help="damaged files of each kind")
    parser.add_argument("--atheris", choices=_READERS, help="let atheris make the files")
    parser.add_argument("--seconds", type=int, default=60, help="how long atheris runs")
    options = parser.parse_args()
    if options.atheris:
        _atheris(options.atheris, options.seconds)
    table = _table(options.mutants)
    text = (
        "## Damaged packages and libraries\n\n"
        f"`python -m benchmarks.fuzz --mutants {options.mutants} --output benchmarks`, "
        f"{results_file.machine()}. The most that reading one of them took: time of the "
        "processor, under tracemalloc, and memory. None raised an exception that is not for "
        f"users.\n\n{table}"
    )
    results_file.finish(options.output, "fuzz", text)


if __name__ == "__main__":
    main()
