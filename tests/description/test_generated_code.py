"""The C and C++ of any valid description compile, for every runtime and every ABI."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings

from opkit import runtimes
from opkit.description.parser import PC
from opkit.runtimes.pplnn.tree_names import domain_folder
from opkit.toolchains.abi import ABIS, Abi
from tests.compiling import compile_c
from tests.description.descriptions import RUNTIMES, documents
from tests.files.texts import DECLARATIONS, INCLUDES, STUB, generated_files, once_only_files
from tests.marks import quick_first, slow_first

FIXED = ("register_all", "riscv", "x86", "onnx")
"""The names of files that every repository has."""
SHARED = ("get_rknn_custom_op", "OPERATOR_COUNT", "InferShapes", "Run", "PARAMS")
"""The names that every repository defines, besides its static ones."""
WITH_FUNCTIONS = (".c", ".cc", "_kernels.h", "_params.h")
STATIC = r"^static [^=(;]*?(\w+)(?:\[\w*\])? *[=(]"


def drawn(count: int, number: int, chosen: Sequence[str]) -> list[dict[str, Any]]:
    """Return the documents of descriptions with distinct names and distinct folders of domains."""
    found: list[dict[str, Any]] = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(documents(chosen))
    def collect(document: dict[str, Any]) -> None:
        found.append(document)

    collect()
    names, folders = set(), set()
    for index, document in enumerate(found):
        if document["name"].lower() in names:
            document["name"] += f"x{index}"
        names.add(document["name"].lower())
        if "domain" in document:
            if domain_folder(document["domain"]) in folders:
                document["domain"] = f"{document['domain'] or 'd'}.{index}"
            folders.add(domain_folder(document["domain"]))
    return found


def write(root: Path, document: dict[str, Any], number: int) -> list[str]:
    """Write an operator's C and C++ files beside others'; return the sources without headers.

    Static names get a suffix, so that one file can include the sources of all operators: headers
    take most of the time.
    """
    spec = runtimes.parse(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
    once = once_only_files(spec)
    files = once | generated_files(spec, once[f"{spec.lower}_reference.py"])
    code = {
        path: text
        for path, text in files.items()
        if path.endswith((".c", ".cc", ".h")) and path != STUB
    }
    found = "".join(text for path, text in code.items() if path.endswith(WITH_FUNCTIONS))
    names = "|".join({*SHARED, *re.findall(STATIC, found, re.MULTILINE)})
    sources = []
    for path, text in code.items():
        stem = path.rpartition("/")[2].partition(".")[0]
        if path.startswith("include/"):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
            continue
        own = path.replace(stem, f"{spec.lower}_{stem}") if stem in FIXED else path
        if path.endswith(WITH_FUNCTIONS):
            text = re.sub(rf"(?<![.>/\w])({names})\b", rf"\1_{number}", text)
        (root / own).parent.mkdir(parents=True, exist_ok=True)
        (root / own).write_text(text)
        sources += [own] if not path.endswith(".h") else []
    return sources


def assert_all_compile(
    root: Path, runtime: str, abis: Sequence[Abi], count: int, number: int
) -> None:
    """Compile many operators of a runtime, with one compiler call for each ABI."""
    root.mkdir(exist_ok=True)
    documents_of = drawn(count, number, [runtime])
    sources = [path for n, document in enumerate(documents_of) for path in write(root, document, n)]
    assert len(sources) >= count
    every = root / f"every{Path(sources[0]).suffix}"
    every.write_text("".join(f'#include "{path}"\n' for path in sources))
    folders = [
        *(root, root / "pplnn/src", DECLARATIONS),
        *(root / name for name in INCLUDES),
    ]
    arguments = ["-c", "-O0", str(every), *(f"-I{folder}" for folder in folders)]
    language = "c11" if every.suffix == ".c" else "c++11"
    for abi in abis:
        result = compile_c(root / "every.o", *arguments, abi=abi, language=language)
        assert result.returncode == 0, result.stderr[:5000]


def abis_of(runtime: str) -> list[str]:
    """Return the ABIs that a runtime's products are built for."""
    targets = runtimes.available()[runtime].describe.targets.values()
    return [*dict.fromkeys([PC, *(a for each in targets for a in (each.abi, *each.other_abis))])]


@pytest.mark.parametrize("runtime", quick_first(1, RUNTIMES))
def test_code_of_any_description_compiles(runtime: str, tmp_path: Path) -> None:
    assert_all_compile(tmp_path / "all", runtime, [ABIS[PC]], count=10, number=1)


@pytest.mark.slow
@pytest.mark.parametrize("runtime", slow_first(1, RUNTIMES))
def test_code_of_any_description_compiles_everywhere(runtime: str, tmp_path: Path) -> None:
    abis = [ABIS[name] for name in abis_of(runtime)]
    assert_all_compile(tmp_path / "all", runtime, abis, count=20, number=2)
