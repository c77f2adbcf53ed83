//===- CompileTargetTest.cpp - instruction sets and their variants --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CompileTarget.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace drawloom;
using llvm::StringRef;

namespace {

/// What a variant of the abacus becomes.
class Loaded final : public Program {
public:
  explicit Loaded(StringRef set) : set(set) {}
  StringRef isa() const override { return set; }
  llvm::ArrayRef<Signature> signatures() const override { return {}; }
  llvm::Error run(StringRef, llvm::ArrayRef<const void *>,
                  llvm::ArrayRef<void *>, unsigned, KernelProfile *,
                  llvm::ArrayRef<int64_t>) const override {
    return llvm::Error::success();
  }

private:
  std::string set;
};

/// A target whose instruction sets run or not as a test wants it.
class Abacus final : public CompileTarget {
public:
  explicit Abacus(std::vector<std::string> runs, StringRef machine = "mine",
                  std::optional<std::string> lacks = std::nullopt)
      : runs(std::move(runs)), machine(machine), lacks(std::move(lacks)) {}
  StringRef name() const override { return "abacus"; }
  std::vector<std::string> instructionSets() const override {
    return {"native", "beads12", "beads7", "beads5"};
  }
  void registerDialects(mlir::DialectRegistry &) const override {}
  void registerPasses() const override {}
  void buildPhase(mlir::OpPassManager &, Phase,
                  const CodegenOptions &) const override {}
  llvm::Expected<Artifact::Variant>
  emit(mlir::ModuleOp, const CodegenOptions &) const override {
    return llvm::createStringError("not asked for here");
  }

  /// With code for these sets, made on this machine.
  Artifact artifact(llvm::ArrayRef<StringRef> sets) const {
    Artifact artifact;
    for (StringRef set : sets)
      artifact.variants.push_back(
          {set.str(), fingerprintOf(set), {}, {}, "", {}, "", "abacus"});
    return artifact;
  }

protected:
  std::string fingerprintOf(StringRef isa) const override {
    return isa == "native" ? machine : isa.str();
  }
  std::optional<std::string> lacksFor(StringRef isa) const override {
    if (lacks || isa == "native" || llvm::is_contained(runs, isa))
      return lacks;
    return "its wires are too short";
  }
  llvm::Expected<std::unique_ptr<Program>>
  loadVariant(const Artifact::Variant &variant) const override {
    return std::make_unique<Loaded>(variant.isa);
  }

private:
  std::vector<std::string> runs;
  std::string machine;
  std::optional<std::string> lacks;
};

std::string selected(StringRef isa) {
  auto sets = Abacus({}).selectSets(isa);
  return sets ? llvm::join(*sets, " ") : toString(sets.takeError());
}

/// The set that is loaded, or why none is.
std::string loaded(const Abacus &target, const Artifact &artifact,
                   StringRef isa = "") {
  auto program = target.load(artifact, isa);
  return program ? (*program)->isa().str() : toString(program.takeError());
}

TEST(CompileTarget, SelectsOneSetOrSeveralInItsOwnOrder) {
  EXPECT_EQ(selected("native"), "native");
  EXPECT_EQ(selected("beads5,beads12"), "beads12 beads5");
  EXPECT_EQ(selected("beads5,native,beads5"), "native beads5");
}

TEST(CompileTarget, SelectsAllButNative) {
  EXPECT_EQ(selected("all"), "beads12 beads7 beads5");
  EXPECT_EQ(selected("all,native"), "native beads12 beads7 beads5");
}

TEST(CompileTarget, NamesTheSetsThatThereAre) {
  for (StringRef unknown : {"beads9", ""})
    EXPECT_EQ(selected(("beads5," + unknown).str()),
              ("unknown instruction set '" + unknown +
               "'; known are 'native', 'beads12', 'beads7', 'beads5', and "
               "'all'")
                  .str());
}

TEST(CompileTarget, FingerprintOfNamedSetsIsThatOfEveryMachine) {
  auto print = [](const Abacus &target, const char *isa) {
    return cantFail(target.fingerprint({isa}));
  };
  Abacus mine({}, "mine"), theirs({"beads5"}, "theirs");
  EXPECT_EQ(print(mine, "beads5,beads7"), print(theirs, "beads7,beads5"));
  EXPECT_NE(print(mine, "beads5,beads7"), print(mine, "beads5"));
  EXPECT_NE(print(mine, "native,beads5"), print(theirs, "native,beads5"));
}

TEST(CompileTarget, CompilesWhereAnyOfTheSetsRuns) {
  Abacus target({"beads5"});
  EXPECT_EQ(toString(target.checkRunsHere({"all"})), "");
  EXPECT_EQ(toString(target.checkRunsHere({"beads7"})),
            "this machine cannot run instruction set 'beads7': its wires are "
            "too short; use 'native'");
  EXPECT_EQ(toString(target.checkRunsHere({"beads7,beads12"})),
            "this machine cannot run instruction set 'beads12': its wires are "
            "too short, 'beads7': its wires are too short; use 'native'");
}

TEST(CompileTarget, SaysWhatAMachineLacksThatRunsNoSet) {
  Abacus target({}, "mine", "there is no frame");
  for (StringRef sets : {"native", "beads7", "all"})
    EXPECT_EQ(toString(target.checkRunsHere({sets.str()})),
              "this machine cannot run target 'abacus': there is no frame");
}

TEST(CompileTarget, LoadsTheBestVariantThatRuns) {
  Abacus target({"beads5", "beads7"});
  EXPECT_EQ(loaded(target, target.artifact({"beads5", "beads7"})), "beads7");
  EXPECT_EQ(loaded(target, target.artifact({"beads12", "beads5"})), "beads5");
  EXPECT_EQ(loaded(target, target.artifact({"beads7", "native"})), "native");
}

TEST(CompileTarget, LoadsTheVariantThatIsAskedFor) {
  Abacus target({"beads5", "beads7"});
  Artifact artifact = target.artifact({"beads5", "beads7"});
  EXPECT_EQ(loaded(target, artifact, "beads5"), "beads5");
  EXPECT_EQ(loaded(target, artifact, "beads12"),
            "the program holds no code for instruction set 'beads12'");
}

TEST(CompileTarget, SaysWhyNoVariantRuns) {
  Abacus target({"beads5"});
  EXPECT_EQ(loaded(target, target.artifact({"beads7", "beads12"})),
            "this machine runs none of the instruction sets that the program "
            "holds code for: 'beads12': its wires are too short, 'beads7': its "
            "wires are too short");
}

TEST(CompileTarget, RefusesNativeCodeOfAnotherMachine) {
  Abacus mine({"beads5"}, "mine"), theirs({"beads5"}, "theirs");
  EXPECT_EQ(loaded(theirs, mine.artifact({"native"})),
            "this machine runs none of the instruction sets that the program "
            "holds code for: 'native': it is the code of another machine");
  EXPECT_EQ(loaded(theirs, mine.artifact({"native", "beads5"})), "beads5");
}

TEST(CompileTarget, RefusesASetThatItDoesNotKnow) {
  Abacus target({"beads5"});
  EXPECT_EQ(loaded(target, target.artifact({"beads5", "beads9"})),
            "the program holds code for instruction set 'beads9', which target "
            "'abacus' does not know");
}

TEST(CompileTarget, RefusesTheProgramOfAnotherTarget) {
  Abacus target({"beads5"});
  Artifact artifact = target.artifact({"beads5"});
  artifact.variants.front().target = "cpu";
  EXPECT_EQ(loaded(target, artifact),
            "the program is for target 'cpu', not 'abacus'");
}

} // namespace
