// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_CODEGEN_EMULATOR_PASSES_TD
#define DRAWLOOM_CODEGEN_EMULATOR_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmulatorInterceptNvvm : Pass<"emulator-intercept-nvvm", "::mlir::ModuleOp"> {
  let summary = "Turn GPU kernels into functions that a CPU runs for each thread";
  let description = [{
    Takes a module of `llvm` and `nvvm` ops. Every op of the GPU becomes a call
    of the emulator's runtime (`runtime/emulator/Symbols.h`), every access of
    global or shared memory gets a call in front of it that checks it. Address
    spaces and the attributes of kernels go; each function gets the emulated
    thread as its first argument; `@global_smem` becomes the memory that the
    runtime has for the block.

    Each kernel `@k` gets a function `@emulate.k(thread, parameters)`. What
    stands where in the source is left in the module's attribute
    `drawloom.emulator_sites`, by the number that calls pass.

    An op that the runtime lacks is an error that names it.

    Example:

    ```mlir
    llvm.func @k(%p: !llvm.ptr<1>, %g: !llvm.ptr<1>, %f: !llvm.ptr<1>)
        attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %q = llvm.getelementptr %p[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %t, %q : i32, !llvm.ptr<1>
      llvm.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // DRAWLOOM_CODEGEN_EMULATOR_PASSES_TD
