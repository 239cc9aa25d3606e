"""The names that are reserved in languages, headers or the generated code."""

from __future__ import annotations

import builtins
import keyword
import re
from typing import NamedTuple


class Taken(NamedTuple):
    """Names that are taken.

    Attributes:
        by: their owner, for messages.
        words: the names.
        pattern: a regular expression of more names.
    """

    by: str
    words: frozenset[str]
    pattern: str = ""

    def __contains__(self, name: object) -> bool:
        return name in self.words or bool(re.fullmatch(self.pattern, str(name)))


def taken(by: str, words: str, pattern: str = "") -> Taken:
    """Return taken names from a text of words separated by blanks."""
    return Taken(by, frozenset(words.split()), pattern)


_C = taken(
    "C",
    """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary
    _Noreturn _Static_assert _Thread_local asm
    bool true false NULL EOF INFINITY NAN errno stdin stdout stderr
    """,
)
_OPENCL = taken(
    "OpenCL",
    """
    half quad complex imaginary uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t
    kernel __kernel global __global local __local constant __constant private __private generic
    __generic read_only __read_only write_only __write_only read_write __read_write uniform pipe
    image1d_t image1d_buffer_t image1d_array_t image2d_t image2d_array_t image3d_t image2d_depth_t
    image2d_array_depth_t sampler_t event_t queue_t vec_step
    """,
    r"(bool|u?char|u?short|u?int|u?long|half|float|double|quad)(2|3|4|8|16)|vx_array_.*",
)
_CXX = taken(
    "C++",
    """
    alignas alignof and and_eq bitand bitor catch char16_t char32_t class compl const_cast constexpr
    decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public reinterpret_cast static_assert static_cast
    template this thread_local throw try typeid typename using virtual wchar_t xor xor_eq
    """,
)
_PYTHON = Taken("Python", frozenset(keyword.kwlist))
_LANGUAGES = (_C, _OPENCL, _CXX, _PYTHON)

