//===- Checksum.h - CRC32C of bytes ----------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_CHECKSUM_H
#define DRAWLOOM_RUNTIME_OFFLOAD_CHECKSUM_H

#include <cstddef>
#include <cstdint>

namespace drawloom::runtime::offload {

/// Returns the CRC32C (Castagnoli) of bytes. `before` is the checksum of the
/// bytes in front of them: crc32c(b, m, crc32c(a, n)) is the checksum of a and
/// b together.
uint32_t crc32c(const void *bytes, size_t count, uint32_t before = 0);

/// Copies bytes and returns their checksum as crc32c() would. Large copies
/// bypass the caches: they are for a disk, or exceed the caches. The two ranges
/// must not overlap.
uint32_t copyWithCrc32c(void *to, const void *from, size_t count,
                        uint32_t before = 0);

/// Computes crc32c() by a table, as on processors without an instruction for
/// it.
uint32_t crc32cByTable(const void *bytes, size_t count, uint32_t before = 0);

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_CHECKSUM_H
