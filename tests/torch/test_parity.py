"""csan_torch.EventHandler gives PyTorch's verdicts on recorded random sequences: what test_parity.c
shows of the detector, for its Python face. Needs libcsan.so.0 (CSAN_LIBRARY), libparity.so
(CSAN_PARITY) and no torch.
"""

import ctypes
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runtime" / "torch"))

import csan_torch  # noqa: E402
import parity  # noqa: E402

SEQUENCES = 1500
KINDS = {csan_torch.AccessType.READ: parity.READ, csan_torch.AccessType.WRITE: parity.WRITE}


def reported(call, errors):
    """The errors as the checker wants them."""
    places = {touch: place for place, touch in enumerate(call.touched())}
    listed = (parity.Reported * len(errors))()
    for entry, error in zip(listed, errors):
        current, previous = error.current_access, error.previous_access
        entry.touch = places[error.data_ptr, KINDS[current.type]]
        entry.launch = previous.seq_num
        entry.kind = KINDS[previous.type]
        entry.reuse = isinstance(error, csan_torch.MemoryReuseError)
    return listed


def named(streams):
    """PyTorch's verdict on a launch as the checker wants it."""
    pairs = [
        parity.Named(touch, parity.bit_stream(bit))
        for touch, mask in enumerate(streams)
        for bit in range(parity.STREAMS)
        if mask >> bit & 1
    ]
    return (parity.Named * len(pairs))(*pairs)


class Parity(unittest.TestCase):
    def check(self, history, call, streams, errors, tally):
        """None when both verdicts are right, else what is wrong."""
        message = ctypes.create_string_buffer(256)
        pytorch, csan = named(streams), reported(call, errors)
        right = parity.library.history_check(
            history, call, pytorch, len(pytorch), csan, len(csan), tally, message, len(message)
        )
        return None if right else message.value.decode()

    def play(self, number, streams, change=lambda errors: errors):
        """Plays a sequence. What is wrong, the verdicts that are left, and the tally."""
        sequence = parity.make_sequence(number)
        handler = csan_torch.EventHandler()
        history = parity.library.history_create()
        tally = parity.Tally()
        wrong = None
        for call in sequence.calls[: sequence.count]:
            errors = call.make(handler)
            if not call.is_launch():
                parity.library.history_call(history, call)
                continue
            verdict, streams = streams[: call.touch_count], streams[call.touch_count :]
            wrong = wrong or self.check(history, call, verdict, change(errors), tally)
        parity.library.history_destroy(history)
        return wrong, streams, tally

    def test_the_verdicts_of_pytorch(self):
        count, streams = parity.load_verdicts()
        self.assertGreaterEqual(count, SEQUENCES)
        racing = more = 0
        for number in range(SEQUENCES):
            wrong, streams, tally = self.play(number, memoryview(streams))
            self.assertIsNone(wrong, f"sequence {number}")
            racing, more = racing + tally.racing, more + tally.more
        self.assertGreater(racing, 1000)
        self.assertGreater(more, 100)

    def test_an_error_left_out_is_noticed(self):
        _, streams = parity.load_verdicts()
        racy = noticed = 0
        for number in range(100):
            _, _, tally = self.play(number, streams)
            wrong, streams, _ = self.play(number, streams, lambda errors: [])
            racy += tally.racing + tally.more > 0
            noticed += wrong is not None
        self.assertGreater(racy, 50)
        self.assertEqual(noticed, racy)


if __name__ == "__main__":
    unittest.main()
