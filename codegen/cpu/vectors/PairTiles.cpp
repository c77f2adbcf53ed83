//===- PairTiles.cpp - products of bf16 on AMX's registers ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/vectors/PairTiles.h"
#include "codegen/cpu/buffers/Views.h"
#include "codegen/cpu/vectors/HalfPrecisionDots.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/AMX/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// Rows of a tile; a tile of sums has as many columns.
constexpr int64_t tileExtent = 16;
/// Registers that hold a tile. Each has one shape in all of a function.
constexpr int64_t tileRegisters = 8;

/// A matrix of sums as tiles, row by row.
using Tiles = SmallVector<Value>;

class TileUser {
public:
  explicit TileUser(func::FuncOp function)
      : function(function), b(function.getContext()) {}

  void run();

private:
  using Chain = SmallVector<vector::ContractionOp>;
  static Chain chainOf(scf::ForOp loop, unsigned number);
  bool shapesFit(ArrayRef<vector::ContractionOp> products,
                 ArrayRef<Chain> carried) const;
  /// The extent of a tile that has `rest` rows or columns to come.
  int64_t extentOf(int64_t rest) const {
    return padded ? tileExtent : std::min(tileExtent, rest);
  }
  template <typename Function>
  void forEachTile(VectorType type, Function function) const;
  Tiles load(Location loc, Value sums);
  Value store(Location loc, VectorType type, ArrayRef<Value> tiles);
  Tiles multiply(vector::ContractionOp op, ArrayRef<Value> sums);
  Value rowsOf(vector::TransferReadOp read);
  Value memoryOf(vector::ContractionOp op, OpOperand &matrix);
  Value pairTile(Location loc, Value memory, int64_t row, int64_t rows,
                 int64_t column, int64_t columns);
  void carryTiles(scf::ForOp loop);
  Value buffer(Location loc, VectorType type, int role = 0);
  Value constant(Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  func::FuncOp function;
  OpBuilder b;
  DenseMap<std::pair<Type, int>, Value> buffers;
  /// All tiles are whole: zeros stand where matrices end.
  bool padded = false;
};

/// Visits the tiles of a matrix: place and extent.
template <typename Function>
void TileUser::forEachTile(VectorType type, Function function) const {
  for (int64_t row = 0; row < type.getDimSize(0); row += tileExtent)
    for (int64_t column = 0; column < type.getDimSize(1); column += tileExtent)
      function(row, extentOf(type.getDimSize(0) - row), column,
               extentOf(type.getDimSize(1) - column));
}

/// The contractions that alone touch a sum that `loop` carries, from what it
/// begins with to what is yielded for it; none where there is something else.
TileUser::Chain TileUser::chainOf(scf::ForOp loop, unsigned number) {
  Chain chain;
  Value value = loop.getRegionIterArg(number);
  if (!isa<VectorType>(value.getType()))
    return {};
  while (value.hasOneUse()) {
    auto next = dyn_cast<vector::ContractionOp>(*value.user_begin());
    if (!next || !isPairContraction(next) || next.getAcc() != value ||
        next->getBlock() != loop.getBody())
      break;
    chain.push_back(next);
    value = next.getResult();
  }
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  bool whole = value.hasOneUse() && yield.getOperand(number) == value;
  return whole ? chain : Chain();
}

/// Whether there is a register for every tile of each shape, while sums that
/// loops around a product carry stay in theirs.
bool TileUser::shapesFit(ArrayRef<vector::ContractionOp> products,
                         ArrayRef<Chain> carried) const {
  // Rows and 32-bit columns.
  std::map<std::pair<int64_t, int64_t>, int64_t> most;
  for (vector::ContractionOp op : products) {
    std::map<std::pair<int64_t, int64_t>, int64_t> own;
    auto add = [&](Type type, bool rows, bool columns) {
      forEachTile(cast<VectorType>(type), [&](int64_t row, int64_t height,
                                              int64_t column, int64_t width) {
        if ((rows || row == 0) && (columns || column == 0))
          ++own[{height, width}];
      });
    };
    // Of factors, the tiles of one step.
    add(op.getLhsType(), true, false);
    add(op.getRhsType(), false, true);
    add(op.getResultType(), true, true);
    for (const Chain &chain : carried) {
      vector::ContractionOp sum = chain.front();
      if (sum->getParentOp()->isAncestor(op) && !llvm::is_contained(chain, op))
        add(sum.getResultType(), true, true);
    }
    for (auto [shape, count] : own)
      most[shape] = std::max(most[shape], count);
  }
  int64_t registers = 0;
  for (auto [shape, count] : most)
    registers += count;
  return registers <= tileRegisters;
}

/// Memory on the stack for one matrix at a time.
Value TileUser::buffer(Location loc, VectorType type, int role) {
  Value &known = buffers[{type, role}];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.getBody().front());
    SmallVector<int64_t> shape(type.getShape());
    // A row of a tile has as many bytes, whatever its elements are.
    int64_t columns =
        tileExtent * 32 / type.getElementType().getIntOrFloatBitWidth();
    if (padded) {
      shape[0] = llvm::alignTo(shape[0], tileExtent);
      shape[1] = llvm::alignTo(shape[1], columns);
    }
    known = memref::AllocaOp::create(
        b, loc, MemRefType::get(shape, type.getElementType()),
        b.getI64IntegerAttr(64));
    // Factors end in zeros; what tiles of sums have there is not read.
    if (shape != SmallVector<int64_t>(type.getShape())) {
      auto whole = VectorType::get(shape, type.getElementType());
      Value zeros =
          arith::ConstantOp::create(b, loc, b.getZeroAttr(whole)).getResult();
      Value zero = constant(loc, 0);
      vector::TransferWriteOp::create(b, loc, zeros, known,
                                      SmallVector<Value>(shape.size(), zero),
                                      SmallVector<bool>(shape.size(), true));
    }
  }
  return known;
}

