"""docs/evidence.yml: its tests and messages exist, and docs/evidence.md is made from it."""

from __future__ import annotations

import re

from docs.site.evidence import CERTAINTIES, claims, page
from tests.repositories import ROOT

CLAIMS = [claim for found in claims().values() for claim in found]
EVENT = re.compile(r'"(\w[\w ]*: unknown: [^"]+)"')


def test_page_is_made_from_the_data() -> None:
    assert (ROOT / "docs/evidence.md").read_text() == page()


def test_what_is_certain_is_shown_by_something() -> None:
    for claim in CLAIMS:
        assert claim.certainty in CERTAINTIES
        assert claim.by or claim.certainty in ("inferred", "unknown"), claim.text
        assert claim.tests or claim.certainty != "proven", claim.text


def test_tests_exist() -> None:
    for file in {file for claim in CLAIMS for file in claim.tests}:
        assert (ROOT / file).is_file(), file


def test_questions_are_recorded() -> None:
    """The claim on the driver's answers has the count of the recorded ones."""
    [(count, file)] = re.findall(
        r"to (\S+) questions, `([^`]+)`", "\n".join(c.text for c in CLAIMS)
    )
    answers = (ROOT / file).read_text().splitlines()
    assert int(count.replace(",", "")) == len(answers) - 1  # without the header


def test_messages_are_those_of_the_code() -> None:
    """Each message is in the code, and each event on something unknown is in the data."""
    folders = ROOT / "opkit/opencl", ROOT / "opkit/runtimes/rknn/vx"
    code = "\n".join(path.read_text() for each in folders for path in sorted(each.rglob("*.[ch]")))
    messages = {message for claim in CLAIMS for message in claim.messages}
    assert messages
    for message in messages:
        assert f'"{message}' in code, message
    assert set(EVENT.findall(code)) <= messages
