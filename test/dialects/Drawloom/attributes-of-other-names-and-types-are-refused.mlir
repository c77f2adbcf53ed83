// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{Drawloom has no attribute 'drawloom.schedul'; did you mean 'drawloom.schedule'?}}
func.func private @misspelt() attributes {drawloom.schedul = {rows = 8 : i64}}

// -----

// expected-error @+1 {{Drawloom has no attribute 'drawloom.colour'}}
func.func private @unknown() attributes {drawloom.colour}

// -----

// expected-error @+1 {{'drawloom.warps' is an integer, and cannot be "four"}}
func.func private @type() attributes {drawloom.warps = "four"}

// -----

// expected-error @+1 {{'drawloom.schedule' is a dictionary, and cannot be 8 : i64}}
func.func private @number() attributes {drawloom.schedule = 8}

// -----

// expected-error @+1 {{'drawloom.given_dims' is an array<i64: ...>, and cannot be unit}}
func.func private @argument(tensor<?xf32> {drawloom.given_dims})

// -----

// expected-error @+1 {{Drawloom has no attribute 'drawloom.nam'; did you mean 'drawloom.name'?}}
func.func private @result() -> (tensor<f32> {drawloom.nam = "loss"})
