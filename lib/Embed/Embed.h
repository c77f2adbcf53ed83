//===- Embed.h - what the C interface is made of -------------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_EMBED_EMBED_H
#define DRAWLOOM_LIB_EMBED_EMBED_H

#include "drawloom-c/drawloom.h"
#include "lib/Compiler/Compiler.h"
#include "mlir/IR/Diagnostics.h"
#include "runtime/program/Handles.h"
#include "llvm/ADT/StringSet.h"
#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>

struct DrawloomCompiler {
  drawloom::CompileOptions options;
  std::optional<drawloom::DiskCache> cache;
  mlir::DialectRegistry registry;

  /// This compiler's programs, keyed by what they were compiled from, most
  /// recently used first.
  static constexpr size_t mostPrograms = 256;
  std::mutex mutex;
  std::list<
      std::pair<std::string, std::shared_ptr<const drawloom::runtime::Loaded>>>
      programs;
  /// Counted since the compiler was created.
  DrawloomCompilerStatistics statistics = {};
  /// Keys that a thread is currently compiling, and the condition on which
  /// other threads that want them wait.
  llvm::StringSet<> inWork;
  std::condition_variable finished;

  /// Number of calls of drawloomCompilerCancel.
  std::atomic<uint64_t> cancellations{0};
  std::function<bool()> askCancelled;

  /// Returns the program as soon as no other thread is compiling it. Returns
  /// null if the caller must compile it and then call `finish`, and an error if
  /// it is cancelled first.
  std::optional<std::shared_ptr<const drawloom::runtime::Loaded>>
  findOrStart(llvm::StringRef key, llvm::function_ref<bool()> cancelled) {
    std::unique_lock<std::mutex> lock(mutex);
    while (inWork.contains(key)) {
      // The callback may be the caller's code, which could call this library.
      lock.unlock();
      if (cancelled())
        return std::nullopt;
      lock.lock();
      finished.wait_for(lock, std::chrono::milliseconds(20),
                        [&] { return !inWork.contains(key); });
    }
    for (auto it = programs.begin(); it != programs.end(); ++it)
      if (it->first == key) {
        ++statistics.remembered;
        programs.splice(programs.begin(), programs, it);
        return it->second;
      }
    inWork.insert(key);
    return nullptr;
  }
  /// Remembers the program. If it is null, compilation failed, and the next
  /// waiting thread tries for itself, so that the error names its own sources.
  void finish(llvm::StringRef key,
              std::shared_ptr<const drawloom::runtime::Loaded> compiled) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      inWork.erase(key);
      if (compiled)
        programs.emplace_front(key.str(), std::move(compiled));
      if (programs.size() > mostPrograms)
        programs.pop_back();
    }
    finished.notify_all();
  }
};

namespace drawloom::embed {

inline DrawloomError *makeError(DrawloomErrorCode code,
                                const llvm::Twine &message) {
  return runtime::makeError(code, message.str());
}

/// Whether one compilation must stop. Once stopped, it stays stopped: passes
/// that were skipped are not made up for.
class Cancellation {
public:
  explicit Cancellation(const DrawloomCompiler &compiler)
      : compiler(compiler), begun(compiler.cancellations) {}
  bool ask() {
    stop = stop || compiler.cancellations != begun ||
           (compiler.askCancelled && compiler.askCancelled());
    return stop;
  }
  /// Returns the last answer.
  bool seen() const { return stop; }

private:
  const DrawloomCompiler &compiler;
  uint64_t begun;
  bool stop = false;
};

/// Collects the compiler's diagnostics about a program. The first error
/// determines the result; its notes and later errors are appended to the
/// message.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext &context)
      : handler(&context,
                [this](mlir::Diagnostic &diagnostic) { add(diagnostic); }) {}

  std::string message, location;

private:
  static std::string text(mlir::Location where) {
    std::string text;
    where->walk([&](mlir::Location part) {
      auto file = llvm::dyn_cast<mlir::FileLineColLoc>(part);
      if (!file)
        return mlir::WalkResult::advance();
      text = (file.getFilename().getValue() + ":" +
              llvm::Twine(file.getLine()) + ":" + llvm::Twine(file.getColumn()))
                 .str();
      return mlir::WalkResult::interrupt();
    });
    return text;
  }

  void add(mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return;
    if (message.empty())
      location = text(diagnostic.getLocation());
    else
      message += "\n";
    message += diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes()) {
      std::string where = text(note.getLocation());
      message += "\n" + (where.empty() ? "" : where + ": ") + note.str();
    }
  }

  mlir::ScopedDiagnosticHandler handler;
};

/// Loads a program of any target, for the C interface.
std::unique_ptr<runtime::Executable>
makeExecutable(std::unique_ptr<Program> program);

std::vector<Source> copySources(const DrawloomSource *sources,
                                size_t sourceCount);

/// Replaces each `?` by its extent; diagnostics explain mismatches.
mlir::LogicalResult specialize(mlir::ModuleOp module,
                               llvm::ArrayRef<DrawloomShapes> shapes);

/// Returns the drawloom-run command that compiles the sources up to the given
/// phase for an instruction set, or only parses them if there is no such phase.
std::string reproducer(llvm::ArrayRef<Source> sources, llvm::StringRef phase,
                       llvm::StringRef isa, const CompileOptions &options);

/// Adds the passes that `texts` ask for, such as "structured:cse", to the
/// options for their target.
llvm::Error insertPasses(llvm::ArrayRef<const char *> texts,
                         CompileOptions &options);

} // namespace drawloom::embed

#endif // DRAWLOOM_LIB_EMBED_EMBED_H
