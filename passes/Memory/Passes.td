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
    workspace. Where that would be larger than `bytes`, values leave it between
    two uses: they are computed again (`offload.again`), or go to a store
    (`offload.store`, `offload.await`). Of all values of at least `least-bytes`
    the pass takes those whose memory is free for long and that cost little time,
    by the rates given, until the rest fits, then gives back what was not needed
    and changes what is faster otherwise. It fails where nothing fits, and names
    the fewest bytes that it found, and where extents are not known.

    Remarks say what happens to each value; `explain` is a file for all of it, a
    table or, with the ending .json, data.

    Example: test/passes/Memory/plan-memory.mlir
  }];
  let options = [
    Option<"bytes", "bytes", "int64_t", "0",
           "Bytes of workspace; 0: as many as there are">,
    Option<"mayStore", "store", "bool", "true", "There will be a store">,
    Option<"leastBytes", "least-bytes", "int64_t", "262144",
           "Of values that may leave">,
    Option<"staging", "staging", "int64_t", "16777216",
           "Bytes of memory that the store has">,
    RateOption<"operations", "operations", "1e11", "Arithmetic in a second">,
    RateOption<"memory", "memory", "1e10",
               "Bytes that memory moves in a second">,
    RateOption<"write_", "write", "1e9",
               "Bytes that the store's disks write in a second">,
    RateOption<"read", "read", "1e9",
               "Bytes that the store's disks read in a second">,
    RateOption<"copy", "copy", "4e9",
               "Bytes that go into the store's memory, or out of it, in a "
               "second">,
    Option<"reportOnly", "report-only", "bool", "false",
           "Explain, and change nothing">,
    Option<"explain", "explain", "std::string", "\"\"",
           "File for the plan; - prints it">
  ];
  let dependentDialects = ["::drawloom::offload::OffloadDialect"];
}

def PlaceTransfers : Pass<"place-transfers", "::mlir::func::FuncOp"> {
  let summary = "Begin to read values from the store in time";
  let description = [{
    Moves each `offload.load` in front of the step at which reading has to begin
    so that the value is here when it is awaited: one is read after the other, at
    the rate given, while steps take the time that their arithmetic and memory
    take. No load comes before the store of its value.

    Example: test/passes/Memory/place-transfers.mlir
  }];
  let options = [
    RateOption<"operations", "operations", "1e11", "Arithmetic in a second">,
    RateOption<"memory", "memory", "1e10",
               "Bytes that memory moves in a second">,
    RateOption<"read", "read", "1e9",
               "Bytes that the store's disks read in a second">
  ];
  let dependentDialects = ["::drawloom::offload::OffloadDialect"];
}

def VerifyTransfers : Pass<"verify-transfers", "::mlir::func::FuncOp"> {
  let summary = "Check that records are used as they should be";
  let description = [{
    Fails unless every transfer stands in the body of a function, between its
    steps, and every record is stored, then loaded before each time that it is
    awaited, then dropped once, and used by nothing else.

    Example: test/passes/Memory/verify-transfers.mlir
  }];
  let dependentDialects = ["::drawloom::offload::OffloadDialect"];
}

#endif // DRAWLOOM_PASSES_MEMORY_PASSES_TD
