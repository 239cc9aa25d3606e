"""No text names a package of an index, or an organization, that belongs to someone else."""

from __future__ import annotations

import re

from tests.repositories import ROOT
from tests.test_code_quality import tracked

OWN_NAMES = r"(rknn[-_]op[-_]template|rknn[-_]opkit)"
ADVICE = re.compile(
    rf"pip install [^`\n]*(?<![/\w.]){OWN_NAMES}(?![/\w]|-\d)|github\.com/org/|\bgh:org/"
    rf"|pypi\.org/project/{OWN_NAMES}"
)


def test_pattern() -> None:
    for advice in (
        "pip install 'rknn-op-template[onnx]'",
        "pip install rknn-opkit==0.2.0",
        "https://github.com/org/rknn-op-template",
    ):
        assert ADVICE.search(advice)
    assert not ADVICE.search("pip install onnx onnxruntime")


def test_texts_name_no_index_package_of_the_project() -> None:
    """Anyone may register such a name on an index: our texts must not send users there."""
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        if path.suffix in (".py", ".md", ".yml", ".json", ".txt", ".lock", ".toml", "")
        and path.relative_to(ROOT).parts[0] not in ("tests", "benchmarks")
        for match in ADVICE.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []
