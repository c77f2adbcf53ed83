//===- OffloadStores.h - stores on each device -----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_TEST_OFFLOADSTORES_H
#define DRAWLOOM_TEST_OFFLOADSTORES_H

#include "drawloom-c/offload.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace drawloom {

constexpr uint64_t mebibyte = uint64_t(1) << 20;
using Bytes = std::vector<char>;

/// Bytes that differ from those of other seeds.
inline Bytes contents(uint64_t seed, uint64_t count) {
  Bytes bytes(count);
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (uint64_t at = 0; at < count; at += sizeof(state)) {
    state = state * 6364136223846793005 + 1442695040888963407;
    std::memcpy(bytes.data() + at, &state,
                std::min<uint64_t>(sizeof(state), count - at));
  }
  return bytes;
}

inline void expectSame(const void *data, const Bytes &wanted) {
  const char *found = static_cast<const char *>(data);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), found));
}

inline std::string message(DrawloomError *error, DrawloomErrorCode code) {
  if (!error)
    return "";
  EXPECT_EQ(drawloomErrorCode(error), code);
  std::string text = drawloomErrorMessage(error);
  drawloomErrorDestroy(error);
  return text;
}
inline std::string message(DrawloomError *error) {
  return message(error, DRAWLOOM_ERROR_STORAGE);
}

/// Of each device, in a folder of its own.
class Stores : public testing::TestWithParam<const char *> {
protected:
  Stores() : folder(testing::TempDir() + "drawloom-store-XXXXXX") {
    if (!::mkdtemp(folder.data()))
      ADD_FAILURE() << folder << ": " << std::strerror(errno);
    name = folder.c_str();
    options.size = sizeof(options);
    options.folders = &name;
    options.folderCount = 1;
    options.capacity = 64 * mebibyte;
    options.memory = 16 * mebibyte;
    options.device = GetParam();
  }
  ~Stores() override {
    if (store)
      EXPECT_EQ(message(drawloomStoreClose(store, -1)), "");
    // Nothing is left in it.
    EXPECT_EQ(::rmdir(folder.c_str()), 0) << std::strerror(errno);
  }
  void open() { ASSERT_EQ(message(drawloomStoreOpen(&options, &store)), ""); }
  DrawloomRecord put(const Bytes &bytes, const char *site = "layer",
                     uint64_t due = DRAWLOOM_DUE_UNKNOWN, uint32_t flags = 0) {
    DrawloomRecord record = {};
    int done = 0;
    EXPECT_EQ(message(drawloomStorePut(store, bytes.data(), bytes.size(), site,
                                       due, flags, -1, &record, &done)),
              "");
    EXPECT_EQ(done, 1);
    return record;
  }
  Bytes get(DrawloomRecord record, uint64_t count) {
    Bytes bytes(count);
    int done = 0;
    EXPECT_EQ(message(drawloomStoreGet(store, record, bytes.data(), -1, nullptr,
                                       &done)),
              "");
    EXPECT_EQ(done, 1);
    return bytes;
  }
  void drop(DrawloomRecord record) {
    EXPECT_EQ(message(drawloomStoreDrop(store, record)), "");
  }
  void finish() {
    int done = 0;
    EXPECT_EQ(message(drawloomStoreFinish(store, -1, &done)), "");
    EXPECT_EQ(done, 1);
  }
  DrawloomStoreCounts counts() {
    DrawloomStoreCounts counts = {};
    counts.size = sizeof(counts);
    drawloomStoreStatistics(store, &counts);
    return counts;
  }

  std::string folder;
  const char *name;
  DrawloomStoreOptions options = {};
  DrawloomStore *store = nullptr;
};

} // namespace drawloom

#endif // DRAWLOOM_TEST_OFFLOADSTORES_H
