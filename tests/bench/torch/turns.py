"""Times variants of one program (modes) against each other on a machine that is never the same twice: all
live at once, each in a process of its own, and are asked in turns, one at a time, for a short slice of
steps, by bench_torch.py, bench_learn.py and bench_errors.py. All run on the same cores. Rounds go through
the modes in a changing order; a ratio is a slice's median by that of the baseline's slice ("plain" as a
rule) in the same round, so that what the machine does for longer than a round is in both; printed is the
median of the rounds' ratios and their quartiles. For the baseline they are those of its slices by the
median of them all: what the machine does by itself.

  step ms  from the step's start to the end of the wait for the GPU, which is idle before: what a user
           waits for. Work of the host that the GPU's hides is not in it.
  cpu ms   processor time of all threads of the process meanwhile, autograd's and csan's among them, but
           for the main thread's in that wait, where it spins: what the host works. It sees less of what
           else the machine does, and it sees what the GPU hides. A mode that waits within launches
           (CUDA_LAUNCH_BLOCKING, a traced launch) spins there, too, and that is counted.
  first    the very first step, in seconds: kernels are loaded in it, and what csan does then is read of
           them. Processes that start together make it beside each other.
  warm-up  of the steps after it: see warm_up().
  settled  of a mode that says when its steps are what they will be (Mode.settles): after how many steps,
           seconds, and how much of that plain's first and as many of its usual ones would not have taken.
  start    from the process's beginning to the first step's end, in processes beside each other that do
           nothing else (--starts); the difference is by pairs, its median printed.

A process makes its first step while the others do, then connects to its socket; a line asks for steps, a
line answers with their times; the end of the connection ends it. A mode whose slices are slow has fewer."""

import argparse
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

BASELINE = "plain"  # unless bench() is given another
ADDRESS = "TURNS_ADDRESS"  # in the environment: by their arguments a model's processes are one program
LEAD_IN = 2  # steps at a slice's start that are not counted: caches hold what ran before
LEAST_ROUNDS = 3  # even if the start took all the time
LONG_SLICE = 0.3  # seconds: slower steps are cut down in number,
LEAST_STEPS = 3  # to no fewer
START_LIMIT, ANSWER_LIMIT, END_LIMIT = 300, 120, 60  # seconds


# ---- Statistics -----------------------------------------------------------------------------------


def warm_up(times):
    """Of the steps after a process's first (which loads kernels, with csan or without): the usual one,
    which is the median of the second half, and what the first half took more, in seconds."""
    half = len(times) // 2
    usual = statistics.median(times[half:])
    return usual, sum(times[:half]) - usual * half


def ratios(slices, baseline):
    """By round: each a dictionary from round to seconds."""
    return [seconds / baseline[turn] for turn, seconds in slices.items() if turn in baseline]


def quartiles(values):
    """First quartile, median, third."""
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3


# ---- In the process that is timed -----------------------------------------------------------------


def serve(step, synchronize, device):
    """Makes steps and answers with their times until the other side hangs up."""
    first, _ = _timed(step, synchronize)
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(os.environ[ADDRESS])
        lines = link.makefile("rw")
        print(json.dumps([device, first, time.process_time()]), file=lines, flush=True)
        for line in iter(lines.readline, ""):
            request = json.loads(line)
            if request["cores"]:
                _pin(request["cores"])
            for _ in range(request["lead_in"]):
                step()
            limit, times = time.monotonic() + request["seconds"], []
            while len(times) < request["steps"] and (len(times) < LEAST_STEPS or time.monotonic() < limit):
                times.append(_timed(step, synchronize))
            print(json.dumps(times), file=lines, flush=True)


def _pin(cores):
    for thread in os.listdir("/proc/self/task"):
        try:
            os.sched_setaffinity(int(thread), cores)
        except ProcessLookupError:  # it ended
            pass


def _timed(step, synchronize):
    """Seconds on the wall and of processors."""
    synchronize()
    start, processors = time.perf_counter(), time.process_time()
    step()
    waiting = time.thread_time()
    synchronize()
    waited = time.thread_time() - waiting
    return time.perf_counter() - start, time.process_time() - processors - waited


# ---- Modes and their processes --------------------------------------------------------------------


@dataclass
class Mode:
    before: list = field(default_factory=list)  # the command in front of python
    environment: dict = field(default_factory=dict)
    first_steps: int = 10
    first_seconds: float = 60  # within which they end; a few are made anyway
    after: str = ""  # starts when that mode's process has ended, and takes its turns
    settles: str = ""  # what it says once its steps are what they will be; its first steps end then


