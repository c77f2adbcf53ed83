# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes Triton's unmodified runtime run over the libcuda.so.1 that TRITON_LIBCUDA_PATH holds, with torch's CPU tensors.

Import it in a process of its own, with LD_LIBRARY_PATH set to the same folder and TRITON_CACHE_DIR to one of the test's.
"""

import ctypes

import triton
from triton.backends.nvidia.driver import CudaDriver, CudaLauncher, CudaUtils


class Driver(CudaDriver):
    """Triton's own, but for what it asks torch.cuda."""

    def __init__(self, capability=(9, 0)):
        # torch.cuda does that for Triton.
        assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
        self.utils = CudaUtils()
        self.launcher_cls = CudaLauncher
        self.get_device_capability = lambda device=0: capability
        self.get_current_stream = lambda device=0: 0
        self.get_current_device = lambda: 0
        self.set_current_device = lambda device: None


def activate(capability=(9, 0)):
    triton.runtime.driver.set_active(Driver(capability))
