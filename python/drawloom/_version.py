# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package's version, which is the library's."""

from importlib import metadata

try:
    __version__ = metadata.version("drawloom")
except metadata.PackageNotFoundError:  # Used from a build folder, not installed.
    __version__ = "0+build"
