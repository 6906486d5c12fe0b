#!/usr/bin/env python3
"""stowage_torch.py with a fake torch that only records calls, and the real library on a fake driver.

Usage: helper_test.py LIBRARY DRIVER [STOWAGE] [arguments of unittest]; STOWAGE is the command line, used to replay a log.
"""

import ctypes
import importlib
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import types
import unittest

LIBRARY, DRIVER = sys.argv.pop(1), sys.argv.pop(1)
STOWAGE = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
HERE = pathlib.Path(__file__).resolve().parent
MIB = 2**20


class FakeAllocator:
    def __init__(self):
        self.hooks = {}

    def __getattr__(self, name):
        if not name.startswith("set_"):
            raise AttributeError(name)
        return lambda address: self.hooks.__setitem__(name, address)


def fake_torch(available=True, initialized=False, backend="native"):
    """The parts of torch that the helper needs."""

    class CUDAPluggableAllocator:
        def __init__(self, path, alloc, free):
            self.path, self.alloc, self.free = path, alloc, free
            self.inner = FakeAllocator()

        def allocator(self):
            return self.inner

    torch = types.ModuleType("torch")
    torch.changed = []
    memory = types.SimpleNamespace(CUDAPluggableAllocator=CUDAPluggableAllocator, get_allocator_backend=lambda: backend,
                                   change_current_allocator=torch.changed.append)
    torch.cuda = types.SimpleNamespace(
        is_available=lambda: available, is_initialized=lambda: initialized, current_device=lambda: 0, memory=memory,
        MemPool=lambda allocator, **arguments: types.SimpleNamespace(allocator=allocator, arguments=arguments))
    torch.device = lambda name: types.SimpleNamespace(index=int(name.partition(":")[2]) if ":" in name else None)
    return torch


class HelperTest(unittest.TestCase):
    def setUp(self):
        self.torch = self.use(fake_torch())
        sys.path.insert(0, str(HERE))
        sys.modules.pop("stowage_torch", None)
        self.helper = importlib.import_module("stowage_torch")
        sys.path.pop(0)
        os.environ.pop("STOWAGE_TORCH_LIBRARY", None)

    def use(self, torch):
        sys.modules["torch"] = torch
        return torch


class Enable(HelperTest):
    def test_the_allocator_is_changed_and_has_all_hooks(self):
        self.helper.enable(library=LIBRARY)
        (allocator,) = self.torch.changed
        self.assertEqual((allocator.path, allocator.alloc, allocator.free), (LIBRARY, "stowage_torch_alloc", "stowage_torch_free"))
        library = ctypes.CDLL(LIBRARY)
        for setter, function in self.helper.HOOKS.items():
            self.assertEqual(allocator.inner.hooks[setter], ctypes.cast(getattr(library, function), ctypes.c_void_p).value)
        self.assertTrue(self.helper.is_enabled())

    def test_twice_is_once(self):
        self.helper.enable(library=LIBRARY)
        self.helper.enable()
        self.assertEqual(len(self.torch.changed), 1)
        with self.assertRaisesRegex(RuntimeError, "other options"):
            self.helper.enable(limit=5)

    def test_without_a_gpu_it_says_so(self):
        self.use(fake_torch(available=False))
        with self.assertRaisesRegex(RuntimeError, "no GPU"):
            self.helper.enable(library=LIBRARY)

    def test_after_the_first_use_of_cuda_it_says_so(self):
        self.use(fake_torch(initialized=True))
        with self.assertRaisesRegex(RuntimeError, "before torch uses the GPU"):
            self.helper.enable(library=LIBRARY)

    def test_another_allocator_is_named(self):
        self.use(fake_torch(backend="cudaMallocAsync"))
        with self.assertRaisesRegex(RuntimeError, "cudaMallocAsync"):
            self.helper.enable(library=LIBRARY)

    def test_a_library_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(FileNotFoundError, "/nowhere/else.so"):
            self.helper.enable(library="/nowhere/else.so")
        os.environ["STOWAGE_TORCH_LIBRARY"] = "/nowhere/variable.so"
        with self.assertRaisesRegex(FileNotFoundError, "/nowhere/variable.so"):
            self.helper.enable()

    def test_a_limit_of_nothing_is_refused(self):
        with self.assertRaises(ValueError):
            self.helper.enable(limit=0, library=LIBRARY)

    def test_the_environment_names_the_library(self):
        os.environ["STOWAGE_TORCH_LIBRARY"] = LIBRARY
        self.helper.enable()
        self.assertEqual(self.torch.changed[0].path, LIBRARY)


