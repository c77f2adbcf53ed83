//===- ArtifactTest.cpp - compiled programs as bytes ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Artifact.h"
#include "drawloom/OpenExtent.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "gtest/gtest.h"

using namespace drawloom;

namespace {

Artifact::Variant variant(const char *isa, int64_t scratchBytes,
                          const char *target = "cpu") {
  Artifact::Entry entry;
  entry.signature.name = "step";
  entry.signature.arguments = {{ElementType::F32, {3, 4}},
                               {ElementType::I64, {}}};
  entry.signature.results = {{ElementType::BF16, {0}}};
  entry.signature.workspaceBytes = 64;
  entry.scratchBytes = scratchBytes;
  return {isa,
          std::string(isa) + " of any machine",
          {entry},
          {"step_kernel0"},
          std::string("code\0with\n", 10) + isa,
          {"avx2", "fma"},
          "00ff",
          target};
}

/// Two sets, which need different memory, and two architectures of a GPU.
Artifact sample() {
  return {{variant("avx2", 128), variant("baseline", 96),
           variant("sm_90a", 0, "cuda"), variant("sm_80", 0, "cuda")}};
}

std::string errorOf(llvm::StringRef bytes) {
  llvm::Expected<Artifact> artifact = readArtifact(bytes);
  return artifact ? "" : toString(artifact.takeError());
}

TEST(Artifact, ReadsWhatItWrote) {
  llvm::Expected<Artifact> artifact = readArtifact(writeArtifact(sample()));
  ASSERT_TRUE(bool(artifact)) << toString(artifact.takeError());
  EXPECT_EQ(artifact->targets(), (std::vector<std::string>{"cpu", "cuda"}));
  ASSERT_EQ(artifact->variants.size(), 4u);
  for (auto [i, read] : llvm::enumerate(artifact->variants)) {
    Artifact::Variant written = sample().variants[i];
    EXPECT_EQ(read.isa, written.isa);
    EXPECT_EQ(read.target, written.target);
    EXPECT_EQ(read.fingerprint, written.fingerprint);
    EXPECT_EQ(read.code, written.code);
    EXPECT_EQ(read.kernels, written.kernels);
    EXPECT_EQ(read.features, written.features);
    EXPECT_EQ(read.processor, written.processor);
    ASSERT_EQ(read.entries.size(), 1u);
    const Artifact::Entry &entry = read.entries[0];
    EXPECT_EQ(entry.signature.name, "step");
    EXPECT_EQ(entry.signature.arguments[0].shape, (std::vector<int64_t>{3, 4}));
    EXPECT_EQ(entry.signature.arguments[1].element, ElementType::I64);
    EXPECT_EQ(entry.signature.results[0].element, ElementType::BF16);
    EXPECT_EQ(entry.signature.workspaceBytes, 64);
    EXPECT_EQ(entry.scratchBytes, written.entries[0].scratchBytes);
  }
}

TEST(Artifact, KeepsNames) {
  Artifact artifact = sample();
  for (Artifact::Variant &variant : artifact.variants) {
    variant.entries[0].signature.arguments[0].name = "x";
    variant.entries[0].signature.results[0].name = "y";
  }
  llvm::Expected<Artifact> read = readArtifact(writeArtifact(artifact));
  ASSERT_TRUE(bool(read)) << toString(read.takeError());
  const Signature &signature = read->variants[1].entries[0].signature;
  EXPECT_EQ(signature.arguments[0].name, "x");
  EXPECT_EQ(signature.arguments[1].name, "");
  EXPECT_EQ(signature.results[0].name, "y");
}

TEST(Artifact, RefusesANameThatTwoArgumentsHave) {
  Artifact artifact = sample();
  for (ValueType &type : artifact.variants[2].entries[0].signature.arguments)
    type.name = "x";
  EXPECT_EQ(errorOf(writeArtifact(artifact)),
            "two arguments of @step are named 'x'");
}

TEST(Artifact, RefusesToHoldNothing) {
  Artifact artifact = sample();
  artifact.variants.clear();
  EXPECT_EQ(errorOf(writeArtifact(artifact)),
            "it holds code for no instruction set");
}

TEST(Artifact, RefusesASetThatIsThereTwice) {
  Artifact artifact = sample();
  artifact.variants[1].isa = "avx2";
  EXPECT_EQ(errorOf(writeArtifact(artifact)),
            "it holds instruction set 'avx2' twice");
}

TEST(Artifact, RefusesVariantsWithOtherFunctions) {
  using Entries = std::vector<Artifact::Entry>;
  using Change = void (*)(Entries &);
  for (Change change : std::initializer_list<Change>{
           [](Entries &e) { e[0].signature.name = "leap"; },
           [](Entries &e) { e[0].signature.arguments[0].shape = {4, 3}; },
           [](Entries &e) {
             e[0].signature.results[0].element = ElementType::F16;
           },
           [](Entries &e) { e[0].signature.results.clear(); },
           [](Entries &e) { e.push_back(e[0]); },
           [](Entries &e) { e.clear(); }}) {
    Artifact artifact = sample();
    change(artifact.variants[1].entries);
    EXPECT_EQ(errorOf(writeArtifact(artifact)),
              "its functions for 'avx2' and 'baseline' differ");
  }
}

/// The artifact's bytes with `from` in its description replaced and the first
/// line made to fit.
std::string withDescription(llvm::StringRef from, llvm::StringRef to,
                            const Artifact &artifact = sample()) {
  std::string bytes = writeArtifact(artifact);
  std::string payload = bytes.substr(bytes.find('\n') + 1);
  payload.replace(payload.find(from), from.size(), to.str());
  llvm::SmallVector<llvm::StringRef> fields;
  llvm::StringRef(bytes).split('\n').first.split(fields, ' ');
  size_t description = 0;
  EXPECT_FALSE(fields[2].getAsInteger(10, description));
  return (fields[0] + " " + fields[1] + " " +
          llvm::Twine(description + to.size() - from.size()) + " " + fields[3] +
          " " +
          llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(payload)),
                      /*LowerCase=*/true) +
          "\n" + payload)
      .str();
}

