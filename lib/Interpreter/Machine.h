//===- Machine.h - what executes a function --------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_INTERPRETER_MACHINE_H
#define DRAWLOOM_LIB_INTERPRETER_MACHINE_H

#include "lib/Interpreter/Interpreter.h"
#include "lib/Interpreter/Memory.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace drawloom::interpreter {

class Machine;
struct Call;
struct Instruction;

/// The values of one active function: one slot for each SSA value.
using Frame = std::vector<HostTensor>;

/// A block in executable form.
struct Body {
  llvm::SmallVector<unsigned> arguments;
  std::vector<Instruction> instructions;
  /// Whether the last of `instructions` is the block's terminator, which is not
  /// executed but read by the enclosing op.
  bool terminated = false;

  llvm::ArrayRef<Instruction> executed() const;
  const Instruction &terminator() const;
};

/// Base class of data that an op's handler computes once per op rather than on
/// each run.
struct Prepared {
  virtual ~Prepared() = default;
};

/// Runs one op: `call.args` are its operands, and it fills `call.results`.
using Run = llvm::LogicalResult (*)(Call &call);

struct Operand {
  unsigned slot;
  /// Whether there is no later reader, so that the value may be moved out of
  /// its slot and updated in place.
  bool last;
};

struct Instruction {
  mlir::Operation *op = nullptr;
  Run run = nullptr;
  llvm::SmallVector<Operand, 3> operands;
  llvm::SmallVector<unsigned, 1> results;
  /// Slots whose values have no reader after this op.
  llvm::SmallVector<unsigned, 2> releases;
  llvm::SmallVector<Body, 0> regions;
  std::shared_ptr<Prepared> prepared;
};

struct Function {
  Body body;
  unsigned slots = 0;
};

/// Turns functions into bodies of instructions.
class Compiler {
public:
  explicit Compiler(Machine &machine) : machine(machine) {}
  mlir::FailureOr<Function> compile(mlir::func::FuncOp function);
  /// For handlers that compile regions themselves.
  mlir::FailureOr<Body> compileBlock(mlir::Block &block);
  /// Returns the slot of a value, creating it on first use.
  unsigned slot(mlir::Value value);

private:
  mlir::FailureOr<Instruction> compileOp(mlir::Operation *op);
  llvm::LogicalResult markLastUses(mlir::Block &block, Body &body);

  Machine &machine;
  llvm::DenseMap<mlir::Value, unsigned> slots;
};

/// Computes `Instruction::prepared`; emits an error and fails if this form of
/// the op is not supported.
using Prepare = mlir::FailureOr<std::shared_ptr<Prepared>> (*)(
    mlir::Operation *op, Compiler &compiler);

struct Handler {
  Run run = nullptr;
  Prepare prepare = nullptr;
  /// Whether the handler's `prepare` compiles the op's regions itself.
  bool ownsRegions = false;
};

/// Handlers by op name.
using Registry = llvm::StringMap<Handler>;
void addAdOps(Registry &registry);
void addAffineOps(Registry &registry);
void addConstantOps(Registry &registry);
void addBufferOps(Registry &registry);
void addCheckOps(Registry &registry);
void addForallOps(Registry &registry);
void addFuncOps(Registry &registry);
void addGradientCheck(Registry &registry);
void addLinalgOps(Registry &registry);
void addOffloadOps(Registry &registry);
void addRecurrenceOps(Registry &registry);
void addRgnnOps(Registry &registry);
void addScfOps(Registry &registry);
void addTensorOps(Registry &registry);
void addTensorShapeOps(Registry &registry);
void addTensorSliceOps(Registry &registry);
void addTileOps(Registry &registry);
void addVectorOps(Registry &registry);
void addVectorTransferOps(Registry &registry);

/// Handlers for whole groups of ops.
const Handler &linalgHandler();
const Handler &elementwiseHandler();
const Handler &interfaceHandler();

/// The state of a block of threads, which is executed as a single thread.
struct KernelBlock {
  int64_t number = 0;
  /// The arena of shared memory; -1 if no buffer has been placed in it yet.
  int64_t arena = -1;
  /// A copy from global to shared memory that has been started.
  struct Copy {
    View to;
    HostTensor elements;
  };
  std::vector<Copy> started;
  /// Copies by groups, oldest first.
  std::vector<std::vector<Copy>> groups;
};

class Machine {
public:
  explicit Machine(const Interpreter::Limits &limits);

  /// Calls a function of the module; a kernel once for each of its blocks.
  mlir::FailureOr<llvm::SmallVector<HostTensor>>
  call(mlir::Operation *caller, mlir::func::FuncOp function,
       llvm::MutableArrayRef<HostTensor> arguments);