Tiles TileUser::load(Location loc, Value sums) {
  auto type = cast<VectorType>(sums.getType());
  Tiles tiles;
  if (matchPattern(sums, m_AnyZeroFloat())) {
    forEachTile(type, [&](int64_t, int64_t rows, int64_t, int64_t columns) {
      tiles.push_back(amx::TileZeroOp::create(
          b, loc, amx::TileType::get({rows, columns}, b.getF32Type())));
    });
    return tiles;
  }
  Value memory = buffer(loc, type), zero = constant(loc, 0);
  vector::TransferWriteOp::create(b, loc, sums, memory, ValueRange{zero, zero},
                                  ArrayRef<bool>{true, true});
  forEachTile(
      type, [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
        tiles.push_back(amx::TileLoadOp::create(
            b, loc, amx::TileType::get({rows, columns}, b.getF32Type()), memory,
            ValueRange{constant(loc, row), constant(loc, column)}));
      });
  return tiles;
}

Value TileUser::store(Location loc, VectorType type, ArrayRef<Value> tiles) {
  Value memory = buffer(loc, type), zero = constant(loc, 0);
  unsigned i = 0;
  forEachTile(type, [&](int64_t row, int64_t, int64_t column, int64_t) {
    amx::TileStoreOp::create(
        b, loc, memory, ValueRange{constant(loc, row), constant(loc, column)},
        tiles[i++]);
  });
  return vector::TransferReadOp::create(b, loc, type, memory,
                                        ValueRange{zero, zero}, std::nullopt,
                                        ArrayRef<bool>{true, true});
}

/// Whether what is read of memory is still there at `use`, each time that a
/// loop comes to it.
static bool nothingWritesBetween(vector::TransferReadOp read, Operation *use) {
  Operation *last = read->getBlock()->findAncestorOpInBlock(*use);
  if (!last)
    return false;
  Operation *end = last == use ? last : last->getNextNode();
  for (Operation *op = read->getNextNode(); op != end; op = op->getNextNode())
    if (!leavesAlone(op, read.getBase(), /*maybeRead=*/true))
      return false;
  return true;
}

