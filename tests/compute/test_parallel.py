"""Loops in several threads, and the lifetime of the threads."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from opkit.description.types import MAX_THREADS
from opkit.toolchains.abi import ABIS, Abi
from tests.check.target_repositories import need
from tests.compiling import C_SOURCES, HOST, LANGUAGES, OPKIT, build, compile_c
from tests.marks import quick_first
from tests.repositories import ROOT, folder_of_run

PROGRAM = C_SOURCES / "parallel_program.c"
SIZES = {
    "none": (0, 4),
    "one": (1, 4),
    "below-grain": (3, 4),
    "grain": (4, 4),
    "above-grain": (5, 4),
    "no-grain": (1000, 0),
    "large-grain": (1_000_000, 999_983),
    "large": (1_000_003, 64),
}
TESTS = ("shared", "users", "nested", "callers", "fork", "exit")
THREADS = (1, 2, 7, 64, 0)
AUTO = 0


@functools.cache
def program(threads: int, abi: Abi = HOST) -> Path:
    """Return the program with a count of threads, static for another ABI than this machine's."""
    folder = Path(tempfile.mkdtemp(dir=folder_of_run()))
    musl = f"--target={abi.triple.replace('gnu', 'musl')}"
    flags = () if abi is HOST else (musl, "-static", "-s")
    count = f"-DOPKIT_THREADS={threads}"
    return build(folder / "program", count, PROGRAM, *flags, "-lpthread", "-lm", abi=abi)


