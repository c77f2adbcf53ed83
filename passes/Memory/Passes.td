// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_MEMORY_PASSES_TD
#define DRAWLOOM_PASSES_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

// In the order in which they run, at the end of the phase `blocks`.

class RateOption<string variable, string argument, string default, string what>
    : Option<variable, argument, "double", default, what>;

def PlanMemory : Pass<"plan-memory", "::mlir::func::FuncOp"> {
  let summary = "Choose values that leave memory between two uses";
  let description = [{
    A function's tensors that are neither arguments nor results share one
    workspace. If the workspace would exceed `bytes`, values leave it between
    two uses: they are recomputed (`offload.again`), or moved to a store
    (`offload.store`, `offload.await`). Candidates are values of at least
    `least-bytes`. The pass first takes those whose memory is free for long and
    that cost little time at the given rates, until the rest fits; it then keeps
    the values that need not have left, and replaces choices for which the
    alternative is faster. The pass fails if nothing fits, naming the fewest
    bytes that it found, and if extents are unknown.

    Remarks report the choice for each value; `explain` names a file for the
    complete plan: a table or, with the ending .json, data.

    Example: test/passes/Memory/plan-memory.mlir
  }];
  let options = [
    Option<"bytes", "bytes", "int64_t", "0",
           "Max bytes of workspace; 0: no limit">,
    Option<"mayStore", "store", "bool", "true",
           "Whether there will be a store">,
    Option<"leastBytes", "least-bytes", "int64_t", "262144",
           "Min bytes of values that may leave memory">,
    Option<"staging", "staging", "int64_t", "16777216",
           "Bytes of the store's own memory">,
    RateOption<"operations", "operations", "1e11",
               "Arithmetic operations per second">,
    RateOption<"memory", "memory", "1e10",
               "Bytes that memory moves per second">,
    RateOption<"write_", "write", "1e9",
               "Bytes that the store's disks write per second">,
    RateOption<"read", "read", "1e9",
               "Bytes that the store's disks read per second">,
    RateOption<"copy", "copy", "4e9",
               "Bytes copied into or out of the store's memory per second">,
    Option<"reportOnly", "report-only", "bool", "false",
           "Only explain the plan; change nothing">,
    Option<"explain", "explain", "std::string", "\"\"",
           "File for the plan; - prints it">
  ];
  let dependentDialects = ["::drawloom::offload::OffloadDialect"];
}

def PlaceTransfers : Pass<"place-transfers", "::mlir::func::FuncOp"> {
  let summary = "Start reading values from the store in time";
  let description = [{
    Moves each `offload.load` in front of the step at which reading must begin
    for the value to arrive before it is awaited. Values are read one after
    another, at the given rate, while each step takes the time of its arithmetic
    and memory traffic. No load moves in front of the store of its value.

    Example: test/passes/Memory/place-transfers.mlir
  }];
  let options = [
    RateOption<"operations", "operations", "1e11",
               "Arithmetic operations per second">,
    RateOption<"memory", "memory", "1e10",
               "Bytes that memory moves per second">,
    RateOption<"read", "read", "1e9",
               "Bytes that the store's disks read per second">
  ];
  let dependentDialects = ["::drawloom::offload::OffloadDialect"];
}

def VerifyTransfers : Pass<"verify-transfers", "::mlir::func::FuncOp"> {
  let summary = "Check that records are used correctly";
  let description = [{
    Fails unless every transfer stands in the body of a function, between its
    steps, and every record is stored, then loaded before each time that it is
    awaited, then dropped once, and used by nothing else.

    Example: test/passes/Memory/verify-transfers.mlir
  }];
  let dependentDialects = ["::drawloom::offload::OffloadDialect"];
}

#endif // DRAWLOOM_PASSES_MEMORY_PASSES_TD
