# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of this process, as Linux counts it (proc(5))."""

import pathlib
import re


def resident(field):
    """Bytes: VmRSS, now; VmHWM, the most since the mark was set."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status).group(1)) << 10


def set_mark():
    """VmHWM is what is resident now, from here on."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")
