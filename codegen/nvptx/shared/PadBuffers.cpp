//===- PadBuffers.cpp - rows of shared memory in different banks ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many clocks the banks of shared memory need for an access follows from
// the layout of the tile and the strides of the buffer: 32 banks of 4 bytes, as
// many lanes at once as make 128 bytes, and lanes that want the same word share
// its clock. So a few paddings are tried for each buffer, and the one that
// costs all who write and read it least is taken.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/layouts/Dots.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <array>

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXPADBUFFERS
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

/// Clocks of one access of `width` bytes by each lane, at these addresses.
static int64_t clocksOf(ArrayRef<int64_t> addresses, int64_t width) {
  size_t atOnce = std::min<int64_t>(addresses.size(), 128 / width);
  int64_t clocks = 0;
  for (size_t start = 0; start < addresses.size(); start += atOnce) {
    SmallVector<int64_t, 64> words;
    for (int64_t address : addresses.drop_front(start).take_front(atOnce))
      for (int64_t word = address / 4; word <= (address + width - 1) / 4;
           ++word)
        words.push_back(word);
    llvm::sort(words);
    words.erase(llvm::unique(words), words.end());
    std::array<int64_t, 32> perBank{};
    int64_t most = 0;
    for (int64_t word : words)
      most = std::max(most, ++perBank[word % 32]);
    clocks += most;
  }
  return clocks;
}

int64_t bankClocks(const Layout &layout, ArrayRef<int64_t> strides,
                   ArrayRef<int64_t> shape, int64_t bytes) {
  auto rank = static_cast<int64_t>(shape.size());
  // As wide as Accesses makes them.
  int64_t inner = -1, width = 1;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (strides[dim] == 1 && shape[dim] > 1)
      inner = dim;
  if (inner >= 0)
    for (int64_t next = 2; next * bytes <= 16; next *= 2) {
      bool fits =
          layout.contiguousAlong(inner) % next == 0 && shape[inner] % next == 0;
      for (ArrayRef<Digit> digits :
           {ArrayRef(layout.registers), ArrayRef(layout.lanes),
            ArrayRef(layout.warps)})
        for (const Digit &digit : digits)
          if (!digit.replicated() &&
              (digit.dim != inner || digit.stride >= next))
            fits &= digit.stride * strides[digit.dim] % next == 0;
      if (!fits)
        break;
      width = next;
    }
  SmallVector<int64_t> addresses;
  for (int64_t lane = 0; lane < 32; ++lane) {
    int64_t at = 0;
    for (auto [coordinate, stride] :
         llvm::zip(layout.threadOffset(lane, 0, rank), strides))
      at += coordinate * stride;
    addresses.push_back(at * bytes);
  }
  return clocksOf(addresses, width * bytes) * layout.registerCount() / width;
}

/// Whether an operand is the buffer or rows and columns of it.
static bool isPartOf(Value operand, Value buffer) {
  while (auto view = operand.getDefiningOp<memref::SubViewOp>())
    operand = view.getSource();
  return operand == buffer;
}

