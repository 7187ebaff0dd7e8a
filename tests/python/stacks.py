"""Random stacks against what the interpreter says of them: functions, methods, generators and calls
through C, of code that stays and of code that is made, run and freed. Each stack is taken twice in a
row and in several threads. Asks libcsan as an adapter does; runs under csan."""

import ctypes
import functools
import random
import sys
import threading

from csan_torch import api

_ROUNDS = 300
_DEPTH = 12
_FRAMES = 64
_source = api.find().python(ctypes.cast(ctypes.pythonapi.Py_GetVersion, ctypes.c_void_p)).contents.source.contents


def _captured():
    frames = (ctypes.c_uint64 * _FRAMES)()
    line = api.SourceLine()
    found = []
    for i in range(_source.capture(frames, _FRAMES, 0)):
        _source.describe(frames[i], ctypes.byref(line))
        found.append((line.file.decode(), line.function.decode(), line.line))
    return found[1:]


def _expected():
    frame, found = sys._getframe(1), []
    while frame:
        found.append((frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return found[: _FRAMES - 1]


class _Made:
    def __init__(self, stack, depth):
        stack.go_on(depth // 2)


class Stack:
    """The rest of a random stack. At its end the frames are compared."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.compared = self.wrong = 0

    def end(self):
        for _ in range(2):
            found, expected = _captured(), _expected()
            self.compared += len(expected)
            self.wrong += found != expected

    def go_on(self, depth):
        if not depth or self.random.random() < 0.1:
            return self.end()
        way = self.random.choice([self.plain, self, self.generator, self.through_c, self.made, self.twice, self.new])
        return way(depth - 1)

    def plain(self, depth):
        if self.random.random() < 0.5:
            self.go_on(depth)
        else:
            self.go_on(depth)

    __call__ = plain

    def generator(self, depth):
        for _ in (self.go_on(depth) for _ in range(2)):
            pass

    def through_c(self, depth):
        sorted([1], key=functools.partial(lambda depth, _: self.go_on(depth) or 0, depth))

    def made(self, depth):
        """The code dies at the end. The next one often has its address."""
        before = self.random.randrange(7)
        body = ["x = 1"] * before + ["go_on(depth)"] + ["x = 1"] * (7 - before)
        if self.random.random() < 0.5:
            body = ["def made():"] + ["    " + line for line in body] + ["made()"]
        exec(compile("\n".join(body), "made.py", "exec"), {"go_on": self.go_on, "depth": depth})

    def new(self, depth):
        for _ in range(2):
            _Made(self, depth)

    def twice(self, depth):
        self.go_on(depth // 2)
        self.go_on(depth // 2)


def main():
    stacks = [Stack(seed) for seed in range(3)]

    def run(stack):
        for _ in range(_ROUNDS):
            stack.go_on(_DEPTH)

    threads = [threading.Thread(target=run, args=(stack,)) for stack in stacks[1:]]
    for thread in threads:
        thread.start()
    run(stacks[0])
    for thread in threads:
        thread.join()
    print("compared" if all(stack.compared for stack in stacks) else "nothing compared", sum(s.wrong for s in stacks))
    print(sum(stack.compared for stack in stacks), "frames", file=sys.stderr)


main()
