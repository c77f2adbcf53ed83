//===- Objects.h - what the extension module's objects hold ---- -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PYTHON_OBJECTS_H
#define DRAWLOOM_PYTHON_OBJECTS_H

#include "drawloom-c/drawloom.h"
#include <map>
#include <memory>
#include <mutex>
#include <nanobind/nanobind.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace drawloom::python {

/// Throws the Python exception that says the same, and destroys the error.
[[noreturn]] void raise(DrawloomError *error);

/// Without the interpreter's lock while it lives. A thread that still runs when
/// the interpreter ends gets it back no more: Python before 3.14 ends the
/// thread by unwinding its stack, which no destructor may be asked to do. It
/// waits for the end of the process instead, as it does in later versions.
class Unlocked {
public:
  Unlocked() : state(PyEval_SaveThread()) {}
  Unlocked(const Unlocked &) = delete;
  ~Unlocked();

private:
  PyThreadState *state;
};

/// With the interpreter's lock, on a thread that may have it or not; waits for
/// the end of the process as Unlocked does.
class Locked {
public:
  Locked();
  Locked(const Locked &) = delete;
  ~Locked() { PyGILState_Release(state); }

private:
  PyGILState_STATE state;
};

/// Calls a Python function from a thread that may be one of those. What waits
/// for the end in between runs no destructor of the caller's.
nanobind::object callPython(nanobind::handle function,
                            std::initializer_list<nanobind::handle> arguments);
/// The same for an attribute of a module, drawloom._errors.make say.
nanobind::object fromModule(const char *module, const char *attribute);

/// The name of an object's class, without its module; remembered by class, for
/// calls ask for it.
const std::string &typeName(nanobind::handle object);

struct Compiler {
  Compiler(const std::string &target, const std::string &isa,
           const std::optional<std::string> &cacheFolder, uint64_t cacheBytes,
           const std::string &dumpPhasesTo, uint64_t memory, bool stores,
           const std::string &memoryRates, const std::string &plan,
           const std::vector<std::string> &insertPasses);
  Compiler(const Compiler &) = delete;
  ~Compiler() { drawloomCompilerDestroy(handle); }

  /// What compiling noted since this was last asked. Notes come from threads
  /// that do not hold the interpreter's lock, so they wait here.
  std::vector<std::string> takeNotes();

  DrawloomCompiler *handle = nullptr;
  std::mutex mutex;
  std::vector<std::string> notes;
};

struct Program {
  explicit Program(DrawloomProgram *handle) : handle(handle) {}
  Program(const Program &) = delete;
  ~Program() { drawloomProgramDestroy(handle); }

  DrawloomProgram *handle;
};

struct Report {
  explicit Report(DrawloomReport *handle) : handle(handle) {}
  Report(const Report &) = delete;
  ~Report() { drawloomReportDestroy(handle); }

  DrawloomReport *handle;
};

struct Type {
  DrawloomElement element;
  std::vector<int64_t> shape;
  int64_t bytes;
};

/// Keeps its program alive.
struct Function {
  Function(std::shared_ptr<Program> program, const DrawloomFunction *handle)
      : program(std::move(program)), handle(handle) {
    auto copy = [](const DrawloomType &type) {
      return Type{type.element,
                  std::vector<int64_t>(type.extents, type.extents + type.rank),
                  type.bytes};
    };
    for (size_t i = 0; i < drawloomArgumentCount(handle); ++i)
      arguments.push_back(copy(drawloomArgumentType(handle, i)));
    for (size_t i = 0; i < drawloomResultCount(handle); ++i)
      results.push_back(copy(drawloomResultType(handle, i)));
    openExtents = drawloomFunctionOpenExtents(handle);
  }

  /// How to make results of the kind of an array's type: drawloom._arrays.maker
  /// of it, remembered for the type that was asked for last.
  nanobind::object maker(nanobind::handle kind) const;

  bool isOpen() const { return openExtents > 0; }
  /// An open function with these open extents; remembered for the calls that
  /// follow.
  std::shared_ptr<Function>
  withExtents(const std::vector<int64_t> &extents) const;

  std::shared_ptr<Program> program;
  const DrawloomFunction *handle;
  std::vector<Type> arguments, results;
  /// Of a function whose open extents are said: what the handle is of.
  std::shared_ptr<DrawloomBoundFunction> bound;
  size_t openExtents = 0;

private:
  mutable nanobind::object lastKind, lastMaker;
  /// By their extents. Calls hold the interpreter's lock while they look here,
  /// and a reference while they run.
  mutable std::map<std::vector<int64_t>, std::shared_ptr<Function>> known;
};

} // namespace drawloom::python

#endif // DRAWLOOM_PYTHON_OBJECTS_H
