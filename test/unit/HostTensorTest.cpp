//===- HostTensorTest.cpp -------------------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/HostTensor.h"
#include <gtest/gtest.h>

using drawloom::HostTensor;

TEST(HostTensor, StartsAtZero) {
  HostTensor t(true, {2, 3});
  EXPECT_EQ(t.size(), 6);
  EXPECT_EQ(t.f({1, 2}), 0.0);
}

TEST(HostTensor, IsRowMajor) {
  HostTensor t(false, {2, 3});
  EXPECT_EQ(t.offset({1, 2}), 5);
}

TEST(HostTensor, CopiesShareUntilWritten) {
  HostTensor a(true, {2});
  HostTensor b = a;
  b.mutableF()[0] = 1.0;
  EXPECT_EQ(a.f({0}), 0.0);
  EXPECT_EQ(b.f({0}), 1.0);
}

TEST(HostTensor, ReshapeKeepsElements) {
  HostTensor a(true, {2, 2});
  a.mutableF()[3] = 7.0;
  EXPECT_EQ(a.reshaped({4}).f({3}), 7.0);
}

TEST(HostTensor, MayBeEmpty) {
  HostTensor t(true, {0, 3});
  EXPECT_EQ(t.size(), 0);
}