def null_hooks(csan):
    """Hooks that do nothing, beside the csan of a build or a package: the least that a tool in front of the driver
    costs, and with launches that read as much memory as csan's do (some 20 KiB)."""
    library = Path(csan).resolve().parent.parent / "tests" / "bench" / "libnull_hook.so"
    preload = ["env", f"LD_PRELOAD={library}"]
    return {
        "null hook": Mode(preload),
        "null hook with 320 lines": Mode(preload, {"NULL_HOOK_LINES": "320"}),
    }


class Failure(Exception):
    pass


class Worker:
    """A mode's process, and what it measured."""

    def __init__(self, mode, program, scratch, number):
        self.wall, self.cpu = {}, {}
        self.spent = self.usual = self.warm = self.first = 0.0
        self.start = self.start_cpu = 0.0  # from its beginning to the end of its first step
        self.settled = None  # steps, the first one among them, and their seconds
        self.device = self.failure = ""
        self.link = self.lines = None
        address = str(Path(scratch) / f"{number}.socket")
        self.errors = Path(scratch) / f"{number}.errors"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(address)
        self.listener.listen()
        self.began = time.monotonic()
        with open(self.errors, "w") as errors:
            self.process = subprocess.Popen(
                [*mode.before, *program],
                env={**os.environ, **mode.environment, ADDRESS: address},
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                start_new_session=True,
            )

    def meet(self):
        """Waits for the first step to be done."""
        self.listener.settimeout(0.2)
        limit = time.monotonic() + START_LIMIT
        while not self.link:
            try:
                self.link, _ = self.listener.accept()
            except TimeoutError:
                if self.process.poll() is not None:
                    raise Failure(f"ended with {self.process.returncode} before its first step") from None
                if time.monotonic() > limit:
                    raise Failure(f"made no step in {START_LIMIT} s") from None
        self.link.settimeout(ANSWER_LIMIT)
        self.lines = self.link.makefile("rw")
        self.start = time.monotonic() - self.began
        self.device, self.first, self.start_cpu = self._answer()

    def ask(self, steps, lead_in, cores, seconds=ANSWER_LIMIT):
        """Wall times and processor times of that many steps, or of those that so many seconds suffice for."""
        start = time.monotonic()
        try:
            request = {"steps": steps, "lead_in": lead_in, "cores": cores, "seconds": seconds}
            print(json.dumps(request), file=self.lines, flush=True)
        except OSError:
            pass  # the answer says it
        times = self._answer()
        self.spent += time.monotonic() - start
        return [wall for wall, _ in times], [cpu for _, cpu in times]

    def _answer(self):
        try:
            line = self.lines.readline()
        except TimeoutError:
            raise Failure(f"did not answer for {ANSWER_LIMIT} s") from None
        except OSError:
            line = ""
        if line:
            return json.loads(line)
        try:
            raise Failure(f"ended with {self.process.wait(END_LIMIT)}")
        except subprocess.TimeoutExpired:
            raise Failure("hung up and did not end") from None

    def settle(self, mode, cores):
        """Makes steps until it says that it has settled, or the mode's first steps are made. Their times."""
        times, limit = [], time.monotonic() + mode.first_seconds
        while len(times) < mode.first_steps and (len(times) < LEAST_STEPS or time.monotonic() < limit):
            if any(mode.settles in line for line in self.said()):
                self.settled = 1 + len(times), self.first + sum(times)
                break
            times += self.ask(1, 0, cores)[0]
        return times

    def hang_up(self):
        """It ends by itself then, and csan with it prints its summary and saves what it learned."""
        self.listener.close()
        if self.link:
            self.link.shutdown(socket.SHUT_RDWR)
            self.link.close()
            self.link = None

    def end(self):
        """After hang_up."""
        try:
            code = self.process.wait(END_LIMIT)
            self.failure = self.failure or (f"ended with {code}" if code else "")
        except subprocess.TimeoutExpired:
            self.failure = self.failure or f"did not end in {END_LIMIT} s"
        self.kill()

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def said(self):
        return self.errors.read_text(errors="replace").splitlines()


# ---- The turns ------------------------------------------------------------------------------------


