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

  /// The programs of this compiler by what they were compiled from, the one
  /// used last in front.
  static constexpr size_t mostPrograms = 256;
  std::mutex mutex;
  std::list<
      std::pair<std::string, std::shared_ptr<const drawloom::runtime::Loaded>>>
      programs;
  /// Of all time.
  DrawloomCompilerStatistics statistics = {};
  /// Those that a thread is at work on, and what others that want one wait for.
  llvm::StringSet<> inWork;
  std::condition_variable finished;

  /// Counts the calls of drawloomCompilerCancel.
  std::atomic<uint64_t> cancellations{0};
  std::function<bool()> askCancelled;

  /// The program, as soon as no other thread is at work on it. Null where the
  /// caller is to compile it, and then to call `finish`; an error where it is
  /// cancelled first.
  std::optional<std::shared_ptr<const drawloom::runtime::Loaded>>
  findOrStart(llvm::StringRef key, llvm::function_ref<bool()> cancelled) {
    std::unique_lock<std::mutex> lock(mutex);
    while (inWork.contains(key)) {
      // The question may be the caller's own code, which could ask us things.
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
  /// Remembers the program; null where compiling failed, and the next one that
  /// waits tries for itself: its error names its own sources.
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

/// Whether one piece of work is to stop. Once it is, it stays so: passes that
/// were left out are not made up for.
class Cancellation {
public:
  explicit Cancellation(const DrawloomCompiler &compiler)
      : compiler(compiler), begun(compiler.cancellations) {}
  bool ask() {
    stop = stop || compiler.cancellations != begun ||
           (compiler.askCancelled && compiler.askCancelled());
    return stop;
  }
  /// What was answered last.
  bool seen() const { return stop; }

private:
  const DrawloomCompiler &compiler;
  uint64_t begun;
  bool stop = false;
};

/// Collects what the compiler says about a program. The first error counts; its
/// notes and the errors after it follow in the message.
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

/// A program of any target, for the C interface.
std::unique_ptr<runtime::Executable>
makeExecutable(std::unique_ptr<Program> program);

std::vector<Source> copySources(const DrawloomSource *sources,
                                size_t sourceCount);

/// Puts the extents in place of each `?`; diagnostics say what does not fit.
mlir::LogicalResult specialize(mlir::ModuleOp module,
                               llvm::ArrayRef<DrawloomShapes> shapes);

/// The drawloom-run command that compiles the sources as far as the phase; no
/// phase by that name: as a whole.
std::string reproducer(llvm::ArrayRef<Source> sources, llvm::StringRef phase,
                       const CompileTarget &target, llvm::StringRef isa,
                       const MemoryBudget &memory);

} // namespace drawloom::embed

#endif // DRAWLOOM_LIB_EMBED_EMBED_H