def run(command: list[str], test: str, count: int, grain: int, timeout: float = 60) -> None:
    result = subprocess.run(
        [*command, test, str(count), str(grain)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("threads", quick_first(2, THREADS))
def test_each_index_once(threads: int) -> None:
    for count, grain in SIZES.values():
        run([str(program(threads))], "once", count, grain)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("threads", quick_first(2, THREADS))
def test_threads(threads: int, test: str) -> None:
    run([str(program(threads))], test, 100_000, 100)


@pytest.mark.parametrize("processors", [1, 2])
def test_auto_counts_processors_of_process(processors: int) -> None:
    """The program compares the count of threads with its affinity."""
    taskset = shutil.which("taskset")
    assert taskset is not None
    chosen = ",".join(map(str, range(processors)))
    run([taskset, "-c", chosen, str(program(AUTO))], "shared", 100_000, 100)


@pytest.mark.slow
@pytest.mark.parametrize("abi", ["aarch64", "armhf", "riscv64"])
def test_other_processors(abi: str) -> None:
    emulator = need(f"qemu-{ABIS[abi].processor}-static", "qemu-user-static")
    command = [emulator, str(program(7, ABIS[abi]))]
    for count, grain in SIZES.values():
        run(command, "once", min(count, 100_003), grain)
    for test in TESTS:
        run(command, test, 20_000, 100)


# ---- Libraries that are loaded and unloaded ------------------------------------------------------

LIBRARY = """\
#define _GNU_SOURCE
#include "opkit/compute/parallel.h"

static void add_one(const void *context, size_t begin, size_t end)
{
    int *const *numbers = (int *const *)context;
    for (size_t i = begin; i < end; i++) {
        (*numbers)[i]++;
    }
}

#ifdef OPKIT_THREADS
void keep(void);
void keep(void)
{
    opkit_retain_threads();
}

void release(void);
void release(void)
{
    opkit_release_threads();
}
#endif

void count(int *numbers, size_t size);
void count(int *numbers, size_t size)
{
    opkit_parallel_for(size, 8, add_one, &numbers);
}
"""
LOADER = """\
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned threads(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 ? (unsigned)tasks.st_nlink - 2 : 0;
}

static void *find(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (found == NULL) {
        exit(2);
    }
    return found;
}

/* loader LIBRARY RELEASES */
int main(int argument_count, char **arguments)
{
    static int numbers[10000];
    void (*keep)(void);
    void (*release)(void);
    void (*count)(int *, size_t);
    long pages = 0;

    for (int turn = 0; turn < 100 && argument_count == 3; turn++) {
        void *library = dlopen(arguments[1], RTLD_NOW);
        void *symbols[] = {find(library, "keep"), find(library, "release"), find(library, "count")};
        memcpy(&keep, &symbols[0], sizeof keep);
        memcpy(&release, &symbols[1], sizeof release);
        memcpy(&count, &symbols[2], sizeof count);
        keep();
        if (threads() != 7) {
            return 3;
        }
        count(numbers, 10000);
        if (arguments[2][0] == '1') {
            release();
        }
        dlclose(library);
        if (dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD) != NULL) {
            return 4;
        }
        for (int i = 0; i < 1000 && threads() > 1; i++) {
            usleep(1000); /* joined threads leave /proc/self/task shortly after */
        }
        if (threads() != 1) {
            return 5;
        }
        long size = 0;
        FILE *file = fopen("/proc/self/statm", "r");
        if (file == NULL || fscanf(file, "%ld", &size) != 1) {
            return 6;
        }
        fclose(file);
        if (turn == 50) {
            pages = size;
        }
        if (turn > 50 && size > pages) {
            return 7;
        }
    }
    for (int i = 0; i < 10000; i++) {
        if (numbers[i] != 100) {
            return 8;
        }
    }
    return 0;
}
"""


@pytest.mark.parametrize("releases", [1, 0])
def test_library_is_unloaded(tmp_path: Path, releases: int) -> None:
    """No thread outlives the library, and no memory, even if its user never releases them."""
    source, loader = tmp_path / "library.c", tmp_path / "loader.c"
    source.write_text(LIBRARY)
    loader.write_text(LOADER)
    library = build(
        tmp_path / "library.so", "-DOPKIT_THREADS=7", source, "-shared", "-lpthread", "-lm"
    )
    made = build(tmp_path / "loader", "-D_GNU_SOURCE", loader, "-ldl")
    subprocess.run([made, library, str(releases)], timeout=60, check=True)


# ---- Compilers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("abi", quick_first(2, ABIS))
def test_compiles_without_warnings(tmp_path: Path, abi: str, language: str) -> None:
    for flags in (["-DOPKIT_THREADS=2"], []):
        source = tmp_path / "loop.c"
        source.write_text(LIBRARY.replace("#define _GNU_SOURCE\n", ""))
        own = ["-D_GNU_SOURCE"] if language == "c11" else []
        made = compile_c(
            tmp_path / "loop.o", "-c", *own, *flags, source, abi=ABIS[abi], language=language
        )
        assert (made.returncode, made.stderr) == (0, "")


@pytest.mark.parametrize("standard", [["-x", "c", "-std=c11"], ["-x", "c++", "-std=c++11"]])
def test_gcc_has_no_warnings(tmp_path: Path, standard: list[str]) -> None:
    need("gcc", "gcc libc6-dev")
    flags = ["-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT}", "-DOPKIT_THREADS=2"]
    subprocess.run(
        ["gcc", *flags, *standard, "-c", PROGRAM, "-o", tmp_path / "program.o"], check=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("test", quick_first(2, [*TESTS, "once"]))
def test_thread_sanitizer_accepts_pool(tmp_path: Path, test: str) -> None:
    need("gcc", "gcc libc6-dev")
    made = tmp_path / "program"
    flags = ["-g", "-O1", "-std=c11", "-fsanitize=thread", "-DOPKIT_THREADS=7", f"-I{ROOT}"]
    subprocess.run(["gcc", *flags, PROGRAM, "-lpthread", "-lm", "-o", made], check=True)
    run([str(made)], test, 20_000, 100)


def test_serial_loop_has_no_trace_of_threads(tmp_path: Path) -> None:
    """Without OPKIT_THREADS, a loop is a call of its body."""
    source = tmp_path / "loop.c"
    source.write_text(LIBRARY)
    made = build(tmp_path / "loop.o", "-c", "-O2", source)
    direct = tmp_path / "direct.c"
    call = "    if (size > 0) {\n        add_one(&numbers, 0, size);\n    }\n"
    parts = LIBRARY.replace("    opkit_parallel_for(size, 8, add_one, &numbers);\n", call)
    direct.write_text(parts)
    other = build(tmp_path / "direct.o", "-c", "-O2", direct)
    assert _code(made) == _code(other)


def _code(path: Path) -> dict[str, bytes]:
    with path.open("rb") as file:
        sections = list(ELFFile(file).iter_sections())
        return {
            each.name: each.data()
            for each in sections
            if each["sh_flags"] & 2 and not each.name.startswith((".eh_frame", ".rela"))
        }


def test_limit_is_that_of_descriptions() -> None:
    header = (OPKIT / "compute/thread_pool.h").read_text()
    assert f"OPKIT_MAX_THREADS = {MAX_THREADS}," in header