class Turns:
    """One model's modes. Workers of modes that ended stay, for what they measured."""

    def __init__(self, modes, program, scratch, options):
        self.modes, self.program, self.scratch, self.options = modes, program, scratch, options
        self.workers, self.rounds, self.order = {}, 0, random.Random(1)
        self.device = ""
        self.starts = []  # pairs of workers: the baseline's, and one that starts beside it

    def take(self):
        """The modes that follow no other, then those that do, then those that follow these, have the same
        part of the time."""
        begin = time.monotonic()
        depths = {name: self._depth(name) for name in self.modes}
        phases = [[name for name in depths if depths[name] == depth] for depth in sorted(set(depths.values()))]
        try:
            for number, names in enumerate(phases, 1):
                names = [name for name in names if not self._lacks(name)]
                self._end([self.modes[name].after for name in names])
                self._start(names)
                self._take_rounds(begin + self.options.seconds * number / len(phases))
            self._end(list(self.workers))
            self._take_starts()
        finally:
            for worker in [*self.workers.values(), *(worker for pair in self.starts for worker in pair)]:
                worker.kill()

    def _take_starts(self):
        """Of the last mode, whose program csan knows by then, beside the baseline."""
        names = [self.options.baseline, list(self.modes)[-1]]
        if any(name not in self.workers or self.workers[name].failure for name in names):
            return
        for number in range(self.options.starts):
            first = len(self.workers) + 2 * number
            pair = [
                Worker(self.modes[name], self.program, self.scratch, first + i) for i, name in enumerate(names)
            ]
            self.starts.append(pair)
            for worker in pair:
                self._guarded(worker, worker.meet)
            for worker in pair:
                worker.hang_up()
            for worker in pair:
                worker.end()

    def _depth(self, name):
        after = self.modes[name].after
        return 1 + self._depth(after) if after else 0

    def _lacks(self, name):
        """What a mode follows left nothing behind if it failed."""
        before = self.workers.get(self.modes[name].after)
        return before is not None and bool(before.failure)

    def _start(self, names):
        for name in names:
            number = len(self.workers)
            self.workers[name] = Worker(self.modes[name], self.program, self.scratch, number)
        for name in names:
            self._guard(name, self._meet)
        for name in names:
            self._guard(name, self._warm, self.modes[name])

    def _meet(self, worker):
        worker.meet()
        self.device = self.device or worker.device
        if worker.device != self.device:
            raise Failure(f"runs on {worker.device}, the others on {self.device}")

    def _warm(self, worker, mode):
        cores = self.options.cores
        if mode.settles:
            wall = worker.settle(mode, cores)
            worker.usual, worker.warm = statistics.median(worker.ask(10, LEAD_IN, cores)[0]), 0.0
        else:
            wall, _ = worker.ask(mode.first_steps, 0, cores, mode.first_seconds)
            worker.usual, worker.warm = warm_up(wall)

    def _take_rounds(self, limit):
        for taken in range(self.options.rounds):
            if taken >= LEAST_ROUNDS and time.monotonic() > limit:
                break
            running = self._running()
            if not running:
                break
            for name in self.order.sample(running, len(running)):
                if not self._sits_out(name):
                    self._guard(name, self._slice)
            self.rounds += 1

    def _slice(self, worker):
        steps = max(min(LEAST_STEPS, self.options.steps), int(LONG_SLICE / worker.usual))
        wall, cpu = worker.ask(min(self.options.steps, steps), LEAD_IN, self.options.cores)
        worker.wall[self.rounds] = statistics.median(wall)
        worker.cpu[self.rounds] = statistics.median(cpu)

    def _sits_out(self, name):
        """Who had more than twice its share of the time, but for its first rounds."""
        running = self._running()
        worker, spent = self.workers[name], sum(self.workers[other].spent for other in running)
        late = name != self.options.baseline and len(worker.wall) >= LEAST_ROUNDS
        return late and worker.spent > 2 * spent / len(running)

    def _running(self):
        return [name for name, worker in self.workers.items() if worker.link and not worker.failure]

    def _guard(self, name, call, *arguments):
        """Calls with the mode's worker unless that failed; the others go on when it does."""
        worker = self.workers[name]
        if not worker.failure:
            self._guarded(worker, call, worker, *arguments)

    @staticmethod
    def _guarded(worker, call, *arguments):
        try:
            call(*arguments)
        except Failure as failure:
            worker.failure = str(failure)
            worker.hang_up()
            worker.kill()

    def _end(self, names):
        ending = [self.workers[name] for name in names if name in self.workers]
        for worker in ending:
            worker.hang_up()
        for worker in ending:
            worker.end()


# ---- What is printed ------------------------------------------------------------------------------


