"""Code that is made anew, run and forgotten, again and again, and differs in the line of a call alone:
each of its frames must have that line. Asks libcsan as an adapter does; runs under csan."""

import ctypes

from csan_torch import api

table = api.find()
source = table.python(ctypes.cast(ctypes.pythonapi.Py_GetVersion, ctypes.c_void_p)).contents.source.contents


def capture():
    """The line of the caller."""
    frames = (ctypes.c_uint64 * 2)()
    line = api.SourceLine()
    source.capture(frames, 2, 0)
    source.describe(frames[1], ctypes.byref(line))
    return line.line


def wrong(function):
    count = 0
    for step in range(200):
        before = step % 7
        body = ["x = 1"] * before + ["got = capture()"] + ["x = 1"] * (7 - before)
        if function:
            body = ["def step():", "    global got"] + ["    " + line for line in body] + ["step()"]
        scope = {"capture": capture}
        exec(compile("\n".join(body), "step.py", "exec"), scope)
        count += scope["got"] != before + (3 if function else 1)
    return count


print(wrong(False), wrong(True))
