// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_INTERFACES_FLOATTYPES_TD
#define DRAWLOOM_DIALECTS_INTERFACES_FLOATTYPES_TD

include "mlir/IR/CommonTypeConstraints.td"

// The element types that every domain op takes. Computation is in f32 for f16
// and bf16, else in the type itself.
def Drawloom_Float : AnyTypeOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;

// A float, a vector or a tensor of floats: operands of elementwise ops.
def Drawloom_FloatLike
    : TypeOrValueSemanticsContainer<Drawloom_Float, "f16, bf16, f32 or f64-like">;

def Drawloom_FloatTensor : RankedTensorOf<[F16, BF16, F32, F64]>;

#endif // DRAWLOOM_DIALECTS_INTERFACES_FLOATTYPES_TD
