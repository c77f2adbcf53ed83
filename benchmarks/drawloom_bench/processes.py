# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that benchmarks start: Drawloom's tools, themselves again, and Pythons of rivals."""

import json
import os
import re
import subprocess
import sys

from drawloom_bench import BENCHMARKS, BUILD, BenchError

# An allocator that gives no memory back to the system between calls and has huge pages: worth up to four times to eager PyTorch.
TUNED = {
    "GLIBC_TUNABLES": "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184:glibc.malloc.hugetlb=1",
    "THP_MEM_ALLOC_ENABLE": "1",
}


def threads(count):
    """The settings by which torch, its libraries and JAX use so many threads."""
    many = "true" if count > 1 else "false"
    return {"OMP_NUM_THREADS": str(count), "MKL_NUM_THREADS": str(count),
            "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={many} intra_op_parallelism_threads={count}"}


def restart_with(wanted):
    """Starts this process again unless its environment is as wanted: allocators and pools of threads read it when a process starts."""
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, sys.orig_argv, {**os.environ, **wanted})


def environment(**more):
    """That of a process which imports this package, and Drawloom."""
    path = os.pathsep.join(filter(None, [str(BUILD / "python"), str(BENCHMARKS), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, **more}


def command(*words, python=sys.executable, module="drawloom_bench"):
    """The command that runs a benchmark with a Python."""
    return [str(python), "-W", "ignore", "-m", module, *map(str, words)]


def run_again(*words, python=sys.executable, **more):
    """What a benchmark prints that runs in a process of its own."""
    done = subprocess.run(command(*words, python=python), capture_output=True, text=True, env=environment(**more))
    if done.returncode:
        raise BenchError(f"the process of '{' '.join(map(str, words))}' failed: {done.stderr.strip()[-3000:]}")
    return done.stdout


class Worker:
    """A benchmark in a process of its own that answers lines of JSON with lines of JSON."""

    def __init__(self, *words, **more):
        self.words = words
        self.process = subprocess.Popen(command(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(**more))

    def ask(self, request):
        line = ""
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            pass
        if not line:
            raise BenchError(f"the process of '{' '.join(map(str, self.words))}' ended; it says above why")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def answer(work):
    """The other side of a Worker: `work` gives the answer to a request. What is printed meanwhile goes to standard error."""
    replies, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        print(json.dumps(work(json.loads(line))), file=replies, flush=True)


def called(*words, seconds=None, **more):
    """What a program prints; BenchError with the first error that it reports where it fails."""
    name = os.path.basename(str(words[0]))
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=seconds, env={**os.environ, **more})
    except subprocess.TimeoutExpired:
        raise BenchError(f"{name} did not end in {seconds} s") from None
    except FileNotFoundError:
        raise BenchError(f"there is no '{words[0]}'") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["no message"]
        raise BenchError(re.sub(r"^\S*?: ", "", lines[0]).replace("\0", "?")[:200])
    return done.stdout


def tool(name, *arguments, **more):
    """What a tool of the build prints."""
    return called(BUILD / "bin" / name, *arguments, **more)


def built(name):
    """The path of a tool of the build, which is there."""
    path = BUILD / "bin" / name
    if not path.exists():
        raise BenchError(f"there is no '{path}'; scripts/build.sh {name} makes it")
    return path