  /// Sets the block's arguments and runs it.
  llvm::LogicalResult run(const Body &body,
                          llvm::MutableArrayRef<HostTensor> arguments,
                          Frame &frame);
  /// Returns the operands of the block's terminator, starting at number `from`.
  llvm::SmallVector<HostTensor> yielded(const Body &body, Frame &frame,
                                        unsigned from = 0);

  /// Returns a zero-filled value of a type with the given extents. If an extent
  /// is negative or the value too large, emits an error at `op`.
  mlir::FailureOr<HostTensor> allocate(mlir::Operation *op, mlir::Type type,
                                       llvm::ArrayRef<int64_t> shape);
  /// Like allocate, but filled with NaN or a recognizable integer.
  mlir::FailureOr<HostTensor> allocateUndefined(mlir::Operation *op,
                                                mlir::Type type,
                                                llvm::ArrayRef<int64_t> shape);
  /// Fails with an error at `op` if a view exceeds its buffer.
  llvm::LogicalResult verifyInside(mlir::Operation *op, const View &view) const;
  /// Returns a view's elements; fails with an error at `op` if the view exceeds
  /// its buffer.
  mlir::FailureOr<HostTensor> read(mlir::Operation *op, const View &view);
  /// Writes a tensor of the view's shape to the view; fails with an error at
  /// `op` if the view exceeds its buffer.
  llvm::LogicalResult write(mlir::Operation *op, const View &view,
                            const HostTensor &value);
  /// Counts one loop iteration against the limit.
  llvm::LogicalResult countIteration(mlir::Operation *loop);

  /// Fails with an error at `op` unless `value` is one of `type`.
  static llvm::LogicalResult verifyFits(mlir::Operation *op,
                                        const HostTensor &value,
                                        mlir::Type type, llvm::StringRef what);

  /// The memory that memref values refer to.
  Memory memory;
  /// The running block of threads, if the function is a kernel.
  KernelBlock block;
  /// The loop indices of the linalg op whose body is running, for linalg.index.
  llvm::ArrayRef<int64_t> point;

  const Handler *find(mlir::Operation *op) const;

private:
  /// Runs the function's body once.
  mlir::FailureOr<llvm::SmallVector<HostTensor>>
  runOnce(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> arguments);

  Interpreter::Limits limits;
  Registry registry;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<Function>> functions;
  int64_t depth = 0;
  int64_t iterations = 0;
};

/// The interface between an op's execution and its handler.
struct Call {
  Machine &machine;
  const Instruction &instruction;
  Frame &frame;
  llvm::MutableArrayRef<HostTensor> args;
  llvm::SmallVectorImpl<HostTensor> &results;

  mlir::Operation *op() const { return instruction.op; }
  template <typename OpTy> OpTy as() const {
    return llvm::cast<OpTy>(instruction.op);
  }
  template <typename T> T &prepared() const {
    return static_cast<T &>(*instruction.prepared);
  }
  const Body &region(unsigned i) const { return instruction.regions[i]; }
  mlir::InFlightDiagnostic error() const { return op()->emitOpError(); }
  void yield(HostTensor value) { results.push_back(std::move(value)); }
  /// Returns the memref that is operand `i`.
  View view(unsigned i) const { return View::of(args[i]); }

  /// Merges static extents with the operands for the dynamic ones, which start
  /// at operand `dynamic`.
  llvm::SmallVector<int64_t, 4> mixed(llvm::ArrayRef<int64_t> statics,
                                      unsigned dynamic) const;
};

/// Allocates a buffer of the type, whose dynamic extents are the first
/// operands.
mlir::FailureOr<View> allocateMemory(Call &call, mlir::MemRefType type);

/// Returns whether values of the type can be represented: floats and integers
/// of up to 64 bits, index, tensors, vectors and memrefs of these, and graphs.
bool isSupported(mlir::Type type);
bool isFloat(mlir::Type type);
/// Returns the bits of the element type; 64 for index.
unsigned elementBits(mlir::Type type);
/// Wraps an integer to `bits` bits, in the form in which HostTensor stores it.
int64_t wrapInteger(int64_t value, unsigned bits);
/// Returns the value of an attribute; null if it has none.
std::optional<HostTensor> attributeValue(mlir::Attribute attribute);
/// Returns text such as "[2, 3]", for messages.
std::string indexText(llvm::ArrayRef<int64_t> index);

/// Advances a row-major index tuple; returns false after the last one.
bool advance(llvm::MutableArrayRef<int64_t> index,
             llvm::ArrayRef<int64_t> extents);
/// Returns the row-major strides of a shape.
llvm::SmallVector<int64_t, 4> stridesOf(llvm::ArrayRef<int64_t> shape);

} // namespace drawloom::interpreter

#endif // DRAWLOOM_LIB_INTERPRETER_MACHINE_H
