"""The files of a repository for integrating the operator into ppl.nn."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opkit import runtimes
from opkit.files.generation import generated_files
from tests.pages import PAGES
from tests.repositories import generate
from tests.runtimes.pplnn.checkouts import make_checkout, run
from tests.runtimes.pplnn.operators import description

FILES = {
    *("pplnn/apply.py", "pplnn/overlay.json"),
    *("pplnn/cmake/inject.cmake", "pplnn/cmake/late.cmake"),
    *("pplnn/cmake/operator.cmake", "pplnn/cmake/once.cc.in"),
    *("pplnn/register/onnx.cc", "pplnn/register/riscv.cc", "pplnn/register/x86.cc"),
}


def files(text: str) -> dict[str, str]:
    """Return path -> text of the generated files, except the ones at ppl.nn's own paths."""
    spec = runtimes.parse(text)
    generated = generated_files(spec, "", runtimes.selected(spec))
    return {path: text for path, text in generated.items() if re.match("pplnn/(?!src/)", path)}


@pytest.mark.parametrize("name", ["Exp", "Resize_Bilinear2"])
@pytest.mark.parametrize("domain", ["custom", "com.acme-1", "x86"])
@pytest.mark.parametrize("params", [False, True])
def test_generated_files(name: str, domain: str, params: bool) -> None:
    made = files(description(name, f"domain: {domain}\nopset: [3, 4]", params))
    assert made.keys() == FILES
    for path, text in made.items():
        assert not re.search(r"[ \t]$|\t", text, re.MULTILINE), path
        lists_paths = path.endswith(("overlay.json", "operator.cmake"))
        assert lists_paths or max(map(len, text.splitlines())) <= 100, path
    space = {"custom": "custom", "com.acme-1": "com_acme_1", "x86": "x86_domain"}[domain]
    for table in ("onnx", "riscv", "x86"):
        text = " ".join(made[f"pplnn/register/{table}.cc"].split())
        assert f"RetCode Register_{space}_{name}() {{" in text
        assert f'Register( "{domain}", "{name}", nn::utils::VersionRange(3, 4), ' in text.replace(
            'Register("', 'Register( "'
        )
    assert f'set(opkit_function "Register_{space}_{name}")' in made["pplnn/cmake/operator.cmake"]


@pytest.mark.slow
def test_command_and_readme(tmp_path: Path) -> None:
    (tmp_path / "op.yml").write_text(description())
    repository = generate(tmp_path, str(tmp_path / "op.yml"))
    checkout = make_checkout(tmp_path / "ppl.nn")
    before = checkout.content()
    assert "scons pplnn-apply root=DIR" in repository.scons("-h").stdout

    refused = repository.scons("pplnn-apply", check=False)
    assert refused.returncode == 2
    assert "pplnn-apply changes a checkout of ppl.nn; name it with root=" in refused.stderr
    applied = repository.scons("pplnn-apply", f"root={checkout.root}")
    assert "custom.ResizeArea is in the checkout; run cmake again" in applied.stdout
    assert "src/ppl/nn/oputils/custom.resizearea.overlay.json" in checkout.content()

    page = PAGES["pplnn"]
    assert "-DCMAKE_PROJECT_ppl.nn_INCLUDE=$PWD/pplnn/cmake/inject.cmake" in page
    for path in re.findall(r"\bpplnn/[\w/]+\.\w+", page):
        assert (repository.path / path).is_file(), path
    commands = re.findall(r"python3 pplnn/apply.py PPLNN ?(--check|--revert)?", page)
    assert len(commands) >= 3
    for option in commands:
        assert run(repository.path, checkout, *filter(None, [option])) == 0
    assert checkout.content() == before