/// Clocks in which the instructions of a product read a buffer.
static int64_t dotClocks(tile::DotOp dot, Value buffer,
                         ArrayRef<int64_t> strides, int64_t bytes) {
  Layout sums = *tile::layoutOf(dot.getResult().getType());
  int64_t clocks = 0, rows = 1, columns = 1;
  for (const Digit &digit : sums.registers)
    (digit.dim == 0 ? rows : columns) *= digit.extent;
  if (usesTensorCores(dot) && bytes == 2) {
    // Matrices of eight rows of 16 bytes.
    SmallVector<int64_t> addresses;
    for (int64_t row = 0; row < 8; ++row)
      addresses.push_back(row * strides[0] * bytes);
    int64_t matrices = dot.getK() / 8;
    if (isPartOf(dot.getA(), buffer))
      clocks += clocksOf(addresses, 16) * matrices * rows;
    if (isPartOf(dot.getB(), buffer))
      clocks += clocksOf(addresses, 16) * matrices * columns / 2;
    return clocks;
  }
  if (dot.getTf32()) {
    // Matrices of eight rows of 16 bytes where steps lie in rows, and numbers
    // by themselves where not: four steps by eight rows or columns.
    auto read = [&](bool stepsInRows) {
      SmallVector<int64_t> addresses;
      for (int64_t lane = 0; lane < 32; ++lane)
        if (!stepsInRows)
          addresses.push_back((lane % 4 * strides[0] + lane / 4) * bytes);
        else if (lane < 8)
          addresses.push_back(lane * strides[0] * bytes);
      return clocksOf(addresses, stepsInRows ? 16 : 4);
    };
    int64_t matrices = dot.getK() / 4;
    if (isPartOf(dot.getA(), buffer))
      clocks += read(!dot.getTransposeA()) * matrices * rows;
    if (isPartOf(dot.getB(), buffer))
      clocks += read(dot.getTransposeB()) * matrices * columns / 2;
    return clocks;
  }
  int64_t width = 16 / bytes;
  auto lanesAlong = [&](int64_t dim, int64_t stride) {
    SmallVector<int64_t> addresses;
    for (int64_t lane = 0; lane < 32; ++lane)
      addresses.push_back(sums.threadOffset(lane, 0, 2)[dim] * stride * bytes);
    return addresses;
  };
  if (isPartOf(dot.getA(), buffer)) {
    while (width > 1 && strides[0] % width != 0)
      width /= 2;
    clocks += clocksOf(lanesAlong(0, strides[0]), width * bytes) *
              (dot.getK() / width) * rows;
  }
  if (isPartOf(dot.getB(), buffer)) {
    width = std::min<int64_t>(
        width, llvm::bit_floor<uint64_t>(sums.contiguousAlong(1)));
    while (width > 1 && strides[0] % width != 0)
      width /= 2;
    clocks += clocksOf(lanesAlong(1, 1), width * bytes) * dot.getK() *
              std::max<int64_t>(1, columns / width);
  }
  return clocks;
}

/// Clocks in which a triangular system reads its matrix: by its lanes' rows,
/// some neighbours at once, or columns.
static int64_t solveClocks(tile::SolveOp solve, ArrayRef<int64_t> strides,
                           int64_t bytes) {
  auto type = cast<RankedTensorType>(solve.getResult().getType());
  Layout layout = *tile::layoutOf(type);
  int64_t width = 1, along = solve.getTranspose() ? 1 : 0;
  while (!solve.getTranspose() && width * bytes < 16 &&
         strides[0] % (2 * width) == 0)
    width *= 2;
  SmallVector<int64_t> addresses;
  for (int64_t lane = 0; lane < 32; ++lane)
    addresses.push_back(layout.threadOffset(lane, 0, 2)[0] * strides[along] *
                        bytes);
  int64_t rows = 1;
  for (const Digit &digit : layout.registers)
    rows *= digit.dim == 0 ? digit.extent : 1;
  return clocksOf(addresses, width * bytes) * rows * type.getDimSize(0) / 2 /
         width;
}

/// A buffer's type with its rows `stride` elements apart.
static MemRefType withRows(MemRefType type, int64_t stride) {
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (int64_t dim = type.getRank() - 2; dim >= 0; --dim) {
    strides[dim] = stride;
    stride *= type.getDimSize(dim);
  }
  return MemRefType::get(type.getShape(), type.getElementType(),
                         StridedLayoutAttr::get(type.getContext(), 0, strides),
                         type.getMemorySpace());
}

/// The views and ops that access a buffer; false where its strides mean more
/// than the distance of rows.
static bool collectAccesses(Value memory, SmallVectorImpl<Operation *> &ops,
                            SmallVectorImpl<memref::SubViewOp> &views) {
  for (Operation *user : memory.getUsers()) {
    if (auto view = dyn_cast<memref::SubViewOp>(user)) {
      if (view.getType().getRank() != view.getSourceType().getRank() ||
          !view.hasUnitStride())
        return false;
      views.push_back(view);
      if (!collectAccesses(view, ops, views))
        return false;
    } else if (isa<tile::LoadOp, tile::StoreOp, tile::DotOp, tile::SolveOp>(
                   user)) {
      ops.push_back(user);
    } else {
      return false;
    }
  }
  return true;
}

static void setType(tile::AllocOp buffer, MemRefType type,
                    ArrayRef<memref::SubViewOp> views) {
  buffer.getBuffer().setType(type);
  for (memref::SubViewOp view : views)
    view.getResult().setType(
        cast<MemRefType>(memref::SubViewOp::inferResultType(
            view.getSourceType(), view.getMixedOffsets(), view.getMixedSizes(),
            view.getMixedStrides())));
}

namespace {
/// A buffer whose rows may be further apart.
struct Paddable {
  tile::AllocOp buffer;
  SmallVector<Operation *> ops;
  SmallVector<memref::SubViewOp> views;

