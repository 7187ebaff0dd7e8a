"""csan_torch.EventHandler does what tests of torch.cuda._sanitizer.EventHandler expect: verdicts,
log messages and error text. Needs python3 and libcsan.so.0 (CSAN_LIBRARY), neither torch nor a GPU.
"""

import gc
import logging
import sys
import traceback
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runtime" / "torch"))

import csan_torch  # noqa: E402

# A scenario is a list of steps, one a line:
#   STREAM: rN... wN... [-> ERRORS]  a kernel that reads and writes tensors N; no errors, or
#                                    as many as said
#   record E S | wait E S            event E on stream S
#   create-event E | delete-event E | create-stream S | allocate N | free N
#   sync device | sync stream S | sync event E
SCENARIOS = {
    "a kernel that touches nothing": "0:",
    "two streams may read": """
        1: r1
        2: r1""",
    "a write races with a read": """
        1: r1
        2: w1 -> 1""",
    "an event orders": """
        1: r1
        record 0 1
        wait 0 2
        2: w1""",
    "every read is checked against the last write, not only the first": """
        1: w1
        record 0 1
        wait 0 2
        2: r1
        3: r1 -> 1""",
    "two that waited for a third may read, not write": """
        1: w1
        record 0 1
        wait 0 2
        wait 0 3
        2: r1
        3: r1
        2: w1 -> 1""",
    "order goes through a chain of events": "0: r1\n"
    + "\n".join(f"record {i} {i}\nwait {i} {i + 1}" for i in range(10))
    + "\n10: w1",
    "a record covers what came before it": """
        1: r1
        record 0 1
        1: r1
        wait 0 2
        2: w1 -> 1""",
    "a deleted event orders nothing": """
        1: r1
        record 0 1
        delete-event 0
        wait 0 2
        2: w1 -> 1""",
    "an event deleted and created again orders nothing": """
        1: r1
        record 0 1
        delete-event 0
        create-event 0
        wait 0 2
        2: w1 -> 1""",
    "an event created again orders nothing": """
        1: r1
        record 0 1
        create-event 0
        wait 0 2
        2: w1 -> 1""",
    "a write is checked against every read: one is not waited for": "\n".join(
        [f"{i}: r1\nrecord {i} {i}" for i in range(1, 10)]
        + [f"wait {i} 0" for i in range(1, 10)]
        + ["10: r1", "record 10 9", "0: w1 -> 1"]
    ),
    "a write is checked against every read: all are waited for": "\n".join(
        [f"{i}: r1\nrecord {i} {i}" for i in range(1, 10)]
        + [f"wait {i} 0" for i in range(1, 10)]
        + ["0: w1"]
    ),
    "every tensor of a kernel has its error": """
        0: w0 w1 w2 w3 w4 w5 w6 w7 w8 w9
        1: w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 -> 10""",
    "a wait joins what is known and what was recorded": """
        1: w1
        2: w2
        record 1 1
        record 2 2
        1: w1
        2: w2
        wait 1 2
        wait 2 1
        record 3 2
        wait 3 1
        1: w1 w2""",
    "the last record counts": """
        1: r1
        2: r2
        record 1 1
        record 1 2
        wait 1 3
        3: w1 -> 1""",
    "an event may be waited for more than once": """
        1: w1
        record 1 1
        wait 1 2
        wait 1 3
        2: r1
        3: r1""",
    "device synchronization orders all streams": "\n".join(
        [f"{i}: w{i}" for i in range(1, 10)]
        + ["sync device", "0: " + " ".join(f"w{i}" for i in range(1, 10))]
    ),
    "device synchronization covers what came before it": """
        1: w1
        sync device
        1: w1
        2: w1 -> 1""",
    "a new stream knows what the host knows": """
        1: w1
        sync device
        create-stream 2
        2: w1""",
    "stream synchronization covers that stream alone": """
        0: w1
        1: w2
        sync stream 0
        2: r1
        3: r1
        4: r2 -> 1""",
    "event synchronization covers what was recorded": """
        1: w1
        record 1 1
        1: w2
        sync event 1
        2: w1
        2: w2 -> 1""",
}


