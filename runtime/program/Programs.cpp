//===- Programs.cpp - the C interface to compiled programs ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/Files.h"
#include "runtime/program/Handles.h"
#include <algorithm>
#include <cstring>

using namespace drawloom;
using namespace drawloom::runtime;

namespace drawloom::runtime {

Loaded::Loaded(std::unique_ptr<Executable> given, std::string name,
               Artifact kept)
    : program(std::move(given)), target(std::move(name)),
      artifact(std::move(kept)) {
  const std::vector<Signature> &signatures = program->signatures();
  for (size_t i = 0; i < signatures.size(); ++i)
    functions.push_back({program.get(), &signatures[i], i, nullptr});
}

Loaded::Loaded(std::vector<Signature> given) : parsed(std::move(given)) {
  for (size_t i = 0; i < parsed.size(); ++i)
    functions.push_back({nullptr, &parsed[i], i, nullptr});
}

int64_t Loaded::artifactBytes() const {
  int64_t bytes = 0;
  for (const Artifact::Variant &variant : artifact.variants)
    bytes += static_cast<int64_t>(variant.code.size());
  return bytes;
}

std::vector<const Artifact::Variant *> Loaded::variants() const {
  std::vector<const Artifact::Variant *> list;
  for (const Artifact::Variant &variant : artifact.variants)
    if (variant.target == target)
      list.push_back(&variant);
  return list;
}

DrawloomError *makeError(DrawloomErrorCode code, std::string message) {
  return new DrawloomError{code, std::move(message), "", "", ""};
}

} // namespace drawloom::runtime