/// The memory of a matrix of pairs [r, c, 2], as [r, 2 c], where it is read:
/// null unless its pairs lie together there.
Value TileUser::rowsOf(vector::TransferReadOp read) {
  auto source = dyn_cast<MemRefType>(read.getBase().getType());
  if (!source || source.getRank() < 3 || read.hasOutOfBoundsDim() ||
      !read.getPermutationMap().isMinorIdentity() || read.getMask() ||
      source.getShape().back() != 2 || !source.areTrailingDimsContiguous(2))
    return {};
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(read);
  Location loc = read.getLoc();
  ArrayRef<int64_t> shape = read.getVectorType().getShape();
  int64_t lead = source.getRank() - 3;
  SmallVector<OpFoldResult> sizes(lead, b.getIndexAttr(1)),
      strides(source.getRank(), b.getIndexAttr(1));
  for (int64_t extent : shape)
    sizes.push_back(b.getIndexAttr(extent));
  SmallVector<OpFoldResult> offsets = getAsOpFoldResult(read.getIndices());
  auto part = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      shape, source, offsets, sizes, strides));
  Value memory = memref::SubViewOp::create(b, loc, part, read.getBase(),
                                           offsets, sizes, strides);
  return memref::CollapseShapeOp::create(
      b, loc, memory, ArrayRef<ReassociationIndices>{{0}, {1, 2}});
}

/// A matrix of pairs [r, c, 2] in memory, as [r, 2 c]: where it was read from,
/// or a copy.
Value TileUser::memoryOf(vector::ContractionOp op, OpOperand &operand) {
  Value matrix = operand.get();
  Location loc = matrix.getLoc();
  auto type = cast<VectorType>(matrix.getType());
  auto read = matrix.getDefiningOp<vector::TransferReadOp>();
  Value rows = read ? rowsOf(read) : Value();
  bool isWhole = !padded || (type.getDimSize(0) % tileExtent == 0 &&
                             type.getDimSize(1) % tileExtent == 0);
  if (rows && isWhole && nothingWritesBetween(read, op))
    return rows;
  auto flat = VectorType::get({type.getDimSize(0), 2 * type.getDimSize(1)},
                              type.getElementType());
  Value memory = buffer(loc, flat, 1 + operand.getOperandNumber());
  Value zero = constant(loc, 0);
  if (rows) {
    // Whole rows, not pair by pair.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(read);
    Value first = constant(loc, 0);
    matrix = vector::TransferReadOp::create(
        b, loc, flat, rows, ValueRange{first, first}, std::nullopt,
        ArrayRef<bool>{true, true});
  } else {
    matrix = vector::ShapeCastOp::create(b, loc, flat, matrix);
  }
  vector::TransferWriteOp::create(b, loc, matrix, memory,
                                  ValueRange{zero, zero},
                                  ArrayRef<bool>{true, true});
  return memory;
}

Value TileUser::pairTile(Location loc, Value memory, int64_t row, int64_t rows,
                         int64_t column, int64_t columns) {
  return amx::TileLoadOp::create(
      b, loc, amx::TileType::get({rows, 2 * columns}, b.getBF16Type()), memory,
      ValueRange{constant(loc, row), constant(loc, 2 * column)});
}

