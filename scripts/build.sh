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
#   --compiler=gcc|clang   g++ (the default) or clang++-22, each in a folder of
#                          its own (build, build-clang)
#   --sanitize             AddressSanitizer and UndefinedBehaviorSanitizer, with
#                          clang++-22, in build-asan
#   --build-dir=DIR        build there instead
#   -jN                    jobs; by default as many as cores and memory carry
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

compiler=gcc
sanitize=0
build=
jobs=$(jobs_here)
targets=()
for argument in "$@"; do
  case "$argument" in
  --compiler=gcc | --compiler=clang) compiler=${argument#*=} ;;
  --sanitize) sanitize=1 ;;
  --build-dir=*) build=${argument#*=} ;;
  -j[0-9]*) jobs=${argument#-j} ;;
  -h | --help) usage "scripts/build.sh"; exit 0 ;;
  -*) die "build.sh: unknown option '$argument'; see scripts/build.sh --help" ;;
  *) targets+=("$argument") ;;
  esac
done

command -v cmake >/dev/null && command -v ninja >/dev/null ||
  die "cmake or ninja is missing; scripts/setup.sh installs them (packages cmake, ninja-build)"

flags=()
[ "$sanitize" = 1 ] && compiler=clang && flags+=(-DDRAWLOOM_SANITIZE=ON)
if [ "$compiler" = clang ]; then
  flags+=(-DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22)
else
  flags+=(-DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++)
fi
if [ -z "$build" ]; then
  build=build
  [ "$compiler" = clang ] && build=build-clang
  [ "$sanitize" = 1 ] && build=build-asan
fi

if [ ! -f "$build/build.ninja" ]; then
  say "Configure $build"
  cmake -S . -B "$build" -G Ninja "${flags[@]}"
fi
say "Build $build with $jobs jobs"
NINJA_STATUS='[%f/%t %es] ' ninja -C "$build" -j "$jobs" "${targets[@]}"