class Pool(HelperTest):
    def test_pools_share_an_allocator_that_answers_null(self):
        first, second = self.helper.pool(library=LIBRARY), self.helper.pool(no_split=True)
        self.assertIs(first.allocator, second.allocator)
        self.assertEqual(second.arguments, {"no_split": True})
        self.assertEqual(self.torch.changed, [])

    def test_a_pool_over_stowage_is_refused(self):
        self.helper.enable(library=LIBRARY)
        with self.assertRaisesRegex(RuntimeError, "torch's own allocator"):
            self.helper.pool()


class Unused(HelperTest):
    def test_figures_need_a_library(self):
        with self.assertRaisesRegex(RuntimeError, "enable"):
            self.helper.stats()

    def test_an_iteration_needs_plan_ahead(self):
        self.helper.enable(library=LIBRARY)
        with self.assertRaisesRegex(RuntimeError, "plan_ahead"):
            with self.helper.iteration():
                pass


PROGRAM = """
import ctypes, importlib.util, json, sys, types
spec = importlib.util.spec_from_file_location("helper_test", sys.argv[1])
sys.argv = ["helper_test", sys.argv[2], "", ""]
helper_test = importlib.util.module_from_spec(spec)
spec.loader.exec_module(helper_test)
sys.modules["torch"] = helper_test.fake_torch()
sys.path.insert(0, str(helper_test.HERE))
import stowage_torch
stowage_torch.enable(plan_ahead={plan_ahead}, library=helper_test.LIBRARY)
library = ctypes.CDLL(helper_test.LIBRARY)
library.stowage_torch_alloc.restype = ctypes.c_void_p
library.stowage_torch_alloc.argtypes = [ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
library.stowage_torch_free.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
def alloc(size): return library.stowage_torch_alloc(size, 0, None)
def free(address, size): library.stowage_torch_free(address, size, 0, None)
MIB = 2**20
{body}
"""


class WithTheLibrary(unittest.TestCase):
    """Each test in a separate process, because the library has one state."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_program(self, body, plan_ahead=False, **environment):
        done = subprocess.run([sys.executable, "-c", PROGRAM.format(body=body, plan_ahead=plan_ahead), __file__, LIBRARY], text=True,
                              capture_output=True, timeout=60, cwd=self.folder.name,
                              env={**os.environ, "STOWAGE_CUDA_DRIVER": DRIVER, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_figures_are_a_dictionary(self):
        text = self.run_program("assert stowage_torch.stats() is None\nblock = alloc(3 * MIB)\nprint(json.dumps(stowage_torch.stats('cuda:0')))\n"
                                "free(block, 3 * MIB)\nstowage_torch.empty_cache()\nstowage_torch.reset_peaks()\nprint(json.dumps(stowage_torch.stats()))")
        before, after = map(json.loads, text.splitlines())
        self.assertEqual((before["requested_bytes"], before["reserved_bytes"], before["live"]), (3 * MIB, 4 * MIB, 1))
        self.assertEqual((after["reserved_bytes"], after["reserved_peak_bytes"], after["allocations"]), (0, 0, 0))

    def test_a_snapshot_is_a_pickle_of_what_is_there(self):
        self.run_program("block = alloc(3 * MIB)\nstowage_torch.snapshot('snapshot.pickle')")
        with open(pathlib.Path(self.folder.name) / "snapshot.pickle", "rb") as file:
            snapshot = pickle.load(file)
        (segment,) = snapshot["segments"]
        self.assertEqual([(block["size"], block["state"]) for block in segment["blocks"]],
                         [(3 * MIB, "active_allocated"), (MIB, "inactive")])

    def test_an_iteration_is_planned(self):
        text = self.run_program("free(alloc(MIB), MIB)\nfor _ in range(2):\n  with stowage_torch.iteration():\n    free(alloc(5 * MIB), 5 * MIB)\n"
                                "print(stowage_torch.stats()['plan_ahead']['served'])", plan_ahead=True)
        self.assertEqual(text, "1\n")

    def test_a_snapshot_that_cannot_be_written_raises(self):
        text = self.run_program("try:\n  stowage_torch.snapshot('/nowhere/file')\nexcept RuntimeError as error:\n  print(error)")
        self.assertIn("/nowhere/file", text)

    @unittest.skipIf(STOWAGE is None, "no command line was given")
    def test_the_log_is_replayed_by_the_command_line(self):
        self.run_program("block = alloc(3 * MIB)\nfree(alloc(MIB), MIB)\nfree(block, 3 * MIB)", STOWAGE_TORCH_LOG="log.csv")
        log = pathlib.Path(self.folder.name) / "log.csv"
        done = subprocess.run([STOWAGE, "replay", str(log), "--json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["events"], report["peak_requested_bytes"]), (4, 4 * MIB))


if __name__ == "__main__":
    unittest.main()