def report(model, turns):
    cores = turns.options.cores
    where = f"cores {', '.join(map(str, cores))}" if cores else "any cores"
    print(f"{model} on {turns.device or 'no device'}, {where}, {turns.rounds} rounds")
    ratio = "ratio (quartiles)"
    print(f"  {'mode':22} {'step ms':>9}  {ratio:22} {'cpu ms':>9}  {ratio:22} slices    first   warm-up")
    plain = turns.workers.get(turns.options.baseline)
    wall, cpu = (plain.wall, plain.cpu) if plain else ({}, {})
    for name, mode in turns.modes.items():
        if name not in turns.workers:
            print(f"  {name:22} failed: '{mode.after}' before it failed")
            continue
        worker = turns.workers[name]
        if worker.wall:
            figures = f"{_figures(worker.wall, wall)} {_figures(worker.cpu, cpu)}"
            print(f"  {name:22} {figures} {len(worker.wall):6} {worker.first:6.2f} s {worker.warm:7.2f} s")
        if worker.settled and plain:
            _report_settled(name, worker, plain)
        said = worker.said()
        if worker.failure:
            print(f"  {name:22} failed: {worker.failure}; it said:")
            said = said[-30:]
        else:
            said = [line for line in said if line.startswith("csan: ")]
        for line in said:
            print(f"  {'':22} {line}")
    _report_starts(turns)
    print(end="", flush=True)


def _report_settled(name, worker, plain):
    steps, seconds = worker.settled
    more = seconds - plain.first - (steps - 1) * statistics.median(plain.wall.values() or [plain.usual])
    print(f"  {name:22} settled after {steps} steps, {seconds:.2f} s: {more:.2f} s more than {steps} steps of plain")


def _report_starts(turns):
    pairs = [pair for pair in turns.starts if not any(worker.failure for worker in pair)]
    if not pairs:
        return
    name = list(turns.modes)[-1]
    for what, of in (("on the wall", "start"), ("of processors", "start_cpu")):
        times = [[getattr(worker, of) for worker in pair] for pair in pairs]
        plain, other = (statistics.median(column) for column in zip(*times))
        more = statistics.median(second - first for first, second in times)
        print(f"  start, seconds {what}: plain {plain:.2f}, {name} {other:.2f}, {more:+.2f} ({len(pairs)} pairs)")


def _figures(slices, baseline):
    """Milliseconds and the ratio to the baseline with its quartiles."""
    if slices is baseline:
        baseline = dict.fromkeys(slices, statistics.median(slices.values()))
    found = ratios(slices, baseline)
    text = f"{statistics.median(slices.values()) * 1e3:9.3f}"
    if not found:
        return f"{text}  {'-':22}"
    first, middle, third = quartiles(found)
    return f"{text}  {f'{middle:.3f}x ({first:.3f}-{third:.3f})':22}"


# ---- The command line -----------------------------------------------------------------------------


def quiet_cores(count):
    """Those that were idle most in half a second, no two of them threads of one core."""

    def idle():
        lines = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
        return {int(words[0][3:]): int(words[4]) for words in lines if words[0][3:].isdigit()}

    def siblings(core):
        path = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        return path.read_text().strip() if path.exists() else core

    before = idle()
    time.sleep(0.5)
    after = idle()
    allowed = sorted(os.sched_getaffinity(0), key=lambda core: before.get(core, 0) - after.get(core, 0))
    apart = {}
    for core in allowed:
        apart.setdefault(siblings(core), core)
    return sorted(list(apart.values())[:count])


def bench(usage, table, models, seconds, baseline=BASELINE, starts=0):
    """table(csan, directory): the modes by name; a directory for each model."""
    parser = argparse.ArgumentParser(
        description=usage, epilog=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("csan")
    parser.add_argument("--models", default=models)
    parser.add_argument("--modes", default="", help="all")
    parser.add_argument("--seconds", type=float, default=seconds, help=f"a model, its start in ({seconds})")
    parser.add_argument("--rounds", type=int, default=1000, help="at most")
    parser.add_argument("--steps", type=int, default=10, help="of a slice, at most (10)")
    parser.add_argument("--starts", type=int, default=starts, help=f"pairs of processes that only start ({starts})")
    parser.add_argument("--cores", default="2", help="how many, a list such as 3,5, or any (2)")
    options = parser.parse_args()
    options.cores = _cores(options.cores, parser)
    options.baseline = baseline
    for model in options.models.split(","):
        with tempfile.TemporaryDirectory() as scratch:
            modes = table(options.csan, scratch)
            chosen = options.modes.split(",") if options.modes else list(modes)
            for name in chosen:
                if name not in modes:
                    parser.error(f"there is no mode '{name}', only {', '.join(modes)}")
                if modes[name].after and modes[name].after not in chosen:
                    parser.error(f"mode '{name}' needs '{modes[name].after}' before it")
            program = [sys.executable, str(Path(__file__).with_name("worker.py")), model]
            turns = Turns({name: modes[name] for name in chosen}, program, scratch, options)
            turns.take()
            report(model, turns)


def _cores(text, parser):
    if text == "any":
        return []
    try:
        return [int(core) for core in text.split(",")] if "," in text else quiet_cores(int(text))
    except ValueError:
        parser.error(f"--cores takes a number, a list of cores or any, not '{text}'")