class Player:
    """Plays a scenario on a handler. Tensors, streams and events are numbered apart."""

    def __init__(self):
        self.handler = csan_torch.EventHandler()

    def launch(self, stream, touches):
        reads = [int(touch[1:]) for touch in touches if touch[0] == "r"]
        writes = [int(touch[1:]) for touch in touches if touch[0] == "w"]
        aliases = {data_ptr: [""] for data_ptr in reads + writes}
        return self.handler._handle_kernel_launch(1000 + stream, reads, writes, {}, "", aliases)

    def step(self, line):
        """The errors of a kernel, or None."""
        handler = self.handler
        word, *rest = line.split()
        if word.endswith(":"):
            return self.launch(int(word[:-1]), rest)
        ids = [int(number) for number in rest if number.isdigit()]
        if word in ("record", "wait"):
            call = getattr(handler, f"_handle_event_{word}")
            return call(2000 + ids[0], 1000 + ids[1])
        if word == "sync":
            ids = [ids[0] + {"stream": 1000, "event": 2000}[rest[0]]] if ids else []
            return getattr(handler, f"_handle_{rest[0]}_synchronization")(*ids)
        name, base = {
            "create-event": ("event_creation", 2000),
            "delete-event": ("event_deletion", 2000),
            "create-stream": ("stream_creation", 1000),
            "allocate": ("memory_allocation", 0),
            "free": ("memory_deallocation", 0),
        }[word]
        return getattr(handler, f"_handle_{name}")(base + ids[0])


class Verdicts(unittest.TestCase):
    def test_scenarios(self):
        for name, scenario in SCENARIOS.items():
            player = Player()
            for line in filter(str.strip, scenario.splitlines()):
                with self.subTest(scenario=name, step=line.strip()):
                    step, _, expected = line.partition("->")
                    errors = player.step(step) or []
                    self.assertEqual(len(errors), int(expected or 0))
                    for error in errors:
                        self.assertIs(type(error), csan_torch.UnsynchronizedAccessError)

    def test_a_write_that_a_read_came_after_is_not_named_beside_it(self):
        player = Player()
        for line in ("1: w1", "record 1 1", "wait 1 2", "2: r1"):
            player.step(line)
        (error,) = player.step("3: w1")
        self.assertEqual(error.previous_access.stream, 1002)

    def test_a_write_that_raced_with_the_read_is_named_too(self):
        player = Player()
        player.step("1: w1")
        self.assertEqual(len(player.step("2: r1")), 1)
        self.assertEqual(
            [error.previous_access.stream for error in player.step("3: w1")], [1001, 1002]
        )

    def test_a_kernel_that_reads_too_names_the_write_for_its_reading(self):
        player = Player()
        for line in ("1: w1", "record 1 1", "wait 1 2", "2: r1"):
            player.step(line)
        self.assertEqual(
            [
                (str(error.current_access.type), error.previous_access.stream)
                for error in player.step("3: r1 w1")
            ],
            [("reading from", 1001), ("writing to", 1002)],
        )

    def test_errors_come_in_the_order_of_the_arguments(self):
        player = Player()
        player.step("1: w9 w4 w7")
        errors = player.step("2: r7 r9 w4")
        self.assertEqual([error.data_ptr for error in errors], [7, 9, 4])

    def test_tensors_listed_in_another_order_are_the_same_site(self):
        handler = csan_torch.EventHandler()
        aliases = {1: ["a"], 2: ["b"], 3: ["b"]}
        for reads in ([1, 2, 3], [3, 2, 1], [2, 1, 3]):
            handler._handle_kernel_launch(0, reads, [], {}, "", aliases)
        self.assertEqual(len(handler._launches._launches), 1)