TEST(Artifact, RefusesLengthsThatAreNotThoseOfItsCode) {
  std::string lengths = "\"code_bytes\":[14,18,16,15]";
  EXPECT_EQ(errorOf(withDescription(lengths, lengths)), "");
  for (const char *wrong :
       {"[14]", "[]", "[14,18,16,15,0]", "[13,18,16,15]", "[14,19,16,15]",
        "[60,1,1,2]", "[9223372036854775807,9223372036854775807]"})
    EXPECT_EQ(errorOf(withDescription(lengths,
                                      std::string("\"code_bytes\":") + wrong)),
              "its description does not fit its code")
        << wrong;
  EXPECT_EQ(errorOf(withDescription(lengths, "\"code_bytes\":[-1,33,16,15]")),
            "its description is damaged: 'code_bytes' has what is no size");
}

TEST(Artifact, RefusesADescriptionThatIsWrong) {
  for (auto [from, to, why] :
       {std::tuple("\"element\":\"i64\"", "\"element\":\"i65\"",
                   "'element' is none that this version knows"),
        std::tuple("[3,4]", "[3,-4]",
                   "'shape' has an extent that its function has not"),
        std::tuple("[3,4]", "[3,4611686018427387904]",
                   "'shape' has extents that no memory has"),
        std::tuple("[3,4]", "{}", "'shape' is no list"),
        std::tuple("\"scratch_bytes\":128", "\"scratch_bytes\":-128",
                   "'scratch_bytes' is no size"),
        std::tuple("\"workspace_bytes\":64", "\"workspace_bytes\":6.5",
                   "'workspace_bytes' is no size"),
        std::tuple("\"workspace_bytes\":64",
                   "\"workspace_bytes\":18446744073709551615",
                   "'workspace_bytes' is no size"),
        std::tuple("\"kernels\":[", "\"kernels\":[7,",
                   "'kernels' has what is no text"),
        std::tuple("\"name\":\"step\"", "\"none\":\"step\"",
                   "'name' is missing")})
    EXPECT_EQ(errorOf(withDescription(from, to)),
              std::string("its description is damaged: ") + why)
        << to;
  EXPECT_EQ(errorOf(withDescription("{", "{{")),
            "its description is damaged: it is no JSON");
}

