//===- ArtifactTest.cpp - compiled programs as bytes ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Artifact.h"
#include "gtest/gtest.h"

using namespace drawloom;

namespace {

Artifact sample() {
  Artifact artifact;
  artifact.target = "cpu";
  Artifact::Entry entry;
  entry.signature.name = "step";
  entry.signature.arguments = {{ElementType::F32, {3, 4}},
                               {ElementType::I64, {}}};
  entry.signature.results = {{ElementType::BF16, {0}}};
  entry.signature.workspaceBytes = 64;
  entry.scratchBytes = 128;
  artifact.entries.push_back(entry);
  artifact.kernels = {"step_kernel0"};
  artifact.code = std::string("code\0with\nanything", 18);
  return artifact;
}

std::string errorOf(llvm::StringRef bytes) {
  llvm::Expected<Artifact> artifact = readArtifact(bytes);
  return artifact ? "" : toString(artifact.takeError());
}

TEST(Artifact, ReadsWhatItWrote) {
  llvm::Expected<Artifact> artifact = readArtifact(writeArtifact(sample()));
  ASSERT_TRUE(bool(artifact)) << toString(artifact.takeError());
  EXPECT_EQ(artifact->target, "cpu");
  EXPECT_EQ(artifact->code, sample().code);
  EXPECT_EQ(artifact->kernels, sample().kernels);
  ASSERT_EQ(artifact->entries.size(), 1u);
  const Artifact::Entry &entry = artifact->entries[0];
  EXPECT_EQ(entry.signature.name, "step");
  EXPECT_EQ(entry.signature.arguments[0].shape, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(entry.signature.arguments[1].element, ElementType::I64);
  EXPECT_EQ(entry.signature.results[0].element, ElementType::BF16);
  EXPECT_EQ(entry.signature.workspaceBytes, 64);
  EXPECT_EQ(entry.scratchBytes, 128);
}

TEST(Artifact, RefusesEveryTruncation) {
  std::string bytes = writeArtifact(sample());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(errorOf(llvm::StringRef(bytes).take_front(size)), "") << size;
}

TEST(Artifact, RefusesEveryFlippedBit) {
  std::string bytes = writeArtifact(sample());
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] ^= 1 << bit;
      EXPECT_NE(errorOf(damaged), "") << at << ", bit " << bit;
    }
}

TEST(Artifact, RefusesMoreBytesThanItSays) {
  EXPECT_EQ(errorOf(writeArtifact(sample()) + "x"),
            "it is cut off or too long");
}

TEST(Artifact, NamesAnotherVersion) {
  std::string bytes = writeArtifact(sample());
  bytes.replace(bytes.find(" 1 "), 3, " 2 ");
  EXPECT_EQ(errorOf(bytes), "it is of version 2, this is version 1");
}

} // namespace