class Reuse(unittest.TestCase):
    STEPS = ("allocate 1", "1: w1", "free 1", "allocate 1")

    def play(self, player, *lines):
        for line in self.STEPS + lines:
            errors = player.step(line)
        return errors

    def test_memory_reused_while_a_stream_uses_it(self):
        (error,) = self.play(Player(), "2: w1")
        self.assertIs(type(error), csan_torch.MemoryReuseError)
        self.assertIsInstance(error, csan_torch.SynchronizationError)
        self.assertEqual(error.previous_access.stream, 1001)
        text = str(error)
        self.assertIn("memory reused while stream 1001 still uses it, at data pointer 1\n", text)
        self.assertIn("Call record_stream on the freed tensor with stream 1001 before", text)

    def test_reuse_in_order_is_silent(self):
        self.assertEqual(self.play(Player(), "record 1 1", "wait 1 2", "2: w1"), [])
        self.assertEqual(self.play(Player(), "1: w1"), [])
        self.assertEqual(self.play(Player(), "sync device", "2: w1"), [])

    def test_reuse_can_be_switched_off(self):
        player = Player()
        player.handler = csan_torch.EventHandler(reuse=False)
        self.assertEqual(self.play(player, "2: w1"), [])
        self.assertEqual(len(player.step("1: w1")), 1)


LATE = "Perhaps the sanitizer was enabled after some torch operations?"
BACKFILL = "Backfilling the trace now. " + LATE
MISSED = "wasn't caught and backfilling it now. " + LATE
NO_EVENT = f"Found Event with id: 0, but no matching event creation in the trace. {BACKFILL}"
NO_STREAM = f"Found Stream with id: 5, but no matching stream creation in the trace. {BACKFILL}"
NO_TENSOR = (
    f"Found tensor with pointer: 0, but no matching tensor allocation in the trace. {BACKFILL}"
)
TWO_EVENTS = (
    "Found duplicate event creation in the trace for event with id: 0. "
    f"Assuming the trace for event deletion {MISSED}"
)
TWO_TENSORS = (
    "Found duplicate tensor allocation in the trace for tensor with pointer: 0. "
    f"Assuming the trace for tensor deallocation {MISSED}"
)
TWO_STREAMS = (
    "Found duplicate Stream creation in the trace for Stream with id: 0. "
    "PyTorch Streams are only created once, so this trace entry is ignored."
)