Tiles TileUser::multiply(vector::ContractionOp op, ArrayRef<Value> sums) {
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  Value left = memoryOf(op, op.getLhsMutable()),
        right = memoryOf(op, op.getRhsMutable());
  int64_t steps = op.getLhsType().getDimSize(1);
  Tiles result(sums);
  for (int64_t k = 0; k < steps; k += tileExtent) {
    int64_t depth = extentOf(steps - k);
    DenseMap<int64_t, Value> lefts, rights;
    unsigned i = 0;
    forEachTile(
        cast<VectorType>(op.getResultType()),
        [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
          Value &l = lefts[row], &r = rights[column];
          if (!l)
            l = pairTile(loc, left, row, rows, k, depth);
          if (!r)
            r = pairTile(loc, right, k, depth, column, columns);
          result[i] = amx::TileMulFOp::create(b, loc, result[i].getType(), l, r,
                                              result[i]);
          ++i;
        });
  }
  return result;
}

/// Replaces the sums that `loop` carries and only contractions over pairs touch
/// by tiles.
void TileUser::carryTiles(scf::ForOp loop) {
  for (unsigned i = 0; i < loop.getInitArgs().size(); ++i) {
    Chain chain = chainOf(loop, i);
    if (chain.empty())
      continue;
    auto type = cast<VectorType>(loop.getRegionIterArg(i).getType());
    Location loc = loop.getLoc();
    b.setInsertionPoint(loop);
    Tiles tiles = load(loc, loop.getInitArgs()[i]);
    unsigned first = loop.getInitArgs().size();
    IRRewriter rewriter(b.getContext());
    rewriter.setInsertionPoint(loop);
    auto wider = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, tiles, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument> carried) {
          Tiles now(carried.begin(), carried.end());
          for (vector::ContractionOp op : chain)
            now = multiply(op, now);
          return now;
        }));
    // What was carried as a vector is the same before and after now.
    auto end = cast<scf::YieldOp>(wider.getBody()->getTerminator());
    end.setOperand(i, wider.getRegionIterArg(i));
    for (vector::ContractionOp op : llvm::reverse(chain)) {
      op.getResult().replaceAllUsesWith(op.getAcc());
      op.erase();
    }
    b.setInsertionPointAfter(wider);
    Value whole = store(loc, type, Tiles(wider.getResults().drop_front(first)));
    wider.getResult(i).replaceAllUsesWith(whole);
    loop = wider;
  }
}

void TileUser::run() {
  SmallVector<vector::ContractionOp> products;
  function.walk([&](vector::ContractionOp op) {
    if (isPairContraction(op))
      products.push_back(op);
  });
  SmallVector<std::pair<scf::ForOp, SmallVector<Chain>>> loops;
  SmallVector<Chain> carried;
  function.walk([&](scf::ForOp loop) {
    SmallVector<Chain> chains;
    for (unsigned i = 0; i < loop.getInitArgs().size(); ++i)
      if (Chain chain = chainOf(loop, i); !chain.empty())
        chains.push_back(chain);
    if (!chains.empty())
      loops.push_back({loop, chains});
    llvm::append_range(carried, chains);
  });
  padded = !shapesFit(products, carried);
  if (!shapesFit(products, carried)) {
    // Then the sums of some loops go to memory behind each product.
    carried.clear();
    llvm::erase_if(loops, [&](auto &loop) {
      llvm::append_range(carried, loop.second);
      bool fits = shapesFit(products, carried);
      if (!fits)
        carried.pop_back_n(loop.second.size());
      return !fits;
    });
    padded = false;
    padded = !shapesFit(products, carried);
  }
  for (auto &[loop, chains] : loops)
    carryTiles(loop);
  SmallVector<vector::ContractionOp> rest;
  function.walk([&](vector::ContractionOp op) {
    if (isPairContraction(op))
      rest.push_back(op);
  });
  for (vector::ContractionOp op : rest) {
    b.setInsertionPoint(op);
    Tiles tiles = multiply(op, load(op.getLoc(), op.getAcc()));
    op.getResult().replaceAllUsesWith(
        store(op.getLoc(), cast<VectorType>(op.getResultType()), tiles));
    op.erase();
  }
}

//===----------------------------------------------------------------------===//
// Replacement
//===----------------------------------------------------------------------===//

