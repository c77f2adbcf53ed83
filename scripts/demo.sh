#!/usr/bin/env bash
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/demo.sh [arguments of drawloom-image]
#
# Sets up, builds, and trains a network on a photograph with code that Drawloom
# compiles. The second time nothing is set up or built again. All arguments go
# to the example: scripts/demo.sh --help lists them.
set -euo pipefail
# The example's own paths are relative to where the user is.
called_from=$PWD
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scripts/setup.sh --build-only
scripts/build.sh drawloom-image
cd "$called_from"
exec "$root/build/bin/drawloom-image" "$@"
