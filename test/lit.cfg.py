# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import shutil
import sys

import lit.formats

config.name = "Drawloom"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit", "fuzz", "python", "CMakeLists.txt", "requirements.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.drawloom_binary_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [config.drawloom_tools_dir, config.llvm_tools_dir, config.environment["PATH"]]
)
# Sanitizer reports must fail the tool that they are about.
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%source_dir", config.drawloom_source_dir))
config.substitutions.append(("%python", sys.executable))
# %for_each M=0,1,3 %s: the file with each of these for $M.
config.substitutions.append(("%for_each", "awk -f " + os.path.join(config.test_source_root, "for-each.awk")))
config.substitutions.append(("%build_dir", config.drawloom_binary_dir))
config.substitutions.append(("%cxx", config.drawloom_cxx))
config.substitutions.append(("%cc", config.drawloom_c))
config.substitutions.append(("%drawloom_library", os.path.join(config.drawloom_binary_dir, "lib", "libdrawloom.so")))
# No test depends on what the user's cache holds.
config.environment["DRAWLOOM_CACHE"] = ""


def cpu_flags():
    try:
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("flags"):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()


# What this machine can run; a test names what it needs with REQUIRES.
flags = cpu_flags()
for feature, needed in {
    "avx2": {"avx2", "fma"},
    "avx512": {"avx512f", "avx512bw", "avx512vl", "avx512dq"},
    "avx512bf16": {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_bf16"},
    "amx": {"amx_tile", "amx_bf16"},
}.items():
    if needed <= flags:
        config.available_features.add(feature)
# What is linked with a library of ours outside of this build needs one without
# sanitizers.
if config.drawloom_sanitize != "ON":
    config.available_features.add("plain-libraries")
if shutil.which("ptxas"):
    config.available_features.add("ptxas")
