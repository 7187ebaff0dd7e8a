"""The turns in which tests/bench/torch measures: its statistics, and its processes with steps made up here
that sleep or die. Needs no torch."""

import argparse
import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1] / "bench" / "torch"
sys.path.insert(0, str(BENCH))

import turns  # noqa: E402
from turns import Mode  # noqa: E402

# SECONDS: how long a step sleeps; FIRST: the first one; DIES, SETTLES: at which one; NEEDS: a file that a step wants;
# HELPER, SPIN: seconds that a step's helper thread works and that the main thread spins in the wait; DEVICE:
# what it runs on; LEAVES: a file it makes at its end; CODE: what it ends with.
PROGRAM = f"""
import os, sys, threading, time
sys.path.insert(0, {str(BENCH)!r})
import turns
made = 0
def work(seconds):
    start = time.thread_time()
    while time.thread_time() - start < float(seconds):
        pass
def step():
    global made
    made += 1
    if made == int(os.environ.get("DIES", 0)):
        raise ValueError("no step any more")
    if os.environ.get("NEEDS"):
        os.stat(os.environ["NEEDS"])
    if os.environ.get("HELPER"):
        helper = threading.Thread(target=work, args=[os.environ["HELPER"]])
        helper.start()
        helper.join()
    if made == int(os.environ.get("SETTLES", 0)):
        print("csan: usual now", file=sys.stderr, flush=True)
    first = os.environ.get("FIRST") if made == 1 else None
    time.sleep(float(first or os.environ.get("SECONDS", 0.001)))
wait = lambda: work(os.environ.get("SPIN", 0))
turns.serve(step, wait, os.environ.get("DEVICE", "air"))
print(f"csan: {{made}} steps on {{os.sched_getaffinity(0)}}", file=sys.stderr)
if os.environ.get("LEAVES"):
    open(os.environ["LEAVES"], "w").write(repr(sys.argv))
sys.exit(int(os.environ.get("CODE", 0)))
"""


class Statistics(unittest.TestCase):
    def test_warm_up_is_what_the_first_half_took_more(self):
        usual, warm = turns.warm_up([5.0, 3.0, 1.0, 1.0, 1.0, 9.0])
        self.assertEqual((usual, warm), (1.0, 6.0))

    def test_warm_up_of_one_step(self):
        self.assertEqual(turns.warm_up([2.0]), (2.0, 0.0))

    def test_a_ratio_is_of_one_round(self):
        # The machine is three times as slow in round 1; the mode sat out round 2.
        found = turns.ratios({0: 1.5, 1: 4.5, 3: 1.5}, {0: 1.0, 1: 3.0, 2: 7.0, 3: 1.0})
        self.assertEqual(found, [1.5, 1.5, 1.5])

    def test_a_round_without_the_baseline_has_no_ratio(self):
        self.assertEqual(turns.ratios({0: 1.5, 1: 4.5}, {1: 3.0}), [1.5])

    def test_quartiles(self):
        self.assertEqual(turns.quartiles([5, 1, 2, 4, 3]), [2, 3, 4])
        self.assertEqual(turns.quartiles([7]), [7, 7, 7])


