# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Others' ways to have tensors on a disk, which take turns with ours in devices.py: it starts

    PYTHON -m drawloom_bench.offload.rivals NAME FOLDER BYTES

with a Python that has the rival, and the process obeys the lines of its input that drawloom-offload-bench obeys, too: `store` writes
BYTES in tensors of 64 MiB from memory that fits the rival best, `put` copies each from a tensor of torch to such memory first (our put
does, too, and sums it), `load` and `get` read them in the order they were written. What goes through the page cache is synced within the
turn that writes it, and dropped from there before one that reads it.

deepspeed   DeepNVMe's aio_handle: libaio, past the page cache. Transfers of 1 MiB; of several depths, threads and handles that take turns
            (so that one transfers while another is waited for) those that are fastest here, which it tries first.
tensornvme  TensorNVMe's DiskOffloader, through the page cache, as it opens its file; the file is synced at the end. With io_uring, or with
            libaio where io_uring gives it other bytes than were written, as a trial at the beginning shows.
kvikio      KvikIO's CuFile in compatibility mode (POSIX), 4 threads, tasks of 1 MiB.
files       a new file for each tensor, written and read through the page cache, synced at the end of the turn, all together, and deleted
            when it was read.

What cannot run says why in one line and ends.
"""

import collections
import mmap
import os
import resource
import sys
import time

TENSOR, UNIT, DEPTH = 64 << 20, 1 << 20, 16


class Cached:
    """A rival that goes through the page cache, with files `paths`. ends: a tensor that was read is there no more."""

    ends = False
    there = True

    def prepare(self, what):
        """Before a turn, which does not count: what is read is on the disk alone."""
        if what in ("load", "get"):
            if self.ends and not self.there:
                self.store()
            self.there = False
            for path in self.paths:
                with open(path, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def sync(self):
        for path in self.paths:
            with open(path, "rb") as file:
                os.fdatasync(file.fileno())
        self.there = True


class DeepSpeed:
    def __init__(self, folder, count):
        os.environ.setdefault("DS_ACCELERATOR", "cpu")
        # It compiles itself, once.
        os.environ.setdefault("TORCH_EXTENSIONS_DIR", os.path.join(sys.prefix, "torch_extensions"))
        os.environ["PATH"] = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"  # its ninja
        import torch
        from deepspeed.ops.op_builder import AsyncIOBuilder
        self.library = AsyncIOBuilder().load(verbose=False)
        self.path, self.count = os.path.join(folder, "deepspeed"), count
        self.tensors = [torch.randint(256, (TENSOR,), dtype=torch.uint8) for _ in range(2)]
        seconds = {}
        for way in ((1, 16, 1), (2, 16, 1), (1, 64, 1), (2, 64, 1), (1, 16, 2), (2, 16, 2)):
            self.use(*way)
            self.store()
            start = time.perf_counter()
            self.store(), self.load()
            seconds[way] = time.perf_counter() - start
        best = min(seconds, key=seconds.get)
        self.use(*best)
        self.note = "{} handles, depth {}, {} threads each".format(*best)

    def use(self, handles, depth, threads):
        self.handles = [self.library.aio_handle(UNIT, depth, False, True, threads) for _ in range(handles)]
        # Page-locked, which it needs to write without a copy.
        self.buffers = [handle.new_cpu_locked_tensor(TENSOR, self.tensors[0]) for handle in self.handles]
        for buffer, tensor in zip(self.buffers, self.tensors):
            buffer.copy_(tensor)

    def each(self, act):
        busy = collections.deque()
        for i in range(self.count):
            handle, buffer = self.handles[i % len(self.handles)], self.buffers[i % len(self.handles)]
            if handle in busy:
                busy.remove(handle)
                handle.wait()
            act(handle, buffer, i)
            busy.append(handle)
        for handle in busy:
            handle.wait()

    def store(self, copies=False):
        def act(handle, buffer, i):
            if copies:
                buffer.copy_(self.tensors[i % 2])
            handle.async_pwrite(buffer, self.path, i * TENSOR)
        self.each(act)

    def put(self):
        self.store(True)

    def load(self):
        self.each(lambda handle, buffer, i: handle.async_pread(buffer, self.path, i * TENSOR))

    get = load


class TensorNvme(Cached):
    ends, batch = True, 4

    def __init__(self, folder, count):
        import warnings
        warnings.filterwarnings("ignore")
        import torch
        from tensornvme import DiskOffloader
        self.source = torch.randint(256, (TENSOR,), dtype=torch.uint8)
        # It knows a tensor by its identity, and frees its memory once it is written.
        self.tensors = [self.source.clone() for _ in range(self.batch)]
        for self.note in ("uring", "aio"):
            self.offloader = DiskOffloader(folder, n_entries=DEPTH, backend=self.note)
            self.paths = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("offload-")]
            self.store()
            self.prepare("load")
            self.read(self.tensors)
            if all((tensor == self.source).all() for tensor in self.tensors):
                break
            print(f"tensornvme: with {self.note} other bytes are there when sync_read_events returns", file=sys.stderr)
            # Until its reads are over all the same.
            time.sleep(2)
        else:
            raise ValueError("none of its backends gives the bytes back that were written")
        self.tensors += [self.source.clone() for _ in range(count - self.batch)]
        self.store()

    def store(self):
        for i, tensor in enumerate(self.tensors):
            tensor.storage().resize_(TENSOR)
            tensor.copy_(self.source)
            self.offloader.async_write(tensor)
            if (i + 1) % self.batch == 0:
                self.offloader.sync_write_events()
        self.offloader.sync_write_events()
        self.sync()

    put = store

    def read(self, tensors):
        for tensor in tensors:
            self.offloader.async_read(tensor)
        self.offloader.sync_read_events()

    def load(self):
        for i in range(0, len(self.tensors), self.batch):
            batch = self.tensors[i:i + self.batch]
            self.read(batch)
            for tensor in batch:
                tensor.storage().resize_(0)

    get = load


class KvikIo(Cached):
    note = "POSIX, 4 threads, tasks of 1 MiB"

    def __init__(self, folder, count):
        import kvikio
        import kvikio.defaults
        import numpy
        kvikio.defaults.set({"compat_mode": kvikio.CompatMode.ON, "num_threads": 4, "task_size": UNIT})
        self.tensor = numpy.random.default_rng(0).integers(256, size=TENSOR, dtype=numpy.uint8)
        self.buffers = [numpy.frombuffer(mmap.mmap(-1, TENSOR), dtype=numpy.uint8) for _ in range(2)]
        self.paths, self.count, self.kvikio = [os.path.join(folder, "kvikio")], count, kvikio
        self.put()

    def each(self, act):
        busy = [None, None]
        for i in range(self.count):
            if busy[i % 2]:
                busy[i % 2].get()
            busy[i % 2] = act(self.buffers[i % 2], i)
        for future in filter(None, busy):
            future.get()

    def store(self, copies=False):
        def act(buffer, i):
            if copies:
                buffer[:] = self.tensor
            return file.pwrite(buffer, file_offset=i * TENSOR)
        with self.kvikio.CuFile(self.paths[0], "r+" if os.path.exists(self.paths[0]) else "w") as file:
            self.each(act)
        self.sync()

    def put(self):
        self.store(True)

    def load(self):
        with self.kvikio.CuFile(self.paths[0], "r") as file:
            self.each(lambda buffer, i: file.pread(buffer, file_offset=i * TENSOR))

    get = load


class Files(Cached):
    note, ends = "through the page cache", True

    def __init__(self, folder, count):
        self.paths = [os.path.join(folder, f"tensor-{i}") for i in range(count)]
        self.buffer = mmap.mmap(-1, TENSOR)
        self.buffer.write(os.urandom(TENSOR))
        self.store()

    def prepare(self, what):
        super().prepare(what)
        if what in ("store", "put"):
            for path in filter(os.path.exists, self.paths):
                os.unlink(path)

    def store(self):
        for path in self.paths:
            with open(path, "wb", buffering=0) as file:
                done = 0
                while done < TENSOR:
                    done += file.write(memoryview(self.buffer)[done:])
        self.sync()

    put = store

    def load(self):
        for path in self.paths:
            with open(path, "rb", buffering=0) as file:
                done = 0
                while done < TENSOR:
                    read = file.readinto(memoryview(self.buffer)[done:])
                    if read == 0:
                        raise OSError(f"{path} ends at {done}")
                    done += read
            os.unlink(path)

    get = load


RIVALS = {"deepspeed": DeepSpeed, "tensornvme": TensorNvme, "kvikio": KvikIo, "files": Files}


def processor_seconds():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime


def main():
    name, folder, size = sys.argv[1:]
    # What a rival prints goes elsewhere.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        rival = RIVALS[name](folder, int(size) // TENSOR)
    except Exception as error:  # noqa: BLE001  Whatever a rival raises, it is why it cannot run.
        lines = str(error).strip().splitlines() or [""]
        print(f"unavailable {type(error).__name__}: {lines[0]}", file=answers, flush=True)
        return
    print(f"ready {rival.note}", file=answers, flush=True)
    for line in sys.stdin:
        what, more, *_ = line.split()
        if what == "prepare":
            if isinstance(rival, Cached):
                rival.prepare(more)
            print("0 0", file=answers, flush=True)
            continue
        start, before = time.perf_counter(), processor_seconds()
        getattr(rival, what)()
        print(f"{time.perf_counter() - start:.6f} {processor_seconds() - before:.6f}", file=answers, flush=True)


if __name__ == "__main__":
    main()
