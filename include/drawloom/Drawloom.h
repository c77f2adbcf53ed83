//===- Drawloom.h - Drawloom's C++ interface ------------------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C interface (drawloom-c/drawloom.h, whose comments apply here too) as C++
// values that own their objects. C++17, with or without exceptions: errors are
// returned as values, never thrown.
//
//   auto compiler = drawloom::Compiler::create();
//   if (!compiler)
//     return fail(compiler.error().message());
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DRAWLOOM_H
#define DRAWLOOM_DRAWLOOM_H

#include "drawloom-c/drawloom.h"
#include "drawloom/Runtime.h"
#include <functional>

namespace drawloom {
inline namespace embedding {

struct Source {
  std::string name;
  std::string contents;
};

/// The extents of all arguments of a function, in place of its `?`.
struct Shapes {
  std::string function;
  std::vector<std::vector<int64_t>> arguments;
};

/// Loads a library with dialects and passes into this process, for the
/// compilers that are created afterwards.
inline Result<void> loadPlugin(const std::string &path) {
  return Result<void>(drawloomLoadPlugin(path.c_str()));
}

struct CompilerOptions {
  /// An empty string selects the default.
  std::string target, isa, dumpPhasesTo;
  /// Whether and where compiled programs are kept on disk; an empty folder
  /// selects the user's own cache folder.
  bool cache = true;
  std::string cacheFolder;
  uint64_t cacheBytes = 0;
  /// Max bytes that a call may use besides its buffers, 0 for no limit; whether
  /// calls will have a store; the rates that memory plans assume; and the file
  /// that plans are written to.
  uint64_t memory = 0;
  bool stores = false;
  std::string memoryRates, plan;
  /// Passes that run before those that lead into a phase, as
  /// "structured:canonicalize,cse".
  std::vector<std::string> insertedPasses;
  /// Called with messages worth knowing although nothing failed. Exceptions
  /// thrown by the callback are dropped: nothing may propagate through the
  /// compiler.
  std::function<void(const char *)> note;
  /// Polled during compilation; returning true, or throwing, stops it.
  std::function<bool()> cancelled;
};

/// Shows where the time of a function goes.
class Report {
public:
  explicit Report(DrawloomReport *report) : handle(report) {}
  std::string text() const { return get(DRAWLOOM_REPORT_TEXT); }
  std::string json() const { return get(DRAWLOOM_REPORT_JSON); }
  /// Returns a self-contained page.
  std::string html() const { return get(DRAWLOOM_REPORT_HTML); }
  Result<void> save(DrawloomReportFormat format,
                    const std::string &path) const {
    return Result<void>(drawloomReportSave(handle.get(), format, path.c_str()));
  }

  /// Joins the reports of functions that are called one after another, each the
  /// given number of times.
  static Result<Report>
  join(const std::vector<std::pair<const Report *, unsigned>> &parts,
       const std::string &title) {
    std::vector<const DrawloomReport *> reports;
    std::vector<unsigned> times;
    for (const auto &[part, count] : parts) {
      reports.push_back(part->handle.get());
      times.push_back(count);
    }
    DrawloomReport *joined = nullptr;
    if (DrawloomError *error =
            drawloomReportJoin(reports.data(), times.data(), reports.size(),
                               title.c_str(), &joined))
      return Error(error);
    return Report(joined);
  }

private:
  std::string get(DrawloomReportFormat format) const {
    return drawloomReportText(handle.get(), format);
  }
  struct Destroy {
    void operator()(DrawloomReport *report) const {
      drawloomReportDestroy(report);
    }
  };
  std::unique_ptr<DrawloomReport, Destroy> handle;
};

struct ReportOptions {
  /// The function to report on; if empty, the only public one.
  std::string function;
  /// Arguments of the calls; random if empty.
  std::vector<DrawloomBuffer> arguments;
  unsigned calls = 20, threads = 1;
};

class Compiler {
public:
  static Result<Compiler> create(CompilerOptions options = {}) {
    auto kept = std::make_unique<CompilerOptions>(std::move(options));
    auto orNull = [](const std::string &text) {
      return text.empty() ? nullptr : text.c_str();
    };
    DrawloomCompilerOptions c = {};
    c.size = sizeof(c);
    c.target = orNull(kept->target);
    c.isa = orNull(kept->isa);
    c.cacheFolder = kept->cache ? orNull(kept->cacheFolder) : "";
    c.cacheBytes = kept->cacheBytes;
    c.dumpPhasesTo = orNull(kept->dumpPhasesTo);
    c.memory = kept->memory;
    c.stores = kept->stores;
    c.memoryRates = orNull(kept->memoryRates);
    c.plan = orNull(kept->plan);
    std::vector<const char *> insertedPasses;
    for (const std::string &passes : kept->insertedPasses)
      insertedPasses.push_back(passes.c_str());
    c.insertedPasses = insertedPasses.data();
    c.insertedPassCount = insertedPasses.size();
    if (kept->note) {
      c.noteContext = kept.get();
      c.note = [](void *context, const char *message) {
#ifdef __cpp_exceptions
        try {
          static_cast<CompilerOptions *>(context)->note(message);
        } catch (...) {
        }
#else
        static_cast<CompilerOptions *>(context)->note(message);
#endif
      };
    }
    if (kept->cancelled) {
      c.cancelledContext = kept.get();
      c.cancelled = [](void *context) -> int {
#ifdef __cpp_exceptions
        try {
          return static_cast<CompilerOptions *>(context)->cancelled();
        } catch (...) {
          return 1;
        }
#else
        return static_cast<CompilerOptions *>(context)->cancelled();
#endif
      };
    }
    DrawloomCompiler *compiler = nullptr;
    if (DrawloomError *error = drawloomCompilerCreate(&c, &compiler))
      return Error(error);
    return Compiler(compiler, std::move(kept));
  }

  Result<Program> compile(const std::vector<Source> &sources,
                          const std::vector<Shapes> &shapes = {}) const {
    std::vector<DrawloomSource> list = describe(sources);
    return finish<Program, DrawloomProgram>(
        shapes, [&](const DrawloomShapes *given, size_t count,
                    DrawloomProgram **program) {
          return drawloomCompile(handle.get(), list.data(), list.size(), given,
                                 count, program);
        });
  }
  Result<Program> compileFiles(const std::vector<std::string> &files,
                               const std::vector<Shapes> &shapes = {}) const {
    std::vector<const char *> list;
    for (const std::string &file : files)
      list.push_back(file.c_str());
    return finish<Program, DrawloomProgram>(
        shapes, [&](const DrawloomShapes *given, size_t count,
                    DrawloomProgram **program) {
          return drawloomCompileFiles(handle.get(), list.data(), list.size(),
                                      given, count, program);
        });
  }

  /// Recompiles one function and measures it.
  Result<Report> report(const std::vector<Source> &sources,
                        const ReportOptions &options = {},
                        const std::vector<Shapes> &shapes = {}) const {
    std::vector<DrawloomSource> list = describe(sources);
    DrawloomReportOptions c = {};
    c.size = sizeof(c);
    c.function = options.function.empty() ? nullptr : options.function.c_str();
    c.arguments =
        options.arguments.empty() ? nullptr : options.arguments.data();
    c.argumentCount = options.arguments.size();
    c.calls = options.calls;
    c.threads = options.threads;
    return finish<Report, DrawloomReport>(
        shapes, [&](const DrawloomShapes *given, size_t count,
                    DrawloomReport **report) {
          return drawloomReportCreate(handle.get(), list.data(), list.size(),
                                      given, count, &c, report);
        });
  }

  /// Stops the compilations in progress.
  void cancel() const { drawloomCompilerCancel(handle.get()); }
  DrawloomCompilerMemory memory() const {
    DrawloomCompilerMemory memory = {};
    memory.size = sizeof(memory);
    drawloomCompilerMemory(handle.get(), &memory);
    return memory;
  }
  DrawloomCompilerStatistics statistics() const {
    DrawloomCompilerStatistics statistics = {};
    statistics.size = sizeof(statistics);
    drawloomCompilerStatistics(handle.get(), &statistics);
    return statistics;
  }
  void forget() const { drawloomCompilerForget(handle.get()); }

private:
  Compiler(DrawloomCompiler *compiler, std::unique_ptr<CompilerOptions> options)
      : options(std::move(options)), handle(compiler) {}

  static std::vector<DrawloomSource>
  describe(const std::vector<Source> &sources) {
    std::vector<DrawloomSource> list;
    for (const Source &source : sources)
      list.push_back({source.name.c_str(), source.contents.data(),
                      source.contents.size()});
    return list;
  }

  template <typename T, typename Handle, typename Fn>
  Result<T> finish(const std::vector<Shapes> &shapes, Fn compile) const {
    std::vector<std::vector<DrawloomExtents>> extents;
    std::vector<DrawloomShapes> given;
    for (const Shapes &one : shapes) {
      std::vector<DrawloomExtents> &list = extents.emplace_back();
      for (const std::vector<int64_t> &argument : one.arguments)
        list.push_back({argument.data(), argument.size()});
      given.push_back({one.function.c_str(), list.data(), list.size()});
    }
    Handle *made = nullptr;
    if (DrawloomError *error = compile(given.data(), given.size(), &made))
      return Error(error);
    return T(made);
  }

  struct Destroy {
    void operator()(DrawloomCompiler *compiler) const {
      drawloomCompilerDestroy(compiler);
    }
  };
  /// Passed as context when the compiler calls `note` and `cancelled`.
  std::unique_ptr<CompilerOptions> options;
  std::unique_ptr<DrawloomCompiler, Destroy> handle;
};

} // namespace embedding
} // namespace drawloom

#endif // DRAWLOOM_DRAWLOOM_H
