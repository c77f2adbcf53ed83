# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A progress bar for the Python examples, and their end on request."""

import shutil
import signal
import sys
import time


class Bar:
    """Progress on one line of a terminal; elsewhere a line for each tenth."""

    def __init__(self, total, label=""):
        self._total, self._label, self._start, self._shown = total, label, time.monotonic(), -1.0
        self._before = None  # steps that an earlier run has taken
        self._terminal = sys.stderr.isatty()

    def show(self, step, text):
        now = time.monotonic()
        done = step / self._total
        if self._before is None:
            self._before = step - 1
        if self._terminal:
            if now - self._shown < 0.1 and step < self._total:
                return
            self._shown = now
            left = (now - self._start) * (self._total - step) / (step - self._before)
            behind = f" {step}/{self._total}  {text}  {left:.0f} s left "
            # A line that is longer than the terminal would not be written over.
            width = min(max(shutil.get_terminal_size().columns - len(self._label) - len(behind) - 3, 0), 30)
            filled = int(width * done)
            print(f"\r  {self._label}{'█' * filled}{'░' * (width - filled)}{behind}\x1b[K",
                  end="\n" if step == self._total else "", file=sys.stderr, flush=True)
        elif int(10 * done) > self._shown:
            self._shown = int(10 * done)
            print(f"  {self._label}step {step}/{self._total}  {text}", file=sys.stderr, flush=True)


class Interrupt:
    """Ctrl-C asks for an end after the step that is being computed; a second one ends at once."""

    def __init__(self):
        self.asked = False

    def __enter__(self):
        self.before = signal.signal(signal.SIGINT, self.ask)
        return self

    def __exit__(self, *_):
        signal.signal(signal.SIGINT, self.before)

    def ask(self, *_):
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
