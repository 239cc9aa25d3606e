"""host_check(env): runs the cases of tests/, on this PC and on other executors."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from SCons.Action import Action
from SCons.Variables import BoolVariable

from opkit.build import static_harness
from opkit.build.options import Request
from opkit.check import executors, run_log
from opkit.check.run_log import CPU_KERNEL
from opkit.check.sanitizers import ENVIRONMENT, SANITIZERS, parse_sanitizers
from opkit.check.session import FILE, LOG, Session, command
from opkit.description.parser import PC
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes import expected_kernels
from opkit.runtimes.interface import Runtime

# Of pytest, which takes long to import.
NO_TESTS = 5
USAGE_ERROR = 4

_Harnesses = dict[str, tuple[Any, str, str]]
"""Name in the table of cases -> node of the program, ABI or sanitizers, name of the runtime."""

USAGE = (
    ("scons check", "run every case of tests/ on this PC: kernels against numpy"),
    ("scons target=... check", "... and on the instruction set of that target; all: on every one"),
    ("scons sanitize=... check", f"... and with the compiler's sanitizers: {','.join(SANITIZERS)}"),
)


def options(variables: Any, operator: OpSpec) -> None:
    """Add the options that choose other executors."""
    names = ",".join(SANITIZERS)
    variables.AddVariables(
        ("qemu", "with check: runs the target's programs; a command, or ssh:HOST for a board", ""),
        BoolVariable("require_target", "with check: fail if they cannot run on this PC", True),
        (
            "sanitize",
            f"with check: compile with sanitizers, of {names}; needs gcc or clang",
            "",
        ),
        ("workers", "with check: processes that run cases side by side; a number, or auto", ""),
    )


def check(env: Any, request: Request) -> None:
    """Refuse invalid executors.

    Raises:
        OpkitError: `qemu=` conflicts with the targets, a sanitizer is unknown, or there can be no
            workers.
    """
    if env["workers"]:
        _refuse_workers(env["workers"])
    parse_sanitizers(env["sanitize"])
    if env["qemu"] and not request.abis:
        raise OpkitError(
            "qemu= runs a target's programs; pass the target too, for example target=rv1126"
        )
    if executors.is_board(env["qemu"]) and len(request.abis) > 1:
        raise OpkitError(f"qemu={env['qemu']} is one board; pass its chip with target=")


def _refuse_workers(workers: str) -> None:
    if not re.fullmatch(r"auto|[1-9][0-9]{0,2}", workers):
        raise OpkitError(f"workers: invalid {workers!r} (expected a number up to 999, or auto)")
    if importlib.util.find_spec("xdist") is None:
        raise OpkitError(
            f"workers={workers} requires pytest-xdist, which is not installed: "
            f"{sys.executable} -m pip install pytest-xdist"
        )


def host_check(
    env: Any,
    needed: Sequence[Any],
    runtimes: Sequence[Runtime],
    request: Request,
    name: str = "check",
    action: Any = None,
) -> Any:
    """Return the alias `check`: every case of tests/, with what was just built.

    Args:
        env: the environment.
        needed: the nodes of what the cases use on this PC.
        runtimes: the operator's.
        request: on which instruction sets they run as well.
        name: of the alias.
        action: the action that calls run_cases.

    Raises:
        OpkitError: a compiler is missing.
    """
    sanitizers = parse_sanitizers(env["sanitize"])
    harnesses: _Harnesses = {}
    sanitized: _Harnesses = {}
    for number, runtime in enumerate(runtimes):
        # The first runtime's name is left out, as in the name of its kernel on this PC.
        of_runtime = f"{runtime.name} " if number else ""
        parts = runtime.harness_parts(env)
        for abi in request.abis_of(runtime) if parts else ():
            if abi != PC:
                node = static_harness.target_harness(env, abi, parts)
                harnesses[of_runtime + abi] = node, abi, runtime.name
        if parts and sanitizers:
            where = ",".join(sanitizers)
            node = static_harness.sanitized_harness(env, sanitizers, parts)
            sanitized[of_runtime + where] = node, where, runtime.name

    def programs(nodes: _Harnesses) -> dict[str, tuple[str, str, str]]:
        return {
            name: (node[0].abspath, where, runtime)
            for name, (node, where, runtime) in nodes.items()
        }

    simulators = [
        runtime.simulators(env, list(request.targets_of(runtime))) for runtime in runtimes
    ]
    check = env.Alias(
        name,
        [*needed, *(node for node, *_ in (*harnesses.values(), *sanitized.values()))],
        action or Action(run_cases, "check tests/"),
        TARGET_HARNESSES=programs(harnesses),
        SANITIZED_HARNESSES=programs(sanitized),
        SIMULATORS=[executor for found, _ in simulators for executor in found],
        MISSING_SIMULATORS=[problem for _, problem in simulators if problem],
    )
    env.AlwaysBuild(check)
    return check


def run_cases(target: Any, source: Any, env: Any, records: Path | None = None) -> int:
    """Run the cases on this PC and on the executors of HostCheck.

    Args:
        target: SCons'.
        source: SCons'.
        env: the environment.
        records: the folder for the records of `scons report`.

    Returns:
        0 if no case failed, and all required cases ran.
    """
    not_run = []
    prepared = []
    with ExitStack() as stack:
        for name, (program, sanitizers, runtime) in env["SANITIZED_HARNESSES"].items():
            executor = executors.Executor(name, (program,), ENVIRONMENT, runtime=runtime)
            try:
                executors.probe(executor)
                prepared.append(executor)
            except executors.ExecutorError as error:
                print(f"error: sanitize={sanitizers}: {error}", file=sys.stderr)
                return 1
        for name, (program, abi, runtime) in env["TARGET_HARNESSES"].items():
            try:
                launched = stack.enter_context(executors.launch(abi, Path(program), env["qemu"]))
                prepared.append(replace(launched, name=name, runtime=runtime))
            except executors.ExecutorError as error:
                not_run.append(f"the cases did not run on {name}: {error}")
        session = Session(tuple(prepared), LOG, records, tuple(env["SIMULATORS"]))
        status = _run_pytest(session, env["OPERATOR"], env["workers"], env["LOCK"])
    for problem in env["MISSING_SIMULATORS"]:
        print(f"note: {problem}")
    required = env["require_target"]
    for problem in not_run:
        hint = "; require_target=0 does without" if required else ""
        print(f"{'error' if required else 'warning'}: {problem}{hint}", file=sys.stderr)
    return status or int(required and bool(not_run))


def _run_pytest(session: Session, operator: OpSpec, workers: str, kept_files: Sequence[int]) -> int:
    """Run the tests, and print a summary and what is missing; return 0 if nothing is.

    Should we be killed, pytest still holds the repository's lock, among the kept files.
    """
    LOG.unlink(missing_ok=True)
    session.write(FILE)
    pytest = [*command(), *(("-n", workers) if workers else ())]
    status = subprocess.run(pytest, check=False, pass_fds=kept_files).returncode
    log = run_log.read(LOG)
    elsewhere = [*operator.runtimes[1:], *(executor.name for executor in session.executors)]
    simulators = [executor.name for executor in session.simulators]
    on_executors = {CPU_KERNEL.name: [*map(CPU_KERNEL.on, elsewhere), *simulators]}
    files = sorted(path.as_posix() for path in Path("tests").rglob("test_*.py"))
    # Where pytest itself has failed, it has printed the reason.
    failed_to_start = status == USAGE_ERROR and not log.collected
    has_reason = failed_to_start or log.status not in (None, 0, NO_TESTS)
    missing = (
        [] if has_reason else run_log.missing(log, expected_kernels(operator), on_executors, files)
    )
    print(run_log.summary(log), flush=True)
    for sentence in missing:
        print(f"error: {sentence}", file=sys.stderr)
    return status or log.status or int(bool(missing))
