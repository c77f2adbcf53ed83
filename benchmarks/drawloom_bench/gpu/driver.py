# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs items, each in a process of its own with a time limit. This process touches no GPU, so nothing that happens there ends it.

An item's result is one line of JSON, written and flushed before the next item starts:

    item      "small/MLP 64 relu train bf16": its stage and subject
    status    ok; wrong; crash (an error, with `code` and the last `kernel` launched); hang (its limit passed, with the last
              `kernel`); out of memory; skipped
    says      one sentence for people
    seconds   of the whole process
    data      figures, by stage
    log       the end of what the process wrote, where it failed
"""

import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from drawloom_bench import processes
from drawloom_bench.gpu import watch
from drawloom_bench.gpu.runtime import RunError

FAILED = {"wrong", "crash", "hang", "out of memory"}
LOG_BYTES, SAYS_BYTES = 2000, 600
KILL_SECONDS, ALIVE_SECONDS, ALIVE_TRIES = 10, 30, 3
LEAST_SECONDS = 3  # Less time than this is not worth starting a process.
CUDA_CODE = re.compile(r"CUDA_ERROR_\w+")
OUT_OF_MEMORY = re.compile(r"CUDA_ERROR_OUT_OF_MEMORY|OutOfMemoryError|MemoryError|CUDA out of memory")


@dataclasses.dataclass
class Item:
    """Something to do in a process: `request` tells the worker what. It is skipped where one of `needs` did not end as it must:
    names of items, with what is needed of them: "ok", or "runs" where wrong numbers do not matter."""
    stage: str
    subject: str
    request: dict
    limit: float = 60
    needs: dict = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)
    prefix: list = dataclasses.field(default_factory=list)

    @property
    def name(self):
        return f"{self.stage}/{self.subject}"


def read(path):
    """The results in a file by item, the last of each; in the order of their first ones."""
    results = {}
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        try:
            record = json.loads(line)
            results[record["item"]] = record
        except (ValueError, KeyError, TypeError):
            raise RunError(f"'{path}', line {number}, is no result of gpu.sh: name another file with --out") from None
    return results


class Journal:
    """The file of results. What was cut off in the middle of a line is forgotten."""

    def __init__(self, path, resume=False):
        self.path, self.results = path, {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size:
            if not resume:
                raise RunError(f"'{path}' has results already: go on with --resume, or name another file with --out")
            self.results = read(path)
            with open(path, "r+b") as file:
                file.truncate(file.read().rfind(b"\n") + 1)
        self.file = open(path, "a")

    def finished(self, item):
        """Whether the file has a result that need not be taken again."""
        return self.results.get(item, {}).get("status", "skipped") != "skipped"

    def write(self, record):
        self.results[record["item"]] = record
        self.file.write(json.dumps(record, separators=(",", ":")) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())


class Process:
    """A worker that runs."""

    def __init__(self, item, folder, remaining, environment):
        self.item, self.folder = item, pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.started, self.limit = time.monotonic(), min(item.limit, remaining)
        self.cut_short = self.limit < item.limit
        (self.folder / "request.json").write_text(json.dumps(item.request))
        watch.create(self.folder / "watch")
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            [*item.prefix, sys.executable, "-m", "drawloom_bench.gpu.worker", self.folder / "request.json", self.folder / "result.json"],
            stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
            env=processes.environment(PYTHONUNBUFFERED="1", **{**environment, **item.environment, watch.VARIABLE: str(self.folder / "watch")}))

    def seconds(self):
        return time.monotonic() - self.started

    def poll(self):
        """The record, once there is one."""
        code = self.process.poll()
        late = code is None and self.seconds() > self.limit
        if code is None and not late:
            return None
        seconds = self.seconds()
        try:
            # Whoever is left of the process's group goes, too.
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        stuck = False
        if late:
            try:
                self.process.wait(KILL_SECONDS)
            except subprocess.TimeoutExpired:
                stuck = True
        self.log.close()
        return {"item": self.item.name, **self.judge(code, late, stuck), "seconds": round(seconds, 2)}

    def judge(self, code, late, stuck):
        phase, kernel = watch.read(self.folder / "watch")
        with open(self.folder / "log", "rb") as file:
            log = file.read().decode(errors="replace")[-LOG_BYTES:]
        where = {"phase": phase, **({"kernel": kernel} if kernel else {}), **({"log": log} if log else {})}
        if late and self.cut_short:
            return {"status": "skipped", "says": f"the deadline came after {self.limit:.0f} s, while {phase or 'starting'}"}
        if late:
            says = f"no end after {self.limit:.0f} s, while {phase or 'starting'}" + (f"; last launch: {kernel}" if kernel else "")
            return {"status": "hang", "says": says + ("; the process cannot be ended" if stuck else ""), **where}
        try:
            result = json.loads((self.folder / "result.json").read_text())
        except (OSError, ValueError):
            # It ended without a word.
            name = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
            return {"status": "crash", "code": name, "says": f"ended by {name}, while {phase or 'starting'}", **where}
        error = result.pop("error", None)
        result["says"] = result["says"][:SAYS_BYTES]
        if error is None and code:
            # The worker is content, but not what it runs under: compute-sanitizer.
            found = [line.strip("= ") for line in log.splitlines() if "ERROR SUMMARY" in line] or [f"exit status {code}"]
            return {**result, "status": "wrong", "says": f"{found[-1]}, of {pathlib.Path(self.item.prefix[0]).name if self.item.prefix else 'Python'}",
                    **where}
        if error is None:
            return {**result, **(where if result["status"] == "wrong" else {})}
        text = f"{error}: {result['says']}"
        if OUT_OF_MEMORY.search(text):
            return {**result, "status": "out of memory", **where}
        found = CUDA_CODE.search(text)
        return {**result, "status": "crash", "code": found.group() if found else error, **where}


class Driver:
    """Runs items stage by stage. `jobs(stage)` of a stage run side by side; `say(record)` is called for each result."""

    def __init__(self, journal, deadline, jobs, say, environment):
        self.journal, self.jobs, self.say, self.environment = journal, jobs, say, environment
        self.started, self.deadline = time.monotonic(), deadline
        self.folder = tempfile.TemporaryDirectory(prefix="drawloom-gpu-")
        self.dead = None  # Why no more can be run.
        self.suspect = False  # Whether the device may be gone, and nobody has asked it since.

    def remaining(self):
        return self.deadline - (time.monotonic() - self.started)

    def close(self):
        self.folder.cleanup()

    def run(self, items):
        """All items, in their order, side by side only within a stage."""
        for stage in dict.fromkeys(item.stage for item in items):
            self.run_stage([item for item in items if item.stage == stage], self.jobs(stage))

    def run_stage(self, items, jobs):
        waiting, running = list(items), []
        try:
            while waiting or running:
                # Nobody new starts on a device that may be gone.
                if self.suspect and not running:
                    self.check_device()
                    self.suspect = False
                while waiting and len(running) < jobs and not self.suspect:
                    item = waiting.pop(0)
                    if self.journal.finished(item.name):
                        continue
                    reason = self.reason_to_skip(item)
                    if reason:
                        self.record({"item": item.name, "status": "skipped", "says": reason, "seconds": 0})
                    else:
                        running.append(Process(item, self.folder.name, self.remaining(), self.environment))
                ended = [(process, record) for process in running if (record := process.poll())]
                for process, record in ended:
                    running.remove(process)
                    self.record(record)
                    # Where even the inventory fails, there may be no device at all.
                    self.suspect |= (record["status"] in ("crash", "hang")
                                     or process.item.stage == "inventory" and record["status"] != "ok")
                if not ended:
                    time.sleep(0.02)
        finally:
            for process in running:
                os.killpg(process.process.pid, signal.SIGKILL)

    def reason_to_skip(self, item):
        if self.dead:
            return self.dead
        if self.remaining() < LEAST_SECONDS:
            return "no time is left before the deadline"
        for name, how in item.needs.items():
            status = self.journal.results.get(name, {}).get("status", "ok")
            if status != "ok" and not (how == "runs" and status == "wrong"):
                return f"because of {name}: {status}"
        return None

    def record(self, record):
        self.journal.write(record)
        self.say(record)

    def alone(self, item):
        """Runs one item now and gives its record, which goes into no file."""
        process = Process(item, self.folder.name, max(self.remaining(), LEAST_SECONDS), self.environment)
        try:
            while not (record := process.poll()):
                time.sleep(0.02)
            return record
        finally:
            if process.process.poll() is None:
                os.killpg(process.process.pid, signal.SIGKILL)

    def check_device(self):
        """After a failure: whether the device still answers somebody else. Where it does not, what follows is not to be blamed."""
        if self.remaining() < ALIVE_SECONDS:
            return
        for _ in range(ALIVE_TRIES):
            record = self.alone(Item("alive", "device", {"do": "alive"}, limit=ALIVE_SECONDS))
            if record["status"] == "ok":
                return
        self.dead = f"the device does not answer: {record['says']}"[:300]
