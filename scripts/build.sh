#!/usr/bin/env bash
# Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/build.sh [options] [target...]
#
# Configures (first time) and builds; without targets, everything. Only what
# changed is built again.
#
#   --preset=NAME   one of CMakePresets.json: developer (the default, in build),
#                   release, gcc, sanitize, fuzz (each in build-NAME)
#   -jN             jobs; by default as many as cores and memory carry
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=developer
jobs=$(jobs_here)
targets=()
for argument in "$@"; do
  case "$argument" in
  --preset=*) preset=${argument#*=} ;;
  -j[0-9]*) jobs=${argument#-j} ;;
  -h | --help) usage "scripts/build.sh"; exit 0 ;;
  -*) die "build.sh: unknown option '$argument'; see scripts/build.sh --help" ;;
  *) targets+=("$argument") ;;
  esac
done

command -v cmake >/dev/null && command -v ninja >/dev/null ||
  die "cmake or ninja is missing; scripts/setup.sh installs them (packages cmake, ninja-build)"

build=$(build_folder "$preset")
# A folder that was configured by other presets starts afresh.
if [ ! -f "$build/build.ninja" ] || [ CMakePresets.json -nt "$build/build.ninja" ]; then
  say "Configure $build"
  cmake --fresh --preset "$preset"
fi
say "Build $build with $jobs jobs"
NINJA_STATUS='[%f/%t %es] ' ninja -C "$build" -j "$jobs" "${targets[@]}"