int drawloomApiVersion(void) { return DRAWLOOM_API_VERSION; }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void drawloomErrorDestroy(DrawloomError *error) { delete error; }
DrawloomErrorCode drawloomErrorCode(const DrawloomError *error) {
  return error->code;
}
const char *drawloomErrorMessage(const DrawloomError *error) {
  return error->message.c_str();
}
const char *drawloomErrorLocation(const DrawloomError *error) {
  return error->location.c_str();
}
const char *drawloomErrorPhase(const DrawloomError *error) {
  return error->phase.c_str();
}
const char *drawloomErrorReproducer(const DrawloomError *error) {
  return error->reproducer.c_str();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static DrawloomError *loadBytes(const std::string &name, std::string_view bytes,
                                const DrawloomLoadOptions *given,
                                DrawloomProgram **program) {
  DrawloomLoadOptions options = {};
  // A caller built against an older header has fewer fields.
  if (given)
    std::memcpy(&options, given, std::min(given->size, sizeof(options)));
  Result<Artifact> artifact = readArtifact(bytes);
  if (!artifact.ok())
    return makeError(DRAWLOOM_ERROR_FILE,
                     name + " is not loaded: " + artifact.message());
  auto refuse = [&](const std::string &why) {
    return makeError(DRAWLOOM_ERROR_TARGET, name + " is not loaded: " + why);
  };
  Result<TargetDevice> target =
      chooseTarget(*artifact, options.target ? options.target : "");
  if (!target.ok())
    return refuse(target.message());
  Result<std::unique_ptr<Executable>> loaded =
      loadExecutable(*artifact, *target, options.isa ? options.isa : "");
  if (!loaded.ok())
    return refuse(loaded.message());
  *program = new DrawloomProgram{std::make_shared<const Loaded>(
      std::move(*loaded), std::move(target->name), std::move(*artifact))};
  return nullptr;
}

DrawloomError *drawloomProgramLoad(const char *path,
                                   const DrawloomLoadOptions *options,
                                   DrawloomProgram **program) {
  *program = nullptr;
  Result<std::string> bytes = readFile(path);
  if (!bytes.ok())
    return makeError(DRAWLOOM_ERROR_FILE, bytes.message());
  return loadBytes("'" + std::string(path) + "'", *bytes, options, program);
}

DrawloomError *drawloomProgramLoadBytes(const void *bytes, size_t count,
                                        const DrawloomLoadOptions *options,
                                        DrawloomProgram **program) {
  *program = nullptr;
  std::string_view all;
  if (count > 0)
    all = {static_cast<const char *>(bytes), count};
  return loadBytes("the program", all, options, program);
}

/// Nothing where the program can be saved.
static DrawloomError *refuseParsed(const DrawloomProgram *program) {
  return program->loaded->program
             ? nullptr
             : makeError(DRAWLOOM_ERROR_CALL,
                         "the program is parsed, not compiled: "
                         "drawloomCompile does that");
}

DrawloomError *drawloomProgramSave(const DrawloomProgram *program,
                                   const char *path) {
  if (DrawloomError *error = refuseParsed(program))
    return error;
  Status status = writeFile(path, writeArtifact(program->loaded->artifact));
  return status.ok() ? nullptr
                     : makeError(DRAWLOOM_ERROR_FILE, status.message());
}

DrawloomError *drawloomProgramSerialize(const DrawloomProgram *program,
                                        void (*write)(void *, const void *,
                                                      size_t),
                                        void *context) {
  if (DrawloomError *error = refuseParsed(program))
    return error;
  std::string bytes = writeArtifact(program->loaded->artifact);
  write(context, bytes.data(), bytes.size());
  return nullptr;
}

void drawloomProgramDestroy(DrawloomProgram *program) { delete program; }

//===----------------------------------------------------------------------===//
// What a program is
//===----------------------------------------------------------------------===//

const char *drawloomProgramTarget(const DrawloomProgram *program) {
  return program->loaded->target.c_str();
}
size_t drawloomProgramTargetCount(const DrawloomProgram *program) {
  return program->loaded->artifact.targets().size();
}
const char *drawloomProgramTargetAt(const DrawloomProgram *program,
                                    size_t index) {
  // The variant's string outlives the list.
  const Artifact &artifact = program->loaded->artifact;
  std::vector<std::string> targets = artifact.targets();
  if (index < targets.size())
    for (const Artifact::Variant &variant : artifact.variants)
      if (variant.target == targets[index])
        return variant.target.c_str();
  return nullptr;
}
const char *drawloomProgramInstructionSet(const DrawloomProgram *program) {
  const Executable *loaded = program->loaded->program.get();
  return loaded ? loaded->isa().c_str() : "";
}
size_t drawloomProgramInstructionSetCount(const DrawloomProgram *program) {
  return program->loaded->variants().size();
}
const char *drawloomProgramInstructionSetAt(const DrawloomProgram *program,
                                            size_t index) {
  std::vector<const Artifact::Variant *> variants = program->loaded->variants();
  return index < variants.size() ? variants[index]->isa.c_str() : nullptr;
}

void drawloomProgramMemory(const DrawloomProgram *program,
                           DrawloomProgramMemory *memory) {
  const Loaded &loaded = *program->loaded;
  DrawloomProgramMemory known = {};
  known.size = std::min(memory->size, sizeof(known));
  known.artifact = static_cast<uint64_t>(loaded.artifactBytes());
  if (loaded.program) {
    known.code = static_cast<uint64_t>(loaded.program->codeBytes());
    known.kept = static_cast<uint64_t>(loaded.program->keptBytes());
  }
  std::memcpy(memory, &known, known.size);
}

void drawloomProgramTrim(const DrawloomProgram *program) {
  if (program->loaded->program)
    program->loaded->program->trim();
}

size_t drawloomFunctionCount(const DrawloomProgram *program) {
  return program->loaded->functions.size();
}

const DrawloomFunction *drawloomFunctionAt(const DrawloomProgram *program,
                                           size_t index) {
  const std::vector<DrawloomFunction> &functions = program->loaded->functions;
  return index < functions.size() ? &functions[index] : nullptr;
}

DrawloomError *drawloomFunctionFind(const DrawloomProgram *program,
                                    const char *name,
                                    const DrawloomFunction **function) {
  *function = nullptr;
  std::string known;
  for (const DrawloomFunction &candidate : program->loaded->functions) {
    if (candidate.signature->name == name) {
      *function = &candidate;
      return nullptr;
    }
    known += (known.empty() ? "@" : ", @") + candidate.signature->name;
  }
  return makeError(DRAWLOOM_ERROR_CALL, "the program has no function @" +
                                            std::string(name) + "; it has " +
                                            (known.empty() ? "none" : known));
}
