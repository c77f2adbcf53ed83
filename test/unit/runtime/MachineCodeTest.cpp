//===- MachineCodeTest.cpp - object files loaded into this process --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/MachineCode.h"
#include "drawloom/runtime/Files.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <elf.h>
#include <thread>
#include <vector>

using namespace drawloom::runtime;

namespace {

/// LoadedCode.c, compiled for the test.
std::string object() {
  Result<std::string> bytes = readFile(DRAWLOOM_LOADED_CODE);
  EXPECT_TRUE(bytes.ok()) << bytes.message();
  return *bytes;
}

/// The same that refers to a function that no program may call.
std::string foreignObject() {
  Result<std::string> bytes = readFile(DRAWLOOM_FOREIGN_CODE);
  EXPECT_TRUE(bytes.ok()) << bytes.message();
  return *bytes;
}

template <typename Fn> Fn *find(const MachineCode &code, const char *name) {
  return reinterpret_cast<Fn *>(code.find(name));
}

std::string errorOf(std::string_view bytes) {
  Result<std::unique_ptr<MachineCode>> code = MachineCode::load(bytes);
  return code.ok() ? "" : code.message();
}

class Loaded : public ::testing::Test {
protected:
  void SetUp() override {
    Result<std::unique_ptr<MachineCode>> loaded = MachineCode::load(object());
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    code = std::move(*loaded);
  }
  std::unique_ptr<MachineCode> code;
};

TEST_F(Loaded, FunctionsCallEachOther) {
  EXPECT_EQ(find<int(int)>(*code, "factorial")(10), 3628800);
}

TEST_F(Loaded, ConstantsAreInMemory) {
  auto *weekday = find<int(int)>(*code, "pick");
  EXPECT_EQ(weekday(0), 11);
  EXPECT_EQ(weekday(7), 88);
  EXPECT_EQ(find<const char *(int)>(*code, "name")(2), std::string("two"));
}

TEST_F(Loaded, JumpTablesWork) {
  auto *choose = find<double(int, double)>(*code, "choose");
  for (int which = 0; which < 8; ++which)
    EXPECT_NE(choose(which, 0.5), 0) << which;
  EXPECT_EQ(choose(9, 0.5), -1);
}

TEST_F(Loaded, TheCLibraryIsCalled) {
  EXPECT_EQ(find<double(double)>(*code, "arctangent")(0.3), std::atan(0.3));
  std::vector<char> from(100000, 'x'), to(100000);
  find<void(char *, const char *, unsigned long)>(*code, "copy")(
      to.data(), from.data(), from.size());
  EXPECT_EQ(to, from);
}

TEST_F(Loaded, VariablesStartAsTheyWereAndChange) {
  auto *count = find<int()>(*code, "count");
  EXPECT_EQ(count(), 42);
  EXPECT_EQ(count(), 43);
  auto *sum = find<long(long)>(*code, "accumulate");
  EXPECT_EQ(sum(5), 5);
  EXPECT_EQ(sum(6), 11);
  // Of another load they are others.
  Result<std::unique_ptr<MachineCode>> again = MachineCode::load(object());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(find<int()>(**again, "count")(), 42);
}

TEST_F(Loaded, OnlyGlobalSymbolsAreFound) {
  EXPECT_NE(code->find("factorial"), nullptr);
  EXPECT_EQ(code->find("hidden"), nullptr);
  EXPECT_EQ(code->find(""), nullptr);
  EXPECT_EQ(code->find("memcpy"), nullptr);
}

TEST_F(Loaded, TakesWholePages) {
  EXPECT_GT(code->bytes(), 0u);
  EXPECT_EQ(code->bytes() % 4096, 0u);
}

TEST(MachineCode, RefusesForeignFunctionsByName) {
  EXPECT_EQ(errorOf(foreignObject()),
            "the generated code refers to system, which no program may call");
}

TEST(MachineCode, RefusesWhatIsNoObject) {
  for (const char *text : {"", "x", "func.func @f() { return }"})
    EXPECT_NE(errorOf(text), "") << text;
  EXPECT_NE(errorOf(std::string(4096, '\0')), "");
}

/// The object with one field of a header replaced.
template <typename Header, typename Fn>
std::string with(size_t offset, Fn change) {
  std::string bytes = object();
  Header header;
  std::memcpy(&header, bytes.data() + offset, sizeof(header));
  change(header);
  std::memcpy(bytes.data() + offset, &header, sizeof(header));
  return bytes;
}

TEST(MachineCode, RefusesOtherKindsOfFile) {
  auto refused = [](auto change) {
    return errorOf(with<Elf64_Ehdr>(0, change)) != "";
  };
  EXPECT_TRUE(refused([](Elf64_Ehdr &h) { h.e_type = ET_DYN; }));
  EXPECT_TRUE(refused([](Elf64_Ehdr &h) { h.e_machine = EM_AARCH64; }));
  EXPECT_TRUE(refused([](Elf64_Ehdr &h) { h.e_ident[EI_CLASS] = ELFCLASS32; }));
  EXPECT_TRUE(refused([](Elf64_Ehdr &h) { h.e_shoff = ~uint64_t(0); }));
  EXPECT_TRUE(refused([](Elf64_Ehdr &h) { h.e_shnum = 0xffff; }));
  EXPECT_TRUE(refused([](Elf64_Ehdr &h) { h.e_shentsize = 1; }));
}

/// Every section's header with each of its fields spoilt: the file is refused
/// or loaded, but no memory but its own is touched.
TEST(MachineCode, AnySectionMayBeSpoilt) {
  std::string bytes = object();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (unsigned i = 0; i < header.e_shnum; ++i)
    for (size_t field = 0; field < sizeof(Elf64_Shdr); field += 4)
      for (uint32_t value : {0u, 1u, 7u, 0x7fffffffu, 0xffffffffu}) {
        std::string spoilt = bytes;
        std::memcpy(spoilt.data() + header.e_shoff + i * sizeof(Elf64_Shdr) +
                        field,
                    &value, sizeof(value));
        errorOf(spoilt);
      }
}

TEST(MachineCode, AnyBitMayBeSpoilt) {
  std::string bytes = object();
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; bit += 7) {
      std::string spoilt = bytes;
      spoilt[at] = static_cast<char>(spoilt[at] ^ 1 << bit);
      errorOf(spoilt);
    }
}

TEST(MachineCode, EveryTruncationIsRefused) {
  std::string bytes = object();
  // Sections' headers are the last part of the file.
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(errorOf(std::string_view(bytes).substr(0, size)), "") << size;
}

TEST(MachineCode, IsLoadedByManyThreadsAtOnce) {
  std::string bytes = object();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        Result<std::unique_ptr<MachineCode>> code = MachineCode::load(bytes);
        ASSERT_TRUE(code.ok());
        EXPECT_EQ(find<int(int)>(**code, "factorial")(5), 120);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