class Messages(unittest.TestCase):
    def check(self, expected, method, *arguments, before=()):
        handler = csan_torch.EventHandler()
        for name in before:
            getattr(handler, "_handle_" + name)(0)
        with self.assertLogs("torch.cuda._sanitizer", level=logging.INFO) as captured:
            getattr(handler, "_handle_" + method)(*arguments)
        self.assertEqual([record.getMessage() for record in captured.records], expected)

    def test_what_is_not_known_is_backfilled(self):
        self.check([NO_EVENT], "event_deletion", 0)
        self.check([NO_EVENT], "event_record", 0, 0)
        self.check([NO_EVENT], "event_wait", 0, 0)
        self.check([NO_EVENT], "event_synchronization", 0)
        self.check([NO_TENSOR], "memory_deallocation", 0)
        self.check([NO_TENSOR], "kernel_launch", 0, [0], [], {}, "", {0: []})
        self.check([NO_STREAM], "stream_synchronization", 5)
        self.check([NO_STREAM], "kernel_launch", 5, [], [], {}, "", {})
        self.check([NO_EVENT, NO_STREAM], "event_record", 0, 5)
        self.check([NO_STREAM, NO_EVENT], "event_wait", 0, 5)

    def test_what_exists_is_created_anew_or_kept(self):
        self.check([TWO_EVENTS], "event_creation", 0, before=["event_creation"])
        self.check([TWO_TENSORS], "memory_allocation", 0, before=["memory_allocation"])
        self.check([TWO_STREAMS], "stream_creation", 0)

    def test_error_text(self):
        def summary(line):
            return traceback.StackSummary.from_list([("file", 0, "name", line)])

        current = csan_torch.Access(
            type=csan_torch.AccessType.WRITE,
            seq_num=1,
            stream=1001,
            operator="schema",
            aliases=["b"],
            is_output=True,
            stack_trace=summary("trace a"),
        )
        previous = csan_torch.Access(
            type=csan_torch.AccessType.READ,
            seq_num=2,
            stream=1000,
            operator="schema",
            aliases=["a"],
            is_output=False,
            stack_trace=summary("trace b"),
        )
        error = csan_torch.UnsynchronizedAccessError(
            data_ptr=1,
            allocation_stack_trace=summary("alloc"),
            current_access=current,
            previous_access=previous,
        )
        head = (
            "============================\n"
            "CSAN detected a possible data race on tensor with data pointer 1\n"
            "Access by stream 1001 during kernel:\n"
            "schema\n"
            "writing to argument(s) b, and to the output\n"
            "With stack trace:\n"
            '  File "file", line 0, in name\n'
            "    trace a\n"
            "\n"
            "Previous access by stream 1000 during kernel:\n"
            "schema\n"
            "reading from argument(s) a\n"
            "With stack trace:\n"
            '  File "file", line 0, in name\n'
            "    trace b\n"
            "\n"
        )
        allocation = (
            "Tensor was allocated with stack trace:\n"
            '  File "file", line 0, in name\n'
            "    alloc\n"
        )
        self.assertEqual(str(error), head + allocation)
        error.allocation_stack_trace = None
        self.assertEqual(str(error), head + "Trace for tensor allocation not found.")
        current.aliases, error.previous_access = [], current
        self.assertIn("schema\nwriting to the output\nWith stack trace:", str(error))
        current.is_output = False
        self.assertIn("schema\nwriting to\nWith stack trace:", str(error))
        self.assertEqual(str(csan_torch.CUDASanitizerErrors([error] * 3)), "detected 3 errors")

    def test_errors_have_the_descriptions_of_launches(self):
        handler = csan_torch.EventHandler()
        handler._handle_memory_allocation(7)
        handler._handle_kernel_launch(0, [], [7, 8], {7}, "first", {7: ["out", "self"], 8: []})
        (error,) = handler._handle_kernel_launch(3, [7], [], set(), "second", {7: ["x"]})
        previous, current = error.previous_access, error.current_access
        self.assertEqual((previous.operator, previous.aliases), ("first", ["out", "self"]))
        self.assertEqual((previous.seq_num, previous.stream, previous.is_output), (1, 0, True))
        self.assertEqual((current.operator, current.aliases), ("second", ["x"]))
        self.assertEqual((current.seq_num, current.stream, current.is_output), (2, 3, False))
        for trace, text in (
            (previous.stack_trace, '"first"'),
            (current.stack_trace, '"second"'),
            (error.allocation_stack_trace, "_handle_memory_allocation(7)"),
        ):
            self.assertEqual(trace[-1].name, "test_errors_have_the_descriptions_of_launches")
            self.assertIn(text, trace[-1].line)


class Lifetime(unittest.TestCase):
    def test_handlers_come_and_go(self):
        for _ in range(200):
            player = Player()
            player.step("record 1 1")
            player.step("2: w1")
        del player
        gc.collect()

    def test_numbers_of_any_size(self):
        handler = csan_torch.EventHandler()
        top = 2**64 - 1
        for data_ptr in (0, top - 1, 2**63):
            handler._handle_kernel_launch(top, [], [data_ptr], {}, "", {data_ptr: []})
            (error,) = handler._handle_kernel_launch(0, [data_ptr], [], {}, "", {data_ptr: []})
            self.assertEqual((error.data_ptr, error.previous_access.stream), (data_ptr, top))


if __name__ == "__main__":
    unittest.main()
