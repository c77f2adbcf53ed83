// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_CODEGEN_CPU_PASSES_TD
#define DRAWLOOM_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

// Alphabetical. Every option has a sentence and a default.

def CpuBufferize : Pass<"cpu-bufferize", "::mlir::ModuleOp"> {
  let summary = "Turn tensors into memory, results into arguments";
  let description = [{
    Tensor arguments become `memref` arguments that are only read; each result
    becomes one more argument, a `memref` that is only written; numbers stay
    arguments.
    What the function took and gave before stays in its attribute
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
    library. Conversions from and to bf16 become integer arithmetic; where the
    instruction set has none of its own on bf16, and always on f16, ops compute
    in f32 between conversions. In a module, a function that takes more than 200
    elementary functions calls one for each kind of vector instead.

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
  let summary = "Put entries and kernels behind the signatures of the runtime";
  let description = [{
    Works on the llvm dialect. Each function with a `drawloom.signature` becomes
    an entry `void name(void **arguments, const DrawloomHost *host)`; each call
    of a kernel in it becomes a call of `host->parallelFor` with a wrapper
    `void (void **arguments, int64_t lo, int64_t hi, void *scratch)`; see
    include/drawloom/runtime/Abi.h. Nothing in the module refers to a symbol of
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
  let summary = "Make a range function of each block program";
  let description = [{
    Each outermost `scf.forall` becomes a function `kernel(arguments, lo, hi)`
    that runs the blocks [lo, hi), counted along all its dimensions, and a call
    of it for all blocks: read serially, the module still means the same.
    Successive ones that do not depend on each other become one function: of the
    range it is given, each of them runs its share.

    A result that is only written, of a call whose data exceed `streamed-bytes`,
    is marked for `cpu-stream-stores`; where extents are open, kernels of up to 256
    operations have an argument that tells whether they do.

    Buffers of a block live on the stack, once for a range, up to `stack-bytes`
    in all; larger ones in scratch memory, the kernel's last argument. Buffers
    of the function share one workspace, a `memref` of bytes that becomes its
    argument after the results, by when each is in use.

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
           "Most bytes of stack that one kernel may take for its buffers">,
    Option<"streamedBytes", "streamed-bytes", "int64_t", "33554432",
           "Results of calls with more data, arguments and results together, "
           "are written past the cache">];
}

def CpuLowerCopies : Pass<"cpu-lower-copies"> {
  let summary = "Turn memref.copy into vector loops";
  let description = [{
    A copy becomes loops over vectors, whatever its strides (where the last
    extent is not known, over elements): a
    strided `memref.copy` would need a function of a runtime library.

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
  let summary = "Give products of pairs of bf16 to the processor's instructions";
  let description = [{
    `cpu-tile-and-vectorize` makes contractions [m, k, 2] x [k, n, 2] -> [m, n] of bf16
    where the instruction set multiplies pairs. They become instructions on
    vectors (AVX512-BF16) or on AMX's tile registers, in which sums then stay
    through the loops that carry them; with `amx-replaced`, AMX's operations
    become vector arithmetic again, after all that.

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
    Runs the conversions in the one order that works, then `cpu-host-abi`.
    Transfers between vectors of several dimensions and memory are unrolled
    before any view is folded: upstream's folding reads the wrong elements
    through an expanded shape. Columns whose rows have one element are taken for
    the dense vectors that they are.

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
  let summary = "Fetch the next iteration's rows with gaps between them";
  let description = [{
    A block program whose outermost loop reads rows of an argument that are
    apart in memory (one head of `[tokens, heads, size]`) asks, with each row,
    for the same row of its next iteration: hardware sees a stream only where
    rows follow each other. So does one that writes such rows, every line of which is
    read before, and one that transposes tiles of a scratch memory too
    large for the second-level cache. Rows of a table whose numbers a loop loads from an
    array are asked for sixteen iterations ahead; where a loop within another one begins
    at a place that a loaded number says, so are its first rows, sixteen iterations of the
    outer loop ahead. A copy of so many such rows as a call has becomes a loop of
    copies of one.

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
  let summary = "Make one function of code that a large one repeats";
  let description = [{
    Layers of one width give the same loops over and over, on other buffers. A
    function of `min-operations` or more is cut behind each op that writes memory;
    parts of at least `min-shared` operations that are the same but for buffers and
    indices, `min-repeats` times or more, become a function that is called instead.
    The machine code is then compiled once, and what the optimizer does on long
    functions in more than linear time is not asked of it. Buffers that never
    overlap are said to be such. Vectors from before and for later are arguments and
    results, where the part is four times as large as they are. An operation on
    vectors counts once for each row of its vector, an elementary function thirty
    times, a contraction by its multiply-adds, and what a loop of up to 16
    iterations holds once for each.

    Example: test/codegen/cpu/share-repeats-calls-what-layers-have-in-common.mlir
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
  let options = [
    Option<"minOperations", "min-operations", "int64_t", "12000",
           "Operations of a function from which on it is searched">,
    Option<"minRepeats", "min-repeats", "int64_t", "8",
           "How often code has to occur">,
    Option<"minShared", "min-shared", "int64_t", "12",
           "Operations of code that is worth a call">];
}

def CpuStreamStores : Pass<"cpu-stream-stores", "::mlir::func::FuncOp"> {
  let summary = "Write large results past the cache";
  let description = [{
    Writes of vectors to an argument that `cpu-kernels` has marked
    (`drawloom.streamed`) become non-temporal stores where they are at least half a
    cache line: their neighbours follow at once. Where the mark names another
    argument, the kernel's loops stand twice, and that says which of them run. `cpu-lower-to-llvm`, which runs this pass, then lets each of them
    check its address, and ends kernels with a fence.

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
  let summary = "Cut linalg ops into register tiles and turn those into vectors";
  let description = [{
    Every linalg op on static tensors becomes loops over register tiles, each a
    handful of vector ops. The rules go by class of op:

    - a dot takes an accumulator tile of `dot-rows` x `dot-columns`, with the
      small elementwise ops that read it, and runs over its inner dimension
      `dot-steps` at a time;
    - an elementwise op takes `width` elements of its result's last dimension;
    - a reduction over rows keeps its sums in registers;
    - a transposition goes in squares of one vector's lanes, in the order in which
      its operand lies in memory.

    A dot with a factor that is lower triangular, or of which only the lower
    triangle is read, leaves out the steps that add nothing. Which results are
    lower triangular, the ops that make them say (`block.lower_triangular`).

    An extent that the tile does not divide is cut into ever smaller powers of
    two, so every vector is one that the machine has; rows of a dot, which are no
    vector, into even tiles. An op that has no vector
    form (a gather with computed indices, booleans in memory) becomes scalar
    loops. Extents count 32-bit elements.

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
           "Columns of a dot's accumulator tile; 0: the instruction set's">,
    Option<"dotRows", "dot-rows", "int64_t", "0",
           "Rows of a dot's accumulator tile; 0: the instruction set's">,
    Option<"dotSteps", "dot-steps", "int64_t", "0",
           "Steps of a dot's inner loop per iteration; 0: the instruction "
           "set's">,
    Option<"width", "width", "int64_t", "0",
           "Elements per step of an elementwise loop; 0: the instruction set's">,
    Option<"fusedOps", "fused-ops", "int64_t", "4",
           "Most operations in the body of an elementwise op that is computed "
           "on a dot's accumulators">];
}

def CpuTilesInPlace : Pass<"cpu-tiles-in-place", "::mlir::func::FuncOp"> {
  let summary = "Compute tiles that are full where their rows are in memory";
  let description = [{
    A tile of a block program from which as many rows as a call has are copied to
    memory, or to which they are copied, is that memory where these are all of its
    rows, and nothing is copied then: the program chooses between the two
    places when it runs. Tiles that products read stay copies, whose rows lie
    together.

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
    Run after `cpu-bufferize`. A `memref.copy` inside an `scf.for` means that
    bufferization found two values that are alive at once in one place, or that
    the program copies rows itself; a `memref.alloc` there would grow with the
    trip count on the stack. Each gets a remark, or with `strict` an error:
    programs that are meant to have none are tested with it.

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
           "Errors instead of remarks">];
}

def CpuVerifyVectors : Pass<"cpu-verify-vectors", "::mlir::func::FuncOp"> {
  let summary = "Refuse what would make vector code slow or its compilation long";
  let description = [{
    Run after `cpu-tile-and-vectorize`. Errors: a linalg op is left; a vector has more
    than 1024 elements, or a last dimension that is not a power of two; a
    function holds more operations than `operations-per-source-op` for each op
    of the block level that it came from (attribute `drawloom.source_ops`, which
    `cpu-tile-and-vectorize` leaves).

    Example:

    ```mlir
    func.func @fine(%v: vector<32xf32>) -> vector<32xf32> {
      return %v : vector<32xf32>
    }
    ```
  }];
  let options = [
    Option<"operationsPerSourceOp", "operations-per-source-op", "int64_t",
           "400", "Most operations for each op of the block level">];
}

#endif // DRAWLOOM_CODEGEN_CPU_PASSES_TD