TEST(Artifact, RefusesAFunctionThatIsThereTwice) {
  Artifact artifact = sample();
  for (Artifact::Variant &variant : artifact.variants)
    variant.entries.push_back(variant.entries.front());
  EXPECT_EQ(errorOf(writeArtifact(artifact)), "it holds function @step twice");
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
  for (const char *version : {"1", "9", "x", "-3", "99999999999999999999"}) {
    std::string bytes = writeArtifact(sample());
    bytes.replace(bytes.find(" 8 ") + 1, 1, version);
    EXPECT_EQ(errorOf(bytes), "it is of version " + std::string(version) +
                                  ", this is version 8");
  }
}

TEST(Artifact, OneSetMayBeOfTwoTargets) {
  Artifact artifact = sample();
  artifact.variants[0].isa = artifact.variants[2].isa = "native";
  EXPECT_EQ(errorOf(writeArtifact(artifact)), "");
}

TEST(Artifact, IsLoadedForTheTargetThatIsAskedFor) {
  auto chosen = [](const Artifact &artifact, const char *asked) {
    runtime::Result<runtime::TargetDevice> target =
        runtime::chooseTarget(artifact, asked);
    if (!target.ok())
      return target.message();
    return target->name +
           (target->device < 0 ? "" : ":" + std::to_string(target->device));
  };
  EXPECT_EQ(chosen(sample(), ""), "cpu");
  EXPECT_EQ(chosen(sample(), "cuda"), "cuda");
  EXPECT_EQ(chosen(sample(), "cuda:12"), "cuda:12");
  for (const char *wrong : {"cuda:", "cuda:x", "cuda:-1", "cuda:1:2", "cpu:0"})
    EXPECT_EQ(chosen(sample(), wrong),
              "'" + std::string(wrong) +
                  "' is no target: a device is named as in 'cuda:1'");
  EXPECT_EQ(chosen(sample(), "abacus"),
            "the program holds no code for target 'abacus'; it has code for "
            "'cpu', 'cuda'");
  Artifact gpu = {{variant("sm_80", 0, "cuda")}};
  EXPECT_EQ(chosen(gpu, ""), "cuda");
  EXPECT_EQ(chosen(gpu, "cpu"),
            "the program holds no code for target 'cpu'; it has code for "
            "'cuda'");
}

/// Takes rows of four and as many numbers, gives as many rows of two; 16 bytes
/// of workspace a row.
Signature openSignature() {
  Signature signature;
  signature.name = "f";
  signature.arguments = {{ElementType::F32, {-1, 4}}, {ElementType::F32, {-1}}};
  signature.results = {{ElementType::F32, {-1, 2}}};
  signature.workspaceBytes = 128;
  signature.openExtents = 1;
  signature.workspaceTerms = {{16, {0}}};
  return signature;
}

std::string refusal(const std::vector<std::vector<int64_t>> &shapes) {
  runtime::Result<BoundSignature> bound =
      runtime::bind(openSignature(), shapes);
  return bound.ok() ? "" : bound.message();
}

TEST(Artifact, OpenExtentsAreThoseOfACall) {
  runtime::Result<BoundSignature> bound =
      runtime::bind(openSignature(), {{65, 4}, {65}});
  ASSERT_TRUE(bound.ok()) << bound.message();
  EXPECT_EQ(bound->extents, std::vector<int64_t>{65});
  EXPECT_FALSE(bound->signature.isOpen());
  EXPECT_EQ(bound->signature.results[0].shape, (std::vector<int64_t>{65, 2}));
  // Of 128 rows: the workspace is cut at multiples of 64.
  EXPECT_EQ(bound->signature.workspaceBytes, 128 + 128 * 16);
}