_ERROR_NUMBERS = """
    2BIG ACCES ADDRINUSE ADDRNOTAVAIL ADV AFNOSUPPORT AGAIN ALREADY BADE BADF BADFD BADMSG BADR
    BADRQC BADSLT BFONT BUSY CANCELED CHILD CHRNG COMM CONNABORTED CONNREFUSED CONNRESET DEADLK
    DEADLOCK DESTADDRREQ DOM DOTDOT DQUOT EXIST FAULT FBIG FSBADCRC FSCORRUPTED FTYPE HOSTDOWN
    HOSTUNREACH HWPOISON IDRM ILSEQ INPROGRESS INTR INVAL IO ISCONN ISDIR ISNAM KEYEXPIRED
    KEYREJECTED KEYREVOKED L2HLT L2NSYNC L3HLT L3RST LIBACC LIBBAD LIBEXEC LIBMAX LIBSCN LNRNG LOOP
    MEDIUMTYPE MFILE MLINK MSGSIZE MULTIHOP NAMETOOLONG NAVAIL NETDOWN NETRESET NETUNREACH NFILE
    NOANO NOBUFS NOCSI NODATA NODEV NOENT NOEXEC NOKEY NOLCK NOLINK NOMEDIUM NOMEM NOMSG NONET NOPKG
    NOPROTOOPT NOSPC NOSR NOSTR NOSYS NOTBLK NOTCONN NOTDIR NOTEMPTY NOTNAM NOTRECOVERABLE NOTSOCK
    NOTSUP NOTTY NOTUNIQ NXIO OPNOTSUPP OVERFLOW OWNERDEAD PERM PFNOSUPPORT PIPE PROTO
    PROTONOSUPPORT PROTOTYPE RANGE REMCHG REMOTE REMOTEIO RESTART RFKILL ROFS SHUTDOWN
    SOCKTNOSUPPORT SPIPE SRCH SRMNT STALE STRPIPE TIME TIMEDOUT TOOMANYREFS TXTBSY UCLEAN UNATCH
    USERS WOULDBLOCK XDEV XFULL
"""
_INTEGERS = (
    r"(U?INT((_FAST|_LEAST)?(8|16|32|64)|MAX|PTR)?|BOOL|[SUW]?CHAR|U?SHRT|U?LONG|U?LLONG"
    r"|U?LONG_LONG|PTRDIFF|S?SIZE|SIG_ATOMIC|WINT)"
)
_MACROS = taken(
    "a macro in headers of C",
    """
    BIG_ENDIAN BYTE_ORDER LITTLE_ENDIAN PDP_ENDIAN BUFSIZ CLOCKS_PER_SEC CPU_SETSIZE CSIGNAL
    DECIMAL_DIG ELEMENTS_PER_ITEM EXIT_FAILURE EXIT_SUCCESS FD_SETSIZE L_ctermid L_cuserid L_tmpnam
    MATH_ERREXCEPT MATH_ERRNO MAXFLOAT MAX_CANON MAX_INPUT MB_CUR_MAX MB_LEN_MAX NFDBITS NZERO
    ONNX_PB_H PIPE_BUF P_tmpdir TIMER_ABSTIME TIME_ACTIVE TIME_MONOTONIC TIME_THREAD_ACTIVE TIME_UTC
    WCONTINUED WEOF WEXITED WNOHANG WNOWAIT WORD_BIT WSTOPPED WUNTRACED
    AIO_PRIO_DELTA_MAX CHARCLASS_NAME_MAX COLL_WEIGHTS_MAX DELAYTIMER_MAX EXPR_NEST_MAX FILENAME_MAX
    FOPEN_MAX HOST_NAME_MAX IOV_MAX LINE_MAX LOGIN_NAME_MAX MQ_PRIO_MAX NAME_MAX NGROUPS_MAX
    PATH_MAX RAND_MAX RE_DUP_MAX RTSIG_MAX SEM_VALUE_MAX TMP_MAX TTY_NAME_MAX
    math_errhandling linux unix i386
    """
    + " ".join(f"E{word}" for word in _ERROR_NUMBERS.split()),
    "|".join(
        (
            rf"{_INTEGERS}_(MIN|MAX|WIDTH|BIT)",
            r"(PRI|SCN)[BbdiouXx](8|16|32|64|(FAST|LEAST)(8|16|32|64)|MAX|PTR)",
            r"(FLT|DBL|LDBL|FP|FE|LC|BC|NL|SEEK|ADJ|MOD|STA|CLOCK|CLONE|SCHED|PTHREAD)_[A-Z\d_]+",
            r"(ATOMIC|(AT_)?RENAME|XATTR|OPKIT|PPL|PPLNN|RKNN|VX)_[A-Z\d_]+",
            r"HUGE_VAL\w*|SNAN[FL\dX]*|M_(E|PI|LN|LOG|SQRT|\d)\w*",
            r"bit_([A-Z\d]\w*|x2APIC|xTPR)|signature_[A-Z\d]+_e[bcd]x",
        )
    ),
)
_OTHERS = (
    taken("reserved in C, as it begins with _", "", "_.*"),
    taken("a type in headers of C", "", "u?int(8|16|32|64)_t"),
    taken("a name in the generated code", "", "opkit_.*"),
    taken("a macro on the compiler's command line", "NDEBUG ZIG_VERSION", r"HARNESS_[A-Z\d_]+"),
    _MACROS,
)


def keyword_of(name: str) -> str | None:
    """Return the first language that reserves the word, or None."""
    return next((language.by for language in _LANGUAGES if name in language), None)


def taken_by(name: str, operator: str = "") -> str:
    """Return the owner of a taken name, for messages; empty: the name is free.

    Args:
        name: the name of an operator, an input, an output or a param.
        operator: the name of the operator of an input, an output or a param.
    """
    language = keyword_of(name)
    if language:
        return f"a reserved word of {language}"
    if operator and re.fullmatch(f"{operator.upper()}_([A-Z_]+_)?H|(?i:{operator})Param", name):
        return "a name in the generated code"
    return next((others.by for others in _OTHERS if name in others), "")


def is_python_name(name: str) -> bool:
    """Whether a name is a built-in of Python."""
    return hasattr(builtins, name)
