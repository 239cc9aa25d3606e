"""The makefiles for the vendor's own build command."""

from __future__ import annotations

from pathlib import PurePosixPath

from opkit.description.spec import OpSpec
from opkit.runtimes.rknn import rknnop
from opkit.runtimes.rknn.sources import has_cxx, kernel_sources
from opkit.text import render
from opkit.toolchains.abi import ABIS, Abi
from opkit.toolchains.flags import (
    C_ERRORS,
    C_LANGUAGE,
    CXX_LANGUAGE,
    CXX_SUFFIXES,
    ERRORS,
    EXACT,
    optimization,
)

# Objects are rebuilt when a source, a header or this file changes: op.yml's flags are in it.
_RULE = """\
$(OUT)/%{suffix}.o: %{suffix} $(firstword $(MAKEFILE_LIST))
	@mkdir -p $(@D)
	$({compiler}) {language} $(CFLAGS) $(FLAGS) $(INCLUDE) -MMD -MP -c -o $@ $<
"""

_CXX = """\
ifeq ($(origin CXX),default)
CXX = $(patsubst %gcc,%g++,$(CC))
endif
"""


def makefiles(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the makefile of each ABI.

    Raises:
        OpkitError: op.yml lists the file of the kernel list as another source.
    """
    abis = (ABIS[name] for name in rknnop.ABIS)
    return {f"makefile.linux.{abi.name}": _makefile(spec, abi) for abi in abis}


def _makefile(spec: OpSpec, abi: Abi) -> str:
    sources = kernel_sources(spec)
    folders = (".", "include", *(folder.path for folder in spec.include))
    suffixes = dict.fromkeys(PurePosixPath(source).suffix for source in sources)
    return render(
        "runtimes/rknn/templates/makefile.linux",
        lower=spec.lower,
        abi=abi.name,
        compiler="gcc" if abi.name == "x64" else f"{abi.triple}-gcc",
        cxx=_CXX if has_cxx(spec) else "",
        options=" ".join((*optimization(abi.name, "gnu"), *abi.gnu_flags)),
        flags=" ".join(("-fPIC", *EXACT, *ERRORS, *spec.cflags)),
        include=" ".join(f"-I{folder}" for folder in folders),
        objects=" ".join(f"$(OUT)/{source}.o" for source in sources),
        rules="\n".join(map(_rule, suffixes)),
    )


def _rule(suffix: str) -> str:
    is_cxx = suffix in CXX_SUFFIXES
    language = CXX_LANGUAGE if is_cxx else (*C_LANGUAGE, *C_ERRORS)
    compiler = "CXX" if is_cxx else "CC"
    return _RULE.format(suffix=suffix, compiler=compiler, language=" ".join(language))
