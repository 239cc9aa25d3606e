"""Run the scripts of a toolkit in a Python that has it."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from rknn_op.runtimes.models import Toolkit

Array = Any

TIMEOUT = 1800.0
"""Seconds for a script; conversions of large models take minutes."""

_MAX_REASON = 400
_VERSION = re.compile(r"^\d+\.\S+$", re.M)


@dataclass(frozen=True)
class Answer:
    """The end of a script.

    Attributes:
        version: the toolkit's version; empty if it refuses the model.
        refusal: its reason for refusing the model, or its crash; empty if it succeeds.
        left: the names of the operators that it leaves in the model, if that was asked.
        disabled_rules: the rules of its optimizer that fail for the model, and were left out.
        outputs: the outputs of the simulator in order, if that was asked.
    """

    version: str = ""
    refusal: str = ""
    left: frozenset[str] = frozenset()
    disabled_rules: tuple[str, ...] = ()
    outputs: tuple[Array, ...] = ()


def run(toolkit: Toolkit, python: Path, script: Path, arguments: list[str], folder: Path) -> Answer:
    """Run a script of a toolkit; again without a rule of its optimizer as long as one fails.

    Args:
        toolkit: the toolkit.
        python: a Python with it.
        script: one of its scripts.
        arguments: the arguments of the script.
        folder: the working directory; the toolkit writes files there.

    Raises:
        OpkitError: this Python has no such toolkit, or the script does not end in time.
    """
    where = f"--toolkit {python}"
    rules: list[str] = []
    while True:
        command = [str(python.absolute()), str(script), *arguments, *rules]
        try:
            done = subprocess.run(
                command, capture_output=True, cwd=folder, timeout=TIMEOUT, check=False
            )
        except OSError as error:
            raise OpkitError(f"{where}: cannot be started: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise OpkitError(f"{where}: no answer in {TIMEOUT:g} s") from None
        if done.returncode == 0:
            *_, version = _VERSION.findall(done.stdout.decode(errors="replace"))
            return Answer(version, disabled_rules=tuple(rules))
        failed = toolkit.failed_rule(done.stdout + done.stderr)
        if not failed or failed in rules:
            break
        rules.append(failed)
    last = (done.stderr.decode(errors="replace").strip() or "no message").splitlines()[-1]
    if f"No module named '{toolkit.module}'" in last:
        raise OpkitError(f"{where}: {toolkit.name} is not installed for this Python")
    if done.returncode < 0:
        return Answer(refusal=f"{toolkit.name} ended by signal {-done.returncode}")
    return Answer(refusal=printable(shortened(last, _MAX_REASON)))


@dataclass(frozen=True)
class Job:
    """A model to build.

    Attributes:
        model: its file.
        inputs: the arrays to simulate it with, in order, in the dtypes of the simulator; None: it
            is not simulated.
        disabled_rules: the rules of the toolkit's optimizer that are known to fail for it.
    """

    model: Path
    inputs: Sequence[Array] | None = None
    disabled_rules: Sequence[str] = ()


def build(toolkit: Toolkit, python: Path, jobs: Sequence[Job], target: str) -> list[Answer]:
    """Build models for a chip, and simulate them, with the toolkit of a Python.

    Raises:
        OpkitError: this Python has no such toolkit, or the toolkit does not end in time.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        works = [_work(toolkit, folder / str(index), job) for index, job in enumerate(jobs)]
        answers: dict[int, Answer] = {}
        while pending := [index for index in range(len(jobs)) if index not in answers]:
            version, statuses = _statuses(toolkit, python, [works[i] for i in pending], target)
            for index, status in zip(pending, statuses, strict=True):
                work, log = works[index], Path(works[index]["log"]).read_bytes()
                rule = toolkit.failed_rule(log) if status else ""
                if rule and rule not in work["rules"]:
                    work["rules"].append(rule)
                else:
                    answers[index] = _answer(toolkit, work, version, status, log)
        return [answers[index] for index in range(len(jobs))]


def _work(toolkit: Toolkit, stem: Path, job: Job) -> dict[str, Any]:
    """Return the worker's keys for a model; write its inputs."""
    inputs = stem.with_suffix(".inputs.npz")
    if job.inputs is not None:
        import numpy as np  # only here: a plain scan does without it

        np.savez(inputs, *job.inputs)
    return {
        "model": str(job.model.absolute()),
        "package": str(stem.with_suffix(toolkit.suffix)),
        "inputs": "" if job.inputs is None else str(inputs),
        "outputs": str(stem.with_suffix(".outputs.npz")),
        "log": str(stem.with_suffix(".log")),
        "rules": [*job.disabled_rules],
    }


def _statuses(
    toolkit: Toolkit, python: Path, works: Sequence[dict[str, Any]], target: str
) -> tuple[str, list[int]]:
    """Run the worker; return the toolkit's version and the exit statuses."""
    where, folder = f"--toolkit {python}", Path(works[0]["log"]).parent
    file = folder / "work.json"
    file.write_text(json.dumps({"target": target, "models": works}), encoding="utf-8")
    command = [str(python.absolute()), str(toolkit.build), str(file)]
    try:
        done = subprocess.run(
            command, capture_output=True, cwd=folder, timeout=TIMEOUT * len(works), check=False
        )
    except OSError as error:
        raise OpkitError(f"{where}: cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise OpkitError(f"{where}: no answer in {TIMEOUT:g} s") from None
    if done.returncode:
        last = (done.stderr.decode(errors="replace").strip() or "no message").splitlines()[-1]
        if f"No module named '{toolkit.module}'" in last:
            raise OpkitError(f"{where}: {toolkit.name} is not installed for this Python")
        raise OpkitError(f"{where}: {printable(shortened(last, _MAX_REASON))}")
    answer = json.loads(done.stdout.decode().splitlines()[-1])
    return answer["version"], answer["statuses"]


def _answer(
    toolkit: Toolkit, work: Mapping[str, Any], version: str, status: int, log: bytes
) -> Answer:
    rules = tuple(work["rules"])
    if status < 0:
        return Answer(refusal=f"{toolkit.name} ended by signal {-status}")
    if status:
        last = (log.decode(errors="replace").strip() or "no message").splitlines()[-1]
        return Answer(refusal=printable(shortened(last, _MAX_REASON)))
    outputs: tuple[Array, ...] = ()
    if work["inputs"]:
        import numpy as np  # only here: a plain scan does without it

        with np.load(work["outputs"]) as file:
            outputs = tuple(file.values())
    left = frozenset(toolkit.left(Path(work["package"]).read_bytes()))
    return Answer(version, "", left, rules, outputs)


def as_simulated(toolkit: Toolkit, arrays: Iterable[Array]) -> list[Array]:
    """Return arrays in the dtypes of a toolkit's simulator."""
    types = toolkit.simulated_types
    return [each.astype(types.get(str(each.dtype), each.dtype), copy=False) for each in arrays]