/// Tiles are vectors [rows, columns].
struct ReplaceZero : OpConversionPattern<amx::TileZeroOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(amx::TileZeroOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op,
                                                   rewriter.getZeroAttr(type));
    return success();
  }
};

struct ReplaceLoad : OpConversionPattern<amx::TileLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(amx::TileLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    rewriter.replaceOpWithNewOp<vector::TransferReadOp>(
        op, type, adaptor.getBase(), adaptor.getIndices(), std::nullopt,
        ArrayRef<bool>{true, true});
    return success();
  }
};

struct ReplaceStore : OpConversionPattern<amx::TileStoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(amx::TileStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::TransferWriteOp>(
        op, adaptor.getVal(), adaptor.getBase(), adaptor.getIndices(),
        ArrayRef<bool>{true, true});
    return success();
  }
};

struct ReplaceMultiply : OpConversionPattern<amx::TileMulFOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(amx::TileMulFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto pairs = [&](Value matrix) -> Value {
      auto type = cast<VectorType>(matrix.getType());
      return vector::ShapeCastOp::create(
          rewriter, loc,
          VectorType::get({type.getDimSize(0), type.getDimSize(1) / 2, 2},
                          type.getElementType()),
          matrix);
    };
    AffineExpr m, n, k, pair;
    bindDims(op.getContext(), m, n, k, pair);
    auto map = [&](ArrayRef<AffineExpr> exprs) {
      return AffineMap::get(4, 0, exprs, op.getContext());
    };
    using vector::IteratorType;
    rewriter.replaceOpWithNewOp<vector::ContractionOp>(
        op, pairs(adaptor.getLhs()), pairs(adaptor.getRhs()), adaptor.getAcc(),
        rewriter.getAffineMapArrayAttr(
            {map({m, k, pair}), map({k, n, pair}), map({m, n})}),
        rewriter.getArrayAttr({vector::IteratorTypeAttr::get(
                                   op.getContext(), IteratorType::parallel),
                               vector::IteratorTypeAttr::get(
                                   op.getContext(), IteratorType::parallel),
                               vector::IteratorTypeAttr::get(
                                   op.getContext(), IteratorType::reduction),
                               vector::IteratorTypeAttr::get(
                                   op.getContext(), IteratorType::reduction)}));
    return success();
  }
};

} // namespace

void usePairTiles(func::FuncOp function) { TileUser(function).run(); }

LogicalResult lowerPairTiles(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  LLVMTypeConverter toLlvm(context);
  // Loops keep their index variables; only the tiles that they carry change.
  TypeConverter tiles;
  tiles.addConversion([](Type type) { return type; });
  tiles.addConversion([](amx::TileType type) -> Type {
    return LLVM::LLVMX86AMXType::get(type.getContext());
  });
  RewritePatternSet patterns(context);
  LLVMConversionTarget target(*context);

  populateAMXLegalizeForLLVMExportPatterns(toLlvm, patterns);
  target.addIllegalDialect<amx::AMXDialect>();
  scf::populateSCFStructuralTypeConversionsAndLegality(tiles, patterns, target);
  return applyPartialConversion(function, target, std::move(patterns));
}

LogicalResult replacePairTiles(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  TypeConverter types;
  types.addConversion([](Type type) { return type; });
  types.addConversion([](amx::TileType type) -> Type {
    return VectorType::get(type.getShape(), type.getElementType());
  });
  RewritePatternSet patterns(context);
  ConversionTarget target(*context);
  target.addIllegalDialect<amx::AMXDialect>();
  target.addLegalDialect<arith::ArithDialect, ub::UBDialect,
                         vector::VectorDialect>();
  scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns, target);
  patterns.add<ReplaceZero, ReplaceLoad, ReplaceStore, ReplaceMultiply>(
      types, context);
  return applyPartialConversion(function, target, std::move(patterns));
}

} // namespace drawloom::cpu