TEST(Artifact, NoRowsNeedNoWorkspaceOfRows) {
  runtime::Result<BoundSignature> bound =
      runtime::bind(openSignature(), {{0, 4}, {0}});
  ASSERT_TRUE(bound.ok()) << bound.message();
  EXPECT_EQ(bound->signature.workspaceBytes, 128);
}

TEST(Artifact, AnExtentMayBeLargerThanAnotherByAConstant) {
  // Boundaries, then the lengths between them.
  Signature signature = openSignature();
  signature.arguments[0].shape = {OpenExtent{0, 1}.inShape()};
  auto bind = [&](int64_t boundaries, int64_t lengths) {
    return runtime::bind(signature, {{boundaries}, {lengths}});
  };
  runtime::Result<BoundSignature> bound = bind(4, 3);
  ASSERT_TRUE(bound.ok()) << bound.message();
  EXPECT_EQ(bound->extents, std::vector<int64_t>{3});
  EXPECT_EQ(bound->signature.arguments[0].shape, std::vector<int64_t>{4});
  EXPECT_EQ(bound->signature.results[0].shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(bind(4, 4).message(),
            "argument 1 of @f is given with extent 4 in dimension 0, which has "
            "to be that of dimension 0 of argument 0 minus 1, 3");
  EXPECT_EQ(bind(0, 0).message(), "argument 0 of @f is given with extent 0 in "
                                  "dimension 0, where it has at least 1");
  std::swap(signature.arguments[0], signature.arguments[1]);
  EXPECT_EQ(bind(4, 4).message(),
            "argument 1 of @f is given with extent 4 in dimension 0, which has "
            "to be that of dimension 0 of argument 0 plus 1, 5");
}

TEST(Artifact, RefusesExtentsThatDoNotFit) {
  EXPECT_EQ(refusal({{3, 4}, {5}}),
            "argument 1 of @f is given with extent 5 in dimension 0, which has "
            "to be that of dimension 0 of argument 0, 3");
  EXPECT_EQ(refusal({{3, 5}, {3}}),
            "argument 0 of @f is given with extent 5 in "
            "dimension 1, where it has 4");
  EXPECT_EQ(refusal({{3}, {3}}),
            "argument 0 of @f has rank 2, but is given with rank 1");
  EXPECT_EQ(refusal({{3, 4}}), "@f has 2 arguments, but 1 shapes are given");
  EXPECT_EQ(refusal({{-7, 4}, {3}}),
            "argument 0 of @f is given with extent -7 in dimension 0: an "
            "extent is 0 or more");
  EXPECT_EQ(refusal({{int64_t(1) << 61, 4}, {int64_t(1) << 61}}),
            "argument 0 of @f has more bytes than 64 bits count");
  // Its values are counted, but not its workspace.
  EXPECT_EQ(refusal({{int64_t(1) << 58, 4}, {int64_t(1) << 58}}), "");
  EXPECT_EQ(refusal({{(int64_t(1) << 59) - 1, 4}, {(int64_t(1) << 59) - 1}}),
            "@f needs more workspace than 64 bits count");
}

/// The bytes of workspace that bind() finds for two open extents.
std::string workspaceOf(int64_t rows, int64_t columns,
                        std::vector<MemoryTerm> terms) {
  Signature signature;
  signature.name = "f";
  signature.arguments = {{ElementType::I8, {-1}}, {ElementType::I8, {-2}}};
  signature.openExtents = 2;
  signature.workspaceTerms = std::move(terms);
  runtime::Result<BoundSignature> bound =
      runtime::bind(signature, {{rows}, {columns}});
  return bound.ok() ? std::to_string(bound->signature.workspaceBytes)
                    : bound.message();
}

TEST(Artifact, WorkspaceGrowsWithProductsOfExtents) {
  // Of 15 in all, not of 64 times 64.
  EXPECT_EQ(workspaceOf(3, 5, {{8, {0, 1}}}), "512");
  EXPECT_EQ(workspaceOf(13, 5, {{8, {0, 1}}}), "1024");
  EXPECT_EQ(workspaceOf(9, 100, {{8, {0, 0}}, {2, {1}}}), "1280");
  EXPECT_EQ(workspaceOf(0, 5, {{8, {0, 1}}}), "0");
}

TEST(Artifact, RefusesProductsThatAreNotCounted) {
  std::string refused = "@f needs more workspace than 64 bits count";
  int64_t half = int64_t(1) << 32;
  EXPECT_EQ(workspaceOf(half, half / 4, {{1, {0, 1}}}), "4611686018427387904");
  EXPECT_EQ(workspaceOf(half, half / 2, {{1, {0, 1}}}), refused);
  EXPECT_EQ(workspaceOf(half, half / 4, {{2, {0, 1}}}), refused);
  // Wherever the 0 stands.
  EXPECT_EQ(workspaceOf(0, half, {{1, {0, 1, 1}}}), refused);
  EXPECT_EQ(workspaceOf(0, half, {{1, {1, 1, 0}}}), refused);
}

Artifact openSample() {
  Artifact artifact = sample();
  for (Artifact::Variant &one : artifact.variants) {
    one.entries[0].signature = openSignature();
    one.entries[0].scratchTerms = {{4, {0, 0}}};
  }
  return artifact;
}

TEST(Artifact, RefusesTermsThatAreWrong) {
  for (auto [from, to, why] :
       {std::tuple("\"bytes\":16", "\"bytes\":-1", "'bytes' is no size"),
        std::tuple("{\"bytes\":16,\"extents\":[0]}", "7", "'bytes' is missing"),
        std::tuple("\"extents\":[0]", "\"extents\":[-1]",
                   "'extents' has what is no size"),
        std::tuple("\"extents\":[0]", "\"extents\":[1]",
                   "'workspace_terms' has an extent that its function does not "
                   "have"),
        std::tuple("\"extents\":[0,0]", "\"extents\":[0,1]",
                   "'scratch_terms' has an extent that its function does not "
                   "have"),
        std::tuple("\"extents\":1,", "\"extents\":9223372036854775807,",
                   "'extents' are more than its arguments have"),
        std::tuple("\"extents\":1,", "\"extents\":0,",
                   "'workspace_terms' has an extent that its function does not "
                   "have")})
    EXPECT_EQ(errorOf(withDescription(from, to, openSample())),
              std::string("its description is damaged: ") + why)
        << to;
}

TEST(Artifact, KeepsWhatIsLargerThanAnOpenExtent) {
  auto shapeOf = [](OpenExtent extent) {
    Artifact artifact = openSample();
    for (Artifact::Variant &variant : artifact.variants)
      variant.entries[0].signature.arguments[0].shape[0] = extent.inShape();
    return readArtifact(writeArtifact(artifact));
  };
  llvm::Expected<Artifact> read = shapeOf({0, 1});
  ASSERT_TRUE(bool(read)) << toString(read.takeError());
  const ValueType &type = read->variants[0].entries[0].signature.arguments[0];
  EXPECT_EQ(OpenExtent::ofShape(type.shape[0]).more, 1);
  for (OpenExtent extent : {OpenExtent{7, 1}, OpenExtent{0, int64_t(1) << 30}})
    EXPECT_EQ(toString(shapeOf(extent).takeError()),
              "its description is damaged: 'shape' has an extent that its "
              "function has not");
}

TEST(Artifact, KeepsOpenExtents) {
  llvm::Expected<Artifact> read = readArtifact(writeArtifact(openSample()));
  ASSERT_TRUE(bool(read)) << toString(read.takeError());
  const Signature &signature = read->variants[0].entries[0].signature;
  EXPECT_EQ(signature.arguments[0].shape, (std::vector<int64_t>{-1, 4}));
  EXPECT_EQ(signature.openExtents, 1);
  EXPECT_EQ(signature.workspaceTerms, (std::vector<MemoryTerm>{{16, {0}}}));
  EXPECT_EQ(read->variants[0].entries[0].scratchTerms,
            (std::vector<MemoryTerm>{{4, {0, 0}}}));
}

} // namespace