  MemRefType type() { return cast<MemRefType>(buffer.getType()); }
  int64_t bytes() {
    return llvm::divideCeil(type().getElementTypeBitWidth(), 8);
  }
  int64_t row() { return type().getStridesAndOffset().first.front(); }
  /// Whether matrix instructions read it.
  bool holdsMatrices() {
    return llvm::any_of(ops, [](Operation *op) {
      auto dot = dyn_cast<tile::DotOp>(op);
      return dot && usesTensorCores(dot);
    });
  }
  /// Clocks of all accesses, if it had this type.
  int64_t cost(MemRefType padded);
};
} // namespace

int64_t Paddable::cost(MemRefType padded) {
  auto [strides, offset] = padded.getStridesAndOffset();
  int64_t clocks = 0;
  for (Operation *op : ops) {
    int64_t times = 1;
    for (Operation *around = op->getParentOp(); !isa<func::FuncOp>(around);
         around = around->getParentOp())
      times *= isa<scf::ForOp>(around) ? 16 : 1;
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      clocks += times * dotClocks(dot, buffer.getBuffer(), strides, bytes());
      continue;
    }
    if (auto solve = dyn_cast<tile::SolveOp>(op)) {
      clocks += times * solveClocks(solve, strides, bytes());
      continue;
    }
    auto tile = cast<RankedTensorType>(isa<tile::LoadOp>(op)
                                           ? op->getResult(0).getType()
                                           : op->getOperand(0).getType());
    clocks += times * bankClocks(*tile::layoutOf(tile), strides,
                                 tile.getShape(), bytes());
  }
  return clocks;
}

/// Buffers that accesses find as fast with the rows of another one get these,
/// where that takes no more memory: threads have one address for both.
static void alignRows(MutableArrayRef<Paddable> buffers,
                      llvm::function_ref<int64_t()> arena) {
  for (Paddable &own : buffers) {
    // Copies of memory may become rings, which take more.
    bool isCopy = llvm::any_of(own.ops, [](Operation *op) {
      auto store = dyn_cast<tile::StoreOp>(op);
      return store && store.getSource().getDefiningOp<tile::LoadOp>();
    });
    if (own.type().getRank() != 2 || !own.holdsMatrices() || isCopy)
      continue;
    MemRefType before = own.type();
    int64_t clocks = own.cost(before), bytes = arena();
    for (Paddable &other : buffers) {
      if (other.type().getRank() != 2 || !other.holdsMatrices() ||
          other.bytes() != own.bytes() || other.row() <= own.row())
        continue;
      MemRefType padded = withRows(before, other.row());
      if (own.cost(padded) > clocks)
        continue;
      setType(own.buffer, padded, own.views);
      if (arena() <= bytes)
        break;
      setType(own.buffer, before, own.views);
    }
  }
}

static void padBuffers(func::FuncOp kernel, int64_t limit) {
  auto arena = [&] { return sharedBytesOf(kernel); };
  SmallVector<Paddable> buffers;
  kernel.walk([&](tile::AllocOp buffer) {
    Paddable found{buffer, {}, {}};
    if (found.type().getRank() >= 2 &&
        found.type().getElementType().isIntOrFloat() &&
        collectAccesses(buffer.getBuffer(), found.ops, found.views))
      buffers.push_back(std::move(found));
  });
  for (Paddable &own : buffers) {
    MemRefType type = own.type();
    int64_t bytes = own.bytes();
    bool matrices = own.holdsMatrices();
    MemRefType best = type;
    int64_t least = own.cost(type);
    for (int64_t padding : {0, 2, 4, 8, 16, 32, 48, 64}) {
      int64_t row = type.getShape().back() * bytes + padding;
      if (row % bytes != 0 || (matrices && row % 16 != 0))
        continue;
      MemRefType padded = withRows(type, row / bytes);
      if (int64_t clocks = own.cost(padded); clocks < least)
        best = padded, least = clocks;
    }
    if (best == type)
      continue;
    int64_t before = arena();
    setType(own.buffer, best, own.views);
    if (int64_t after = arena(); after > before && after > limit)
      setType(own.buffer, type, own.views);
  }
  alignRows(buffers, arena);
}

namespace {
struct NvptxPadBuffers : impl::NvptxPadBuffersBase<NvptxPadBuffers> {
  using NvptxPadBuffersBase::NvptxPadBuffersBase;
  void runOnOperation() override {
    if (isKernel(getOperation()))
      padBuffers(getOperation(), limit);
  }
};
} // namespace

} // namespace drawloom::nvptx
