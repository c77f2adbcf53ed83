//===- NumpyTest.cpp - .npy and .npz files, whole and damaged -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Numpy/Numpy.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/resource.h>

using namespace drawloom;
using numpy::Array;

namespace {
/// A version 1.0 file with the header text given.
std::string file(const std::string &header, const std::string &data) {
  std::string contents = std::string("\x93NUMPY\x01\x00", 8);
  contents += static_cast<char>(header.size() & 255);
  contents += static_cast<char>(header.size() >> 8);
  return contents + header + data;
}

std::string header(const std::string &type, const std::string &shape,
                   bool fortran = false) {
  return "{'descr': '" + type +
         "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

std::string bytesOf(std::vector<float> values) {
  return std::string(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(float));
}

std::vector<float> floatsOf(const Array &array) {
  std::vector<float> values(array.bytes.size() / sizeof(float));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

std::string messageOf(const std::string &contents) {
  llvm::Expected<Array> array = numpy::parseNpy(contents);
  return array ? "" : llvm::toString(array.takeError());
}

/// A folder that goes away with the test.
struct Folder {
  Folder() { llvm::sys::fs::createUniqueDirectory("numpy-test", path); }
  ~Folder() { llvm::sys::fs::remove_directories(path); }
  std::string operator/(const char *name) const {
    return (path + "/" + name).str();
  }
  unsigned files() const {
    std::error_code code;
    unsigned count = 0;
    for (llvm::sys::fs::directory_iterator it(path, code), end;
         it != end && !code; it.increment(code))
      ++count;
    return count;
  }
  llvm::SmallString<128> path;
};

Array matrix() { return {'f', 4, {2, 3}, bytesOf({1, 2, 3, 4, 5, 6})}; }
} // namespace

TEST(Npy, RoundTrips) {
  llvm::Expected<Array> read = numpy::parseNpy(numpy::formatNpy(matrix()));
  ASSERT_TRUE(static_cast<bool>(read));
  EXPECT_EQ(read->shape, matrix().shape);
  EXPECT_EQ(read->bytes, matrix().bytes);
  EXPECT_EQ(read->typeName(), "float32");
}

TEST(Npy, RoundTripsScalarsAndVectors) {
  for (const std::vector<int64_t> &shape : {std::vector<int64_t>{}, {1}}) {
    llvm::Expected<Array> read =
        numpy::parseNpy(numpy::formatNpy({'f', 4, shape, bytesOf({7})}));
    ASSERT_TRUE(static_cast<bool>(read));
    EXPECT_EQ(read->shape, shape);
  }
}

TEST(Npy, DataStartsAtAMultipleOf64Bytes) {
  std::string contents = numpy::formatNpy(matrix());
  EXPECT_EQ((contents.size() - matrix().bytes.size()) % 64, 0u);
}

TEST(Npy, EmptyArraysHaveNoData) {
  llvm::Expected<Array> read =
      numpy::parseNpy(file(header("<f4", "(0, 3)"), ""));
  ASSERT_TRUE(static_cast<bool>(read));
  EXPECT_EQ(read->elements(), 0);
}

TEST(Npy, ColumnsFirstBecomesRowsFirst) {
  llvm::Expected<Array> read = numpy::parseNpy(
      file(header("<f4", "(2, 3)", true), bytesOf({1, 4, 2, 5, 3, 6})));
  ASSERT_TRUE(static_cast<bool>(read));
  EXPECT_EQ(floatsOf(*read), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, BigEndianBecomesLittleEndian) {
  std::string one("\x3f\x80\x00\x00", 4);
  llvm::Expected<Array> read =
      numpy::parseNpy(file(header(">f4", "(1,)"), one));
  ASSERT_TRUE(static_cast<bool>(read));
  EXPECT_EQ(floatsOf(*read), std::vector<float>{1});
}

TEST(Npy, ReadsVersionTwo) {
  std::string text = header("<f4", "(1,)");
  std::string contents("\x93NUMPY\x02\x00", 8);
  contents += static_cast<char>(text.size());
  contents += std::string(3, '\0');
  llvm::Expected<Array> read = numpy::parseNpy(contents + text + bytesOf({3}));
  ASSERT_TRUE(static_cast<bool>(read));
  EXPECT_EQ(floatsOf(*read), std::vector<float>{3});
}

TEST(Npy, RefusesOtherFiles) {
  EXPECT_EQ(messageOf("P6 640 480 255"),
            "not a .npy file: it does not begin with \\x93NUMPY");
}

TEST(Npy, RefusesEveryTruncation) {
  std::string whole = numpy::formatNpy(matrix());
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(messageOf(whole.substr(0, length)), "") << length;
}

TEST(Npy, SaysHowMuchDataIsMissing) {
  EXPECT_EQ(messageOf(file(header("<f4", "(2, 3)"), "12345")),
            "shape [2, 3] of float32 needs 24 bytes of data, but the .npy file "
            "has 5 (truncated?)");
}

TEST(Npy, RefusesDataBehindTheArray) {
  EXPECT_EQ(messageOf(file(header("<f4", "(1,)"), "123456")),
            "shape [1] of float32 needs 4 bytes of data, but the .npy file has "
            "6");
}

TEST(Npy, RefusesShapesBeyond64Bits) {
  EXPECT_EQ(messageOf(file(header("<f4", "(4611686018427387904, 4)"), "")),
            "shape [4611686018427387904, 4] has more elements than fit into 64 "
            "bits");
}

TEST(Npy, RefusesNegativeExtents) {
  EXPECT_EQ(messageOf(file(header("<f4", "(-1,)"), "")),
            "the .npy header is malformed: 'shape' is not a tuple of extents");
}

TEST(Npy, RefusesHugeHeaders) {
  std::string contents("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13);
  EXPECT_EQ(messageOf(contents), "the .npy header claims 4294967295 bytes; at "
                                 "most 10000 are read");
}

TEST(Npy, RefusesUnknownVersions) {
  EXPECT_EQ(messageOf(std::string("\x93NUMPY\x09\x00", 8)),
            "version 9 of the .npy format is not known");
}

TEST(Npy, RefusesPythonObjects) {
  EXPECT_EQ(messageOf(file(header("|O", "(1,)"), "")),
            "arrays of Python objects are not supported");
}

TEST(Npy, RefusesStructuredTypes) {
  EXPECT_EQ(messageOf(file("{'descr': [('a', '<f4')], }", "")),
            "the .npy header is malformed: structured types are not supported");
}

TEST(Npy, RefusesUnknownElementTypes) {
  for (const char *type : {"<c8", "<f16", "<U3", "f", "", "<i3", "|b8"})
    EXPECT_EQ(messageOf(file(header(type, "(1,)"), "")),
              std::string("element type '") + type + "' is not supported");
}

TEST(Npy, RefusesMalformedHeaders) {
  for (const char *text :
       {"", "{", "{'descr'}", "{'descr': }", "{'shape': (2}", "nonsense",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
        "{'descr': '<f4', 'color': 'red'}", "{'descr': 'unclosed}"})
    EXPECT_NE(messageOf(file(text, "")).find("the .npy header is malformed: "),
              std::string::npos)
        << text;
}

TEST(Npz, RoundTripsInOrder) {
  Folder folder;
  Array scalar{'i', 8, {}, std::string(8, '\1')};
  ASSERT_FALSE(static_cast<bool>(numpy::writeFile(
      folder / "a.npz", {{"zebra", matrix()}, {"apple", scalar}})));
  llvm::Expected<std::vector<numpy::NamedArray>> read =
      numpy::readFile(folder / "a.npz");
  ASSERT_TRUE(static_cast<bool>(read));
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].first, "zebra");
  EXPECT_EQ((*read)[0].second.bytes, matrix().bytes);
  EXPECT_EQ((*read)[1].first, "apple");
  EXPECT_EQ((*read)[1].second.bytes, scalar.bytes);
}

TEST(Npz, RefusesEveryTruncation) {
  Folder folder;
  ASSERT_FALSE(
      static_cast<bool>(numpy::writeFile(folder / "a.npz", {{"x", matrix()}})));
  auto buffer = llvm::MemoryBuffer::getFile(folder / "a.npz");
  ASSERT_TRUE(static_cast<bool>(buffer));
  llvm::StringRef whole = (*buffer)->getBuffer();
  for (size_t length = 0; length < whole.size(); ++length) {
    auto read = numpy::parseNpz(whole.take_front(length));
    EXPECT_FALSE(static_cast<bool>(read)) << length;
    llvm::consumeError(read.takeError());
  }
}

TEST(Npz, RefusesDamagedData) {
  Folder folder;
  ASSERT_FALSE(
      static_cast<bool>(numpy::writeFile(folder / "a.npz", {{"x", matrix()}})));
  auto buffer = llvm::MemoryBuffer::getFile(folder / "a.npz");
  ASSERT_TRUE(static_cast<bool>(buffer));
  std::string damaged = (*buffer)->getBuffer().str();
  // The last byte of the array's data: only the checksum can tell.
  size_t data = damaged.find(matrix().bytes);
  ASSERT_NE(data, std::string::npos);
  damaged[data + matrix().bytes.size() - 1] ^= 1;
  auto read = numpy::parseNpz(damaged);
  ASSERT_FALSE(static_cast<bool>(read));
  EXPECT_EQ(llvm::toString(read.takeError()), "entry 'x.npy': CRC error");
}

TEST(Files, NamesAFileThatIsNotThere) {
  auto read = numpy::readFile("no/such/file.npy");
  ASSERT_FALSE(static_cast<bool>(read));
  EXPECT_EQ(llvm::toString(read.takeError()),
            "cannot read 'no/such/file.npy': No such file or directory");
}

TEST(Files, NamesAFolderThatIsNotThere) {
  EXPECT_EQ(
      llvm::toString(numpy::writeFileAtomically("no/such/folder/x.npy", "x")),
      "cannot write 'no/such/folder/x.npy': No such file or directory");
}

TEST(Files, AFailedWriteLeavesTheOldContents) {
  Folder folder;
  ASSERT_FALSE(
      static_cast<bool>(numpy::writeFileAtomically(folder / "x", "old")));
  // As on a full disk, but for this process only: no file beyond 10 bytes.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 10;
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message = llvm::toString(
      numpy::writeFileAtomically(folder / "x", std::string(1000, 'n')));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(message, "cannot write '" + (folder / "x") + "': File too large");
  EXPECT_EQ(folder.files(), 1u);
  auto contents = llvm::MemoryBuffer::getFile(folder / "x");
  ASSERT_TRUE(static_cast<bool>(contents));
  EXPECT_EQ((*contents)->getBuffer(), "old");
}

TEST(Files, ReplacesTheOldContentsAndLeavesNoOtherFile) {
  Folder folder;
  ASSERT_FALSE(
      static_cast<bool>(numpy::writeFileAtomically(folder / "x", "old")));
  ASSERT_FALSE(
      static_cast<bool>(numpy::writeFileAtomically(folder / "x", "new")));
  EXPECT_EQ(folder.files(), 1u);
  auto contents = llvm::MemoryBuffer::getFile(folder / "x");
  ASSERT_TRUE(static_cast<bool>(contents));
  EXPECT_EQ((*contents)->getBuffer(), "new");
}