class Processes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def measure(self, modes, rounds=4, seconds=20, cores=(), starts=0):
        options = argparse.Namespace(
            rounds=rounds, seconds=seconds, steps=3, cores=list(cores), baseline="plain", starts=starts
        )
        program = [sys.executable, "-c", PROGRAM]
        taken = turns.Turns(modes, program, self.folder, options)
        taken.take()
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            turns.report("sleep", taken)
        return taken.workers, text.getvalue()

    def test_all_modes_have_a_slice_in_each_round(self):
        workers, text = self.measure({"plain": Mode(), "slow": Mode([], {"SECONDS": "0.02"})})
        self.assertEqual([sorted(worker.wall) for worker in workers.values()], [[0, 1, 2, 3]] * 2)
        found = turns.ratios(workers["slow"].wall, workers["plain"].wall)
        self.assertGreater(turns.quartiles(found)[1], 3)
        self.assertLess(max(workers["slow"].cpu.values()), 0.02)
        self.assertEqual(text.count(f"csan: {1 + 10 + 4 * 5} steps"), 2)

    def test_the_first_step_is_timed(self):
        modes = {"plain": Mode(), "slow": Mode([], {"FIRST": "0.3"})}
        workers, text = self.measure(modes)
        self.assertTrue(0 < workers["plain"].first < workers["slow"].first, text)
        self.assertGreaterEqual(workers["slow"].first, 0.3)
        self.assertIn("first   warm-up", text)

    def test_one_says_when_it_has_settled(self):
        modes = {
            "plain": Mode(),
            "settles": Mode([], {"SETTLES": "7", "FIRST": "0.3"}, settles="usual now"),
            "never": Mode([], {}, first_steps=5, settles="usual now"),
        }
        workers, text = self.measure(modes)
        steps, seconds = workers["settles"].settled
        self.assertEqual(steps, 7)
        self.assertGreater(seconds, 0.3)
        self.assertRegex(text, r"settles +settled after 7 steps, 0\.[3-9]\d s: 0\.[2-9]\d s more than 7 steps of plain")
        self.assertIsNone(workers["never"].settled)
        self.assertEqual([len(worker.wall) for worker in workers.values()], [4, 4, 4])

    def test_starts_are_timed_beside_each_other(self):
        modes = {"plain": Mode(), "last": Mode([], {"FIRST": "0.3"})}
        _, text = self.measure(modes, starts=2)
        self.assertRegex(text, r"start, seconds on the wall: plain 0\.\d\d, last 0\.\d\d, \+0\.[2-9]\d \(2 pairs\)")
        self.assertRegex(text, r"start, seconds of processors: .* \(2 pairs\)")

    def test_no_start_is_timed_unless_asked_for(self):
        _, text = self.measure({"plain": Mode(), "other": Mode()})
        self.assertNotIn("start, seconds", text)

    def test_no_start_is_timed_beside_one_that_failed(self):
        modes = {"plain": Mode(), "mortal": Mode([], {"DIES": "4"})}
        _, text = self.measure(modes, starts=1)
        self.assertNotIn("start, seconds", text)

    def test_processor_time_is_of_all_threads_but_for_the_wait(self):
        workers, _ = self.measure({"plain": Mode([], {"HELPER": "0.01", "SPIN": "0.05"}, first_steps=1)})
        cpu, wall = workers["plain"].cpu.values(), workers["plain"].wall.values()
        self.assertTrue(0.01 <= min(cpu) <= max(cpu) < 0.03, cpu)
        self.assertGreater(min(wall), 0.06)

    def test_all_run_on_the_same_cores(self):
        core = max(os.sched_getaffinity(0))
        _, text = self.measure({"plain": Mode(), "other": Mode()}, cores=[core])
        self.assertEqual(text.count(f"steps on {{{core}}}"), 2)
        self.assertIn(f"sleep on air, cores {core}, 4 rounds", text)

    def test_one_that_runs_elsewhere_is_not_compared(self):
        _, text = self.measure({"plain": Mode(), "lost": Mode([], {"DEVICE": "water"})})
        self.assertRegex(text, "lost +failed: runs on water, the others on air")

    def test_a_slow_mode_sits_out(self):
        modes = {"plain": Mode(), "other": Mode(), "slow": Mode([], {"SECONDS": "0.1"}, first_steps=1)}
        workers, _ = self.measure(modes, rounds=12)
        self.assertEqual(len(workers["plain"].wall), 12)
        self.assertLess(len(workers["slow"].wall), 6)

    def test_the_others_go_on_when_one_dies(self):
        modes = {"plain": Mode(), "mortal": Mode([], {"DIES": "16"}), "other": Mode()}
        workers, text = self.measure(modes)
        self.assertEqual([len(worker.wall) for worker in workers.values()], [4, 0, 4])
        self.assertRegex(text, r"mortal +failed: ended with 1; it said:\n[^$]*ValueError: no step")

    def test_one_that_dies_before_its_first_step(self):
        workers, text = self.measure({"plain": Mode(), "stillborn": Mode(["false"])})
        self.assertIn("failed: ended with 1 before its first step", text)
        self.assertEqual(len(workers["plain"].wall), 4)

    def test_a_bad_end_is_said_beside_the_figures(self):
        workers, text = self.measure({"plain": Mode([], {"CODE": "3"})})
        self.assertRegex(text, r"plain +[0-9.]+  1.000x")
        self.assertRegex(text, r"plain +failed: ended with 3")

    def test_one_follows_when_the_other_has_ended(self):
        left = str(Path(self.folder) / "left")
        modes = {
            "plain": Mode(),
            "first": Mode([], {"LEAVES": left}),
            "again": Mode([], {"NEEDS": left}, after="first"),
        }
        workers, _ = self.measure(modes)
        self.assertEqual([worker.failure for worker in workers.values()], [""] * 3)
        self.assertEqual([len(worker.wall) for worker in workers.values()], [8, 4, 4])
        self.assertTrue(set(workers["again"].wall) <= set(workers["plain"].wall))

    def test_one_follows_a_follower(self):
        left = [str(Path(self.folder) / name) for name in ("first", "second", "third")]
        modes = {
            "third": Mode([], {"NEEDS": left[1], "LEAVES": left[2]}, after="second"),
            "plain": Mode(),
            "second": Mode([], {"NEEDS": left[0], "LEAVES": left[1]}, after="first"),
            "first": Mode([], {"LEAVES": left[0]}),
        }
        workers, _ = self.measure(modes)
        self.assertEqual([worker.failure for worker in workers.values()], [""] * 4)
        rounds = {name: len(worker.wall) for name, worker in workers.items()}
        self.assertEqual(rounds, {"plain": 12, "first": 4, "second": 4, "third": 4})
        arguments = {Path(path).read_text() for path in left}
        self.assertEqual(len(arguments), 1)  # so that to csan they are one program

    def test_none_follows_one_that_failed(self):
        modes = {"plain": Mode(), "first": Mode([], {"DIES": "2"}), "again": Mode(after="first")}
        _, text = self.measure(modes)
        self.assertIn("failed: 'first' before it failed", text)

    def test_rounds_end_with_the_time(self):
        workers, _ = self.measure({"plain": Mode()}, rounds=1000, seconds=0)
        self.assertEqual(len(workers["plain"].wall), turns.LEAST_ROUNDS)


if __name__ == "__main__":
    unittest.main()
