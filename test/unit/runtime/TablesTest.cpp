//===- TablesTest.cpp - the C interface to tables in files ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom-c/table.h"
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

/// A file of 1,000 rows of four numbers behind a header of one.
class Tables : public testing::Test {
protected:
  static constexpr int64_t rows = 1000;
  Tables()
      : path(testing::TempDir() + "drawloom-rows-" +
             std::to_string(::getpid())) {
    std::vector<int32_t> contents(1 + 4 * rows);
    for (size_t i = 0; i < contents.size(); ++i)
      contents[i] = static_cast<int32_t>(i) - 1;
    std::FILE *out = std::fopen(path.c_str(), "wb");
    std::fwrite(contents.data(), 4, contents.size(), out);
    std::fclose(out);
    file.size = sizeof(file);
    file.path = path.c_str();
    file.offset = 4;
    file.rows = rows;
    file.rowBytes = 16;
  }
  ~Tables() override { std::remove(path.c_str()); }
  static std::string message(DrawloomError *error, DrawloomErrorCode code) {
    if (!error)
      return "";
    EXPECT_EQ(drawloomErrorCode(error), code);
    std::string text = drawloomErrorMessage(error);
    drawloomErrorDestroy(error);
    return text;
  }
  void open() {
    ASSERT_EQ(message(drawloomTableOpen(&file, &table), DRAWLOOM_ERROR_FILE),
              "");
  }
  DrawloomFetch *fetch(const std::vector<int64_t> &numbers) {
    DrawloomFetch *started = nullptr;
    EXPECT_EQ(message(drawloomTableFetch(table, numbers.data(), DRAWLOOM_I64,
                                         static_cast<int64_t>(numbers.size()),
                                         &started),
                      DRAWLOOM_ERROR_CALL),
              "");
    return started;
  }
  static std::vector<int32_t> firsts(DrawloomFetch *started, size_t count) {
    void *found = nullptr;
    EXPECT_EQ(
        message(drawloomFetchWait(started, -1, &found), DRAWLOOM_ERROR_FILE),
        "");
    std::vector<int32_t> result;
    for (size_t i = 0; found && i < count; ++i)
      result.push_back(static_cast<int32_t *>(found)[4 * i]);
    return result;
  }

  std::string path;
  DrawloomTableFile file = {};
  DrawloomTable *table = nullptr;
};

TEST_F(Tables, GiveRowsInTheOrderOfTheirNumbers) {
  open();
  DrawloomFetch *started = fetch({999, 0, 7, 8, 7});
  EXPECT_EQ(firsts(started, 5), (std::vector<int32_t>{3996, 0, 28, 32, 28}));
  drawloomFetchDestroy(started);
  DrawloomTableCounts counts = {};
  counts.size = sizeof(counts);
  drawloomTableCount(table, &counts);
  EXPECT_EQ(counts.rows, 5);
  EXPECT_EQ(counts.rowsRead, 4);
  EXPECT_EQ(counts.held, 0);
  EXPECT_EQ(counts.mostHeld, 80);
  drawloomTableClose(table);
}

TEST_F(Tables, KeepMemoryForTheNextFetch) {
  file.memory = 40 * 16;
  open();
  auto addressOf = [&](DrawloomFetch *started) {
    void *found = nullptr;
    EXPECT_EQ(
        message(drawloomFetchWait(started, -1, &found), DRAWLOOM_ERROR_FILE),
        "");
    return found;
  };
  std::vector<int64_t> numbers(32, 5);
  DrawloomFetch *started = fetch(numbers);
  void *first = addressOf(started);
  std::memset(first, 0xff, 32 * 16);
  drawloomFetchDestroy(started);
  // One of about as many rows has the same, and its own rows in it.
  numbers.assign(30, 7);
  started = fetch(numbers);
  EXPECT_EQ(addressOf(started), first);
  EXPECT_EQ(firsts(started, 30), std::vector<int32_t>(30, 28));
  drawloomFetchDestroy(started);
  // Fetches of other sizes find room all the same.
  for (int64_t count : {1, 40, 3, 17, 39, 2}) {
    started = fetch(std::vector<int64_t>(count, 9));
    EXPECT_EQ(firsts(started, count), std::vector<int32_t>(count, 36));
    drawloomFetchDestroy(started);
  }
  drawloomTableClose(table);
}

TEST_F(Tables, ServeThreadsSideBySideAndLetFetchesBeDropped) {
  file.memory = 64 * 16;
  open();
  std::vector<std::thread> threads;
  for (int64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int64_t i = 0; i < 50; ++i) {
        // Each thread holds 13 rows at most, but what has been dropped and is
        // being read takes room as well.
        DrawloomFetch *dropped = fetch({i, thread, 3});
        std::vector<int64_t> numbers;
        for (int64_t k = 0; k < 10; ++k)
          numbers.push_back((thread * 251 + i * 37 + k * 3) % rows);
        DrawloomFetch *started = fetch(numbers);
        std::vector<int32_t> found = firsts(started, numbers.size());
        ASSERT_EQ(found.size(), numbers.size());
        for (size_t k = 0; k < numbers.size(); ++k)
          EXPECT_EQ(found[k], 4 * numbers[k]);
        drawloomFetchDestroy(dropped);
        drawloomFetchDestroy(started);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  DrawloomTableCounts counts = {};
  counts.size = sizeof(counts);
  // A fetch that was dropped while it was read gives its memory back then.
  do
    drawloomTableCount(table, &counts);
  while (counts.held != 0);
  EXPECT_EQ(counts.fetches, 400);
  EXPECT_LE(counts.mostHeld, file.memory);
  drawloomTableClose(table);
}

TEST_F(Tables, RefuseWhatCannotBeRead) {
  open();
  int32_t wrong[] = {3, 1000};
  DrawloomFetch *started = nullptr;
  EXPECT_EQ(message(drawloomTableFetch(table, wrong, DRAWLOOM_I32, 2, &started),
                    DRAWLOOM_ERROR_CALL),
            "row 1000, entry 1 of the numbers, is out of range: the table has "
            "1000 rows");
  EXPECT_EQ(message(drawloomTableFetch(table, wrong, DRAWLOOM_F32, 2, &started),
                    DRAWLOOM_ERROR_CALL),
            "numbers of rows are integers of 32 or 64 bits");
  EXPECT_EQ(started, nullptr);
  drawloomTableClose(table);
  file.rows = 1001;
  EXPECT_NE(message(drawloomTableOpen(&file, &table), DRAWLOOM_ERROR_FILE)
                .find("has 16004 bytes, but 1001 rows of 16 bytes behind 4 "
                      "need 16020"),
            std::string::npos);
  EXPECT_EQ(table, nullptr);
  for (auto wrongField :
       {&DrawloomTableFile::offset, &DrawloomTableFile::rowBytes,
        &DrawloomTableFile::memory, &DrawloomTableFile::readers}) {
    DrawloomTableFile given = file;
    given.*wrongField = -1;
    EXPECT_NE(message(drawloomTableOpen(&given, &table), DRAWLOOM_ERROR_FILE)
                  .find("cannot be"),
              std::string::npos);
  }
}

} // namespace
