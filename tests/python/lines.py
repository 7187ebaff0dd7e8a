"""Compares the lines that csan finds for instructions with what this interpreter says of them, over all
code of some of its own modules.

    python3 lines.py LIBRARY        (runtime/python/lines.c as a shared library)
"""

import ctypes
import dis
import importlib
import sys
import types

_MODULES = "argparse ast dis enum inspect json.decoder random re typing unittest.case zipfile".split()
_KIND = 0 if sys.version_info < (3, 10) else 1 if sys.version_info < (3, 11) else 2


def _codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _module_codes(name):
    with open(importlib.import_module(name).__file__, "rb") as source:
        yield from _codes(compile(source.read(), name, "exec"))


def _lines(code):
    """The line of each instruction; 0: none."""
    if sys.version_info >= (3, 10):
        return {at: line or 0 for start, end, line in code.co_lines() for at in range(start, end, 2)}
    starts = dict(dis.findlinestarts(code))
    lines, line = {}, code.co_firstlineno
    for at in range(0, len(code.co_code), 2):
        line = starts.get(at, line)
        lines[at] = line
    return lines


def main():
    python_line = ctypes.CDLL(sys.argv[1]).python_line
    python_line.restype = ctypes.c_uint
    python_line.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_size_t]
    compared = 0
    for name in _MODULES:
        for code in _module_codes(name):
            table = code.co_lnotab if _KIND == 0 else code.co_linetable
            for at, line in _lines(code).items():
                found = python_line(_KIND, table, len(table), code.co_firstlineno, at)
                if found != line:
                    sys.exit(f"{name}.{code.co_name}, instruction {at}: line {line}, found {found}")
                compared += 1
    print(f"{compared} instructions")


main()
