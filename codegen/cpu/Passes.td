// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_CODEGEN_CPU_PASSES_TD
#define DRAWLOOM_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

// Alphabetical. Every option has a sentence and a default.

def CpuBufferize : Pass<"cpu-bufferize", "::mlir::ModuleOp"> {
  let summary = "Turn tensors into memory, and results into arguments";
  let description = [{
    Tensor arguments become `memref` arguments that are only read; each result
    becomes an additional `memref` argument that is only written; scalars stay
    arguments. The original signature is kept in the function's attribute
    `drawloom.signature`.

    Example:

    ```mlir
    func.func @first(%x: tensor<4xf32>) -> f32 {
      %c0 = arith.constant 0 : index
      %e = tensor.extract %x[%c0] : tensor<4xf32>
      return %e : f32
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def CpuExpandMath : Pass<"cpu-expand-math"> {
  let summary = "Expand elementary functions into vector arithmetic";
  let description = [{
    On f32, `exp`, `log`, `tanh`, ... become polynomials, so that vectors stay
    vectors; on bf16 and f16 they are computed in f32. f64 is left to the C
    library. Conversions from and to bf16 become integer arithmetic. Ops on f16,
    and ops on bf16 if the instruction set has none of its own, compute in f32
    between conversions. In a module, a function with more than 200 elementary
    functions calls one shared function for each kind of vector instead.

    Example:

    ```mlir
    func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
      %y = math.exp %x : vector<8xf32>
      return %y : vector<8xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"];
  let options = [
    Option<"isa", "isa", "std::string", /*default=*/"\"native\"",
           "Name of the instruction set">];
}

def CpuHostAbi : Pass<"cpu-host-abi", "::mlir::ModuleOp"> {
  let summary = "Give entries and kernels the runtime's calling convention";
  let description = [{
    Works on the llvm dialect. Each function with a `drawloom.signature` becomes
    an entry `void name(void **arguments, const DrawloomHost *host)`; each call
    of a kernel in it becomes a call of `host->parallelFor` with a wrapper `void
    (void **arguments, int64_t lo, int64_t hi, void *scratch)`; see
    include/drawloom/runtime/Abi.h. The module does not refer to any symbol of
    the runtime.

    Example:

    ```mlir
    llvm.func @nothing() attributes {drawloom.signature = {
        arguments = [], results = [], workspace_bytes = 0 : i64,
        scratch_bytes = 0 : i64}} {
      llvm.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CpuKernels : Pass<"cpu-kernels", "::mlir::ModuleOp"> {
  let summary =
      "Outline each block program as a function over a range of blocks";
  let description = [{
    Each outermost `scf.forall` becomes a function `kernel(arguments, lo, hi)`
    that runs the blocks [lo, hi), numbered across all its dimensions, and a
    call of the function for all blocks, so that executing the module serially
    still gives the same result. Consecutive block programs that do not depend
    on each other become one function, in which each runs its share of the
    range.

    A result that is only written, in a call whose data exceed `streamed-bytes`,
    is marked for `cpu-stream-stores`. If extents are open, kernels of up to 256
    operations get an argument that says whether the data exceed
    `streamed-bytes`.

    Buffers of a block are on the stack, allocated once for a range of blocks,
    up to `stack-bytes` in total; larger ones are in scratch memory, the
    kernel's last argument. Buffers of the function share one workspace, a
    `memref` of bytes that becomes an argument after the results; buffers that
    are not in use at the same time may share its bytes.

    Example:

    ```mlir
    func.func @zero(%out: memref<64xf32>) attributes {drawloom.signature = {
        arguments = [], results = [tensor<64xf32>], workspace_bytes = 0 : i64,
        scratch_bytes = 0 : i64}} {
      %zero = arith.constant 0.0 : f32
      scf.forall (%i) in (64) {
        memref.store %zero, %out[%i] : memref<64xf32>
      }
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let options = [
    Option<"stackBytes", "stack-bytes", "int64_t", "131072",
           "Max bytes of stack that one kernel may use for its buffers">,
    Option<"streamedBytes", "streamed-bytes", "int64_t", "33554432",
           "Bytes of arguments and results of a call above which its results "
           "are written past the cache">];
}

def CpuLowerCopies : Pass<"cpu-lower-copies"> {
  let summary = "Turn memref.copy into vector loops";
  let description = [{
    A copy becomes loops over vectors, whatever its strides (loops over elements
    if the last extent is unknown): a strided `memref.copy` would require a
    function of a runtime library.

    Example:

    ```mlir
    func.func @copy(%a: memref<4x32xf32>, %b: memref<4x32xf32>) {
      memref.copy %a, %b : memref<4x32xf32> to memref<4x32xf32>
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def CpuLowerPairDots : Pass<"cpu-lower-pair-dots", "::mlir::func::FuncOp"> {
  let summary =
      "Lower products of pairs of bf16 to the processor's instructions";
  let description = [{
    If the instruction set multiplies pairs of bf16, `cpu-tile-and-vectorize`
    creates contractions [m, k, 2] x [k, n, 2] -> [m, n]. This pass lowers them
    to vector instructions (AVX512-BF16) or to AMX's tile registers, which then
    hold the accumulators throughout the loops that carry them. With
    `amx-replaced`, AMX operations are finally replaced by vector arithmetic.

    Example:

    ```mlir
    func.func @pairs(%a: vector<8x4x2xbf16>, %b: vector<4x32x2xbf16>,
                     %c: vector<8x32xf32>) -> vector<8x32xf32> {
      %d = vector.contract {
          indexing_maps = [affine_map<(m, n, k, p) -> (m, k, p)>,
                           affine_map<(m, n, k, p) -> (k, n, p)>,
                           affine_map<(m, n, k, p) -> (m, n)>],
          iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        %a, %b, %c : vector<8x4x2xbf16>, vector<4x32x2xbf16> into vector<8x32xf32>
      return %d : vector<8x32xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::amx::AMXDialect", "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect",
    "::mlir::x86vector::X86VectorDialect"];
  let options = [
    Option<"isa", "isa", "std::string", "\"native\"",
           "Instruction set, as in InstructionSet.cpp, or native">];
}

def CpuLowerToLlvm : Pass<"cpu-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lower vectors, memory and loops to the llvm dialect";
  let description = [{
    Runs the conversions in the only order that works, then `cpu-host-abi`.
    Transfers between vectors of several dimensions and memory are unrolled
    before any view is folded: upstream's folding reads the wrong elements
    through an expanded shape. Columns whose rows have one element are treated
    as the dense vectors that they are.

    Example:

    ```mlir
    func.func private @kernel(%x: memref<8xf32>, %lo: index, %hi: index)
        attributes {drawloom.kernel} {
      return
    }
    ```
  }];
  let options = [
    Option<"isa", "isa", "std::string", "\"native\"",
           "Instruction set, as in InstructionSet.cpp, or native">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::amx::AMXDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::x86vector::X86VectorDialect"];
}

def CpuPrefetchTiles : Pass<"cpu-prefetch-tiles", "::mlir::func::FuncOp"> {
  let summary = "Prefetch the next iteration's rows if they are strided";
  let description = [{
    A block program whose outermost loop reads strided rows of an argument (one
    head of `[tokens, heads, size]`) prefetches, with each row, the same row of
    its next iteration: hardware prefetchers only detect contiguous rows. The
    same applies to a block program that writes such rows, whose cache lines are
    all read before, and to one that transposes tiles of scratch memory too
    large for the second-level cache. Rows of a table whose numbers a loop loads
    from an array are prefetched sixteen iterations ahead. If an inner loop
    begins at a loaded position, its first rows are prefetched sixteen
    iterations of the outer loop ahead. A copy of an open number of such rows
    becomes a loop of copies of single rows.

    Example:

    ```mlir
    func.func @copy(%x: memref<64x4x16xf32>, %y: memref<4x16xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0.0 : f32
      scf.forall (%head) in (4) {
        scf.for %token = %c0 to %c64 step %c1 {
          %row = vector.transfer_read %x[%token, %head, %c0], %zero {in_bounds = [true]}
            : memref<64x4x16xf32>, vector<16xf32>
          vector.transfer_write %row, %y[%head, %c0] {in_bounds = [true]}
            : vector<16xf32>, memref<4x16xf32>
        }
      }
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def CpuShareRepeats : Pass<"cpu-share-repeats", "::mlir::ModuleOp"> {
  let summary = "Outline code that a large function repeats";
  let description = [{
    Layers of equal width produce the same loops over and over, on different
    buffers. A function of `min-operations` or more is split after each op that
    writes memory. If parts of at least `min-shared` operations are equal except
    for buffers and indices, and occur `min-repeats` times or more, they become
    calls of one function. Machine code is then compiled once, and optimizer
    passes of superlinear complexity see shorter functions. Buffers that never
    overlap are annotated as such. Vectors defined before a part, or used after
    it, become arguments and results, if the part is at least four times as
    large as they are. An operation on vectors counts once for each row of its
    vector, an elementary function thirty times, a contraction by its
    multiply-adds, and the body of a loop of up to 16 iterations once for each
    iteration.

    Example: test/codegen/cpu/kernels/share-repeats-calls-what-layers-have-in-common.mlir
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
  let options = [
    Option<"minOperations", "min-operations", "int64_t", "12000",
           "Min operations of a function that is searched for repetitions">,
    Option<"minRepeats", "min-repeats", "int64_t", "8",
           "Min occurrences of repeated code">,
    Option<"minShared", "min-shared", "int64_t", "12",
           "Min operations of code that is worth a call">];
}

def CpuStreamStores : Pass<"cpu-stream-stores", "::mlir::func::FuncOp"> {
  let summary = "Write large results past the cache";
  let description = [{
    Vector writes to an argument that `cpu-kernels` has marked
    (`drawloom.streamed`) become non-temporal stores if they are at least half a
    cache line: the neighbouring stores follow immediately. If the mark names
    another argument, the kernel contains its loops twice, and that argument
    selects at run time which of them run. `cpu-lower-to-llvm`, which runs this
    pass, then makes each non-temporal store check its address, and ends kernels
    with a fence.

    Example:

    ```mlir
    func.func private @kernel(%out: memref<16xf32> {drawloom.streamed},
                              %v: vector<16xf32>) attributes {drawloom.kernel} {
      %c0 = arith.constant 0 : index
      vector.transfer_write %v, %out[%c0] {in_bounds = [true]}
        : vector<16xf32>, memref<16xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def CpuTileAndVectorize : Pass<"cpu-tile-and-vectorize", "::mlir::func::FuncOp"> {
  let summary = "Cut linalg ops into register tiles and vectorize them";
  let description = [{
    Every linalg op on static tensors becomes loops over register tiles, each a
    handful of vector ops. The rules depend on the class of the op:

    - a dot computes an accumulator tile of `dot-rows` x `dot-columns`, fused
      with the small elementwise ops that read it, and loops over its
      contraction dimension `dot-steps` at a time;
    - an elementwise op computes `width` elements of its result's last dimension
      at a time;
    - a reduction over rows keeps its accumulators in registers;
    - a transposition proceeds in squares of one vector's lanes, in the order of
      its operand in memory.

    A dot with a lower triangular factor, or a factor of which only the lower
    triangle is read, skips the steps that add zeros. The ops that make lower
    triangular results mark them (`block.lower_triangular`).

    An extent that the tile does not divide is split into decreasing powers of
    two, so that every vector is one that the machine supports; the rows of a
    dot, which are not vectorized, are split into even tiles. An op that cannot
    be vectorized (a gather with computed indices, booleans in memory) becomes
    scalar loops. Extents count 32-bit elements.

    Example:

    ```mlir
    func.func @twice(%x: tensor<64xf32>) -> tensor<64xf32> {
      %e = tensor.empty() : tensor<64xf32>
      %y = linalg.add ins(%x, %x : tensor<64xf32>, tensor<64xf32>)
                      outs(%e : tensor<64xf32>) -> tensor<64xf32>
      return %y : tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
  let options = [
    Option<"isa", "isa", "std::string", "\"native\"",
           "Instruction set whose tiles are the defaults below, as in "
           "InstructionSet.cpp, or native">,
    Option<"dotColumns", "dot-columns", "int64_t", "0",
           "Columns of a dot's accumulator tile; 0: the instruction set's "
           "default">,
    Option<"dotRows", "dot-rows", "int64_t", "0",
           "Rows of a dot's accumulator tile; 0: the instruction set's "
           "default">,
    Option<"dotSteps", "dot-steps", "int64_t", "0",
           "Contraction steps of a dot per loop iteration; 0: the instruction "
           "set's default">,
    Option<"width", "width", "int64_t", "0",
           "Elements per iteration of an elementwise loop; 0: the instruction "
           "set's default">,
    Option<"fusedOps", "fused-ops", "int64_t", "4",
           "Max operations in the body of an elementwise op that is computed "
           "on a dot's accumulators">];
}

def CpuTilesInPlace : Pass<"cpu-tiles-in-place", "::mlir::func::FuncOp"> {
  let summary =
      "Compute full tiles directly in the memory that holds their rows";
  let description = [{
    Applies to a tile of a block program that is copied from or to as many rows
    of memory as a call has. If these are all rows of the tile, the memory
    itself is used as the tile, and nothing is copied: the program chooses
    between the two at run time. Tiles that products read remain copies, whose
    rows are contiguous.

    Example:

    ```mlir
    func.func @last(%y: memref<?x16xf32>, %at: index, %rows: index) {
      %c0 = arith.constant 0 : index
      %one = arith.constant dense<1.0> : vector<4x16xf32>
      %tile = memref.alloc() : memref<4x16xf32>
      vector.transfer_write %one, %tile[%c0, %c0] : vector<4x16xf32>, memref<4x16xf32>
      %from = memref.subview %tile[0, 0] [%rows, 16] [1, 1]
        : memref<4x16xf32> to memref<?x16xf32, strided<[16, 1]>>
      %to = memref.subview %y[%at, 0] [%rows, 16] [1, 1]
        : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
      memref.copy %from, %to
        : memref<?x16xf32, strided<[16, 1]>> to memref<?x16xf32, strided<[16, 1], offset: ?>>
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def CpuVerifyBuffers : Pass<"cpu-verify-buffers"> {
  let summary = "Report copies and allocations inside loops";
  let description = [{
    Run it after `cpu-bufferize`. A `memref.copy` inside an `scf.for` means that
    bufferization found two simultaneously live values in one place, or that the
    program copies rows itself; a `memref.alloc` inside a loop would use stack
    in proportion to the trip count. Each is reported as a remark, or, with
    `strict`, as an error, for testing programs that are meant to have none.

    Example:

    ```mlir
    func.func @fine(%a: memref<4xf32>, %b: memref<4xf32>) {
      memref.copy %a, %b : memref<4xf32> to memref<4xf32>
      return
    }
    ```
  }];
  let options = [
    Option<"strict", "strict", "bool", "false",
           "Report errors instead of remarks">];
}

def CpuVerifyVectors : Pass<"cpu-verify-vectors", "::mlir::func::FuncOp"> {
  let summary = "Refuse vector code that would run slowly or compile slowly";
  let description = [{
    Run it after `cpu-tile-and-vectorize`. Errors: a linalg op is left; a vector
    has more than 1024 elements, or a last dimension that is not a power of two;
    a function has more than `operations-per-source-op` operations for each
    block-level op that it was made from (attribute `drawloom.source_ops`, which
    `cpu-tile-and-vectorize` sets).

    Example:

    ```mlir
    func.func @fine(%v: vector<32xf32>) -> vector<32xf32> {
      return %v : vector<32xf32>
    }
    ```
  }];
  let options = [
    Option<"operationsPerSourceOp", "operations-per-source-op", "int64_t",
           "400", "Max operations for each block-level op">];
}

#endif // DRAWLOOM_CODEGEN_CPU_PASSES_TD
