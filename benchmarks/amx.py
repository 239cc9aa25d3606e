"""Keep the tiles of AMX from this process: onnxruntime takes them for products of 8-bit integers.

They are no vectors, and a process has to ask Linux for them. A filter of system calls refuses that
(Linux, Documentation/arch/x86/xstate.rst and Documentation/userspace-api/seccomp_filter.rst).
"""

from __future__ import annotations

import ctypes
import struct

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM = 158, 0x1023  # on x86-64
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06  # of a 32-bit word, and of constants
_NUMBER, _FIRST_ARGUMENT = 0, 16  # places in the data of a system call
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001  # with EPERM

_FILTER = (
    (_LOAD, 0, 0, _NUMBER),
    (_JUMP_IF_EQUAL, 0, 3, _ARCH_PRCTL),
    (_LOAD, 0, 0, _FIRST_ARGUMENT),
    (_JUMP_IF_EQUAL, 0, 1, _ARCH_REQ_XCOMP_PERM),
    (_RETURN, 0, 0, _REFUSE),
    (_RETURN, 0, 0, _ALLOW),
)
"""Instructions of BPF: code, steps if equal, steps if not, operand."""


class _Program(ctypes.Structure):
    _fields_ = (("count", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def refuse() -> None:
    """Refuse AMX to this process and to those that it starts.

    Raises:
        OSError: Linux does not take the filter.
    """
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in _FILTER))
    program = _Program(len(_FILTER), ctypes.cast(code, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program)
    ):
        raise OSError(ctypes.get_errno(), "the filter of system calls is refused")
