// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a digit has a dimension, a positive stride and a positive number of values}}
func.func private @stride(tensor<8xf32, #tile.layout<registers = [0:0], lanes = [?, ?, ?, ?, ?], warps = []>>)

// -----

// expected-error @+1 {{a digit has a dimension, a positive stride and a positive number of values}}
func.func private @values(tensor<8xf32, #tile.layout<registers = [0:1*0], lanes = [?, ?, ?, ?, ?], warps = []>>)
