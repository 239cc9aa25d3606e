"""The texts use the field's words, and the first sentence of a docstring has the noun."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repositories import ROOT
from tests.test_code_quality import tracked

SUFFIXES = (".py", ".c", ".cc", ".h", ".vx", ".md", ".yml", ".html", ".toml")

# A pattern of old words -> the field's.
PHRASES = {
    r"rooms? (of|for) (a|the|its|their) runtimes?|runtimes?'s? rooms?": "runtime's folder",
    r"(of|as|than|is|are|not|on|from|but|and) (?-i:ours)": "the project's",
    r"cannot bear": "would break",
    r"to be known": "informational",
    r"\b(it|they) (is|are) none|is none of them|are none\b|which is none": "is not a ...",
    r"tells? nobody|nobody": "no one, or the passive",
    r"anew": "again",
    r"in vain": "without effect",
    r"those that": "the noun",
    r"what there is": "the noun",
    r"misfits?": "drift",
    r"journal": "log",
    r"shader": "program binary",
    r"vxbin|compiled VX kernel": "program binary",
    r"contestants?": "candidates",
}
# An old identifier -> the field's.
NAMES = {
    "asked": "requested",
    "carried": "the noun of it",
    "contestants": "candidates",
    "fill_template": "render",
    "for_the_pc": "host_targets",
    "forget": "clear",
    "journal": "log",
    "least": "min",
    "line_of": "debug_info",
    "misfits": "drift",
    "most": "max",
    "number": "count, index or the noun",
    "of": "the noun of it",
    "only_looking": "dry_run",
    "patience": "timeout",
    "said": "stderr",
    "shown": "the noun of it",
    "surroundings": "context",
    "try_out": "probe",
}
RELATIVE = re.compile(r"\b(what|whatever|who|whoever|whom|whose)\b", re.IGNORECASE)


def texts() -> list[Path]:
    """Return the project's files for readers, except this one, which lists the banned words."""
    return [
        path
        for path in tracked()
        if path.suffix in SUFFIXES and path != Path(__file__) and "data" not in path.parts
    ]


def old_phrases(text: str) -> Iterator[str]:
    """Yield `line: phrase -> the field's` for each old phrase, also one over two lines."""
    flat = re.sub(r"\n[\s*#/|>]*", lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for pattern, better in PHRASES.items():
        spaced = pattern.replace(" ", r"\s+")
        for match in re.finditer(rf"\b({spaced})\b", flat, re.IGNORECASE):
            yield f"{flat.count(chr(10), 0, match.start()) + 1}: {match[0]!r} -> {better}"


def first_sentence(text: str) -> str:
    """Return a docstring's first sentence, on one line."""
    return re.split(r"[.;:](?:\s|$)|\n\s*\n", text.strip(), maxsplit=1)[0].replace("\n", " ")


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of docstrings in Python and of doc comments in C."""
    text = path.read_text()
    if path.suffix == ".py":
        if path.parent.name == "templates":
            return
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                docstring = ast.get_docstring(node)
                if docstring:
                    yield getattr(node, "lineno", 1), docstring
    elif path.suffix in (".c", ".cc", ".h"):
        for match in re.finditer(r"/\*\*(.*?)\*/", text, re.DOTALL):
            yield text.count("\n", 0, match.start()) + 1, re.sub(r"\n\s*\*", "\n", match[1])


def identifiers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of everything that Python code defines."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_old_phrases() -> None:
    found = [f"{relative(path)}:{hit}" for path in texts() for hit in old_phrases(path.read_text())]
    assert not found, "\n".join(found)


def test_first_sentences_have_nouns() -> None:
    found = [
        f"{relative(path)}:{line}: {sentence}"
        for path in texts()
        for line, text in docstrings(path)
        if RELATIVE.search(sentence := first_sentence(text))
    ]
    assert not found, "\n".join(found)


def test_names_are_the_fields() -> None:
    found = [
        f"{relative(path)}:{line}: {name} -> {NAMES[name.strip('_')]}"
        for path in tracked("*.py")
        if path.parent.name != "templates" and not path.is_relative_to(ROOT / "tests")
        for line, name in identifiers(ast.parse(path.read_text()))
        if name.strip("_") in NAMES
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("or None: it is none.", ["1: 'it is none' -> is not a ..."]),
        ("# read it\n# anew", ["2: 'anew' -> again"]),
        (" * it is\n * none", ["1: 'it is\\n   none' -> is not a ..."]),
        ("hours of course; the journalist", []),
    ],
)
def test_phrases_are_found(text: str, hits: list[str]) -> None:
    assert list(old_phrases(text)) == hits


def test_first_sentence() -> None:
    assert first_sentence("Return the size; see\nwhat.") == "Return the size"
    assert RELATIVE.search(first_sentence("Return what\nis there.\n\nMore."))
