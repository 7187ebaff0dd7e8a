"""csan_torch.triton with a Triton and a launcher made up here: which kernels' PTX is handed on."""

import contextlib
import io
import pathlib
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "runtime" / "torch"))

from csan_torch import startup, triton  # noqa: E402


class Chain(list):
    def add(self, hook):
        self.append(hook)

    def __call__(self, *arguments):
        for hook in self:
            hook(*arguments)


class TritonHook(unittest.TestCase):
    def setUp(self):
        self.given = []
        self.real, triton._kernel_ptx = triton._kernel_ptx, lambda: lambda *call: self.given.append(call)
        self.folder = tempfile.TemporaryDirectory()
        self.finders = list(sys.meta_path)

    def tearDown(self):
        triton._kernel_ptx = self.real
        self.folder.cleanup()
        sys.meta_path[:] = self.finders
        for name in [name for name in sys.modules if name.startswith("made_up")]:
            del sys.modules[name]
        sys.modules.pop("triton", None)

    def cubin(self, content=b"code", ptx=b".version 8.7"):
        path = pathlib.Path(self.folder.name)
        (path / "add.cubin").write_bytes(content)
        if ptx:
            (path / "add.ptx").write_bytes(ptx)
        return str(path / "add.cubin")

    def load(self, hook, cubin):
        hook(1, 0x1234, "add", {"add.cubin": cubin, "add.json": "x"}, "hash")

    def triton_with(self, hook):
        module = types.ModuleType("triton")
        module.knobs = types.SimpleNamespace(runtime=types.SimpleNamespace(kernel_load_end_hook=hook))
        sys.modules["triton"] = module
        triton._follow_triton()
        return module.knobs.runtime

    def test_hands_on_what_lies_beside_the_code(self):
        self.load(self.triton_with(None).kernel_load_end_hook, self.cubin())
        self.assertEqual(self.given, [(0x1234, b".version 8.7", 12)])

    def test_leaves_code_alone_that_keeps_its_ptx(self):
        self.load(self.triton_with(None).kernel_load_end_hook, self.cubin(b"..nv_debug_ptx_txt."))
        self.assertEqual(self.given, [])

    def test_does_without_a_file(self):
        self.load(self.triton_with(None).kernel_load_end_hook, self.cubin(ptx=None))
        self.load(self.triton_with(None).kernel_load_end_hook, "/nowhere/add.cubin")
        self.assertEqual(self.given, [])

    def test_other_hooks_go_on(self):
        seen = []
        hook = self.triton_with(lambda *call: seen.append(call)).kernel_load_end_hook
        self.load(hook, self.cubin())
        chain = Chain([lambda *call: seen.append(call)])
        self.load(self.triton_with(chain).kernel_load_end_hook, self.cubin())
        self.assertEqual((len(seen), len(self.given)), (2, 2))

    def test_an_older_triton_is_left_alone(self):
        sys.modules["triton"] = types.ModuleType("triton")
        triton._follow_triton()

    def test_a_launcher_that_loads_files(self):
        module = sys.modules["made_up"] = types.ModuleType("made_up")
        path = self.cubin()

        class Kernel:
            cubin_path, function = path, None

            def load_kernel(self, device):
                if self.function is None:
                    self.cubin_path, self.function = None, 0x77

        module.Kernel = Kernel
        triton._follow_launcher("made_up", "Kernel")
        kernel = Kernel()
        kernel.load_kernel(0)
        kernel.load_kernel(0)
        self.assertEqual(self.given, [(0x77, b".version 8.7", 12)])
        triton._follow_launcher("made_up", "Nothing")

    def test_waits_for_an_import(self):
        path = pathlib.Path(self.folder.name)
        (path / "made_up_module.py").write_text("value = 3\n")
        sys.path.insert(0, self.folder.name)
        done = []
        try:
            startup.when_imported("made_up_module", lambda: done.append(1))
            startup.when_imported("made_up_never", lambda: done.append(2))
            self.assertEqual(done, [])
            import made_up_module

            self.assertEqual((made_up_module.value, done), (3, [1]))
            startup.when_imported("made_up_module", lambda: done.append(3))
            with contextlib.redirect_stderr(io.StringIO()) as printed:
                startup.when_imported("made_up_module", lambda: 1 / 0)
            self.assertIn("made_up_module", printed.getvalue())
        finally:
            sys.path.remove(self.folder.name)
        self.assertEqual(done, [1, 3])


if __name__ == "__main__":
    unittest.main()
