//===- Drawloom.h - Drawloom's C++ interface ------------------ -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C interface (drawloom-c/drawloom.h, whose comments hold here too) as
// values that own what they stand for. C++17, with or without exceptions: none
// is thrown, errors are values.
//
//   drawloom::Result<drawloom::Compiler> compiler =
//   drawloom::Compiler::create(); if (!compiler)
//     return fail(compiler.error().message());
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DRAWLOOM_H
#define DRAWLOOM_DRAWLOOM_H

#include "drawloom-c/drawloom.h"
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace drawloom {

/// Why something failed.
class Error {
public:
  explicit Error(DrawloomError *error) : handle(error) {}
  DrawloomErrorCode code() const { return drawloomErrorCode(handle.get()); }
  std::string message() const { return drawloomErrorMessage(handle.get()); }
  std::string location() const { return drawloomErrorLocation(handle.get()); }
  std::string phase() const { return drawloomErrorPhase(handle.get()); }
  std::string reproducer() const {
    return drawloomErrorReproducer(handle.get());
  }

private:
  struct Destroy {
    void operator()(DrawloomError *error) const { drawloomErrorDestroy(error); }
  };
  std::unique_ptr<DrawloomError, Destroy> handle;
};

/// A value, or the error for which there is none.
template <typename T> class Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}
  explicit operator bool() const { return std::holds_alternative<T>(state); }
  T &operator*() { return *std::get_if<T>(&state); }
  T *operator->() { return std::get_if<T>(&state); }
  const Error &error() const { return *std::get_if<Error>(&state); }
  Error takeError() { return std::move(*std::get_if<Error>(&state)); }

private:
  std::variant<T, Error> state;
};

/// Success, or an error.
template <> class Result<void> {
public:
  explicit Result(DrawloomError *error) {
    if (error)
      failure.emplace_back(error);
  }
  explicit operator bool() const { return failure.empty(); }
  const Error &error() const { return failure.front(); }
  Error takeError() { return std::move(failure.front()); }

private:
  std::vector<Error> failure;
};

struct Type {
  DrawloomElement element;
  std::vector<int64_t> extents;
  int64_t bytes;
};

/// A function of a program, which must outlive it. Cheap to copy.
class Function {
public:
  explicit Function(const DrawloomFunction *function) : handle(function) {}
  std::string name() const { return drawloomFunctionName(handle); }
  std::vector<Type> arguments() const {
    return types(drawloomArgumentCount(handle), drawloomArgumentType);
  }
  std::vector<Type> results() const {
    return types(drawloomResultCount(handle), drawloomResultType);
  }
  int64_t workspace() const { return drawloomFunctionWorkspace(handle); }

  Result<void> call(const std::vector<DrawloomBuffer> &arguments,
                    const std::vector<DrawloomBuffer> &results,
                    unsigned threads = 1) const {
    return Result<void>(drawloomCall(handle, arguments.data(), arguments.size(),
                                     results.data(), results.size(), threads));
  }

private:
  std::vector<Type> types(size_t count,
                          DrawloomType (*at)(const DrawloomFunction *,
                                             size_t)) const {
    std::vector<Type> list;
    for (size_t i = 0; i < count; ++i) {
      DrawloomType type = at(handle, i);
      list.push_back(
          {type.element, {type.extents, type.extents + type.rank}, type.bytes});
    }
    return list;
  }
  const DrawloomFunction *handle;
};

/// An argument: memory that is read. The C interface has one type for both.
template <typename T> DrawloomBuffer buffer(const T *data, size_t count) {
  return {const_cast<T *>(data), count * sizeof(T)};
}

class Program {
public:
  explicit Program(DrawloomProgram *program) : handle(program) {}
  std::vector<Function> functions() const {
    std::vector<Function> list;
    for (size_t i = 0; i < drawloomFunctionCount(handle.get()); ++i)
      list.emplace_back(drawloomFunctionAt(handle.get(), i));
    return list;
  }
  Result<Function> find(const std::string &name) const {
    const DrawloomFunction *function = nullptr;
    if (DrawloomError *error =
            drawloomFunctionFind(handle.get(), name.c_str(), &function))
      return Error(error);
    return Function(function);
  }

private:
  struct Destroy {
    void operator()(DrawloomProgram *program) const {
      drawloomProgramDestroy(program);
    }
  };
  std::unique_ptr<DrawloomProgram, Destroy> handle;
};

struct Source {
  std::string name;
  std::string contents;
};

/// The extents of all arguments of a function, in place of its `?`.
struct Shapes {
  std::string function;
  std::vector<std::vector<int64_t>> arguments;
};

struct CompilerOptions {
  /// Empty strings stand for the defaults.
  std::string target, isa, dumpPhasesTo;
  /// Whether compiled programs are kept on disk, and where; empty: the user's
  /// own folder.
  bool cache = true;
  std::string cacheFolder;
  uint64_t cacheBytes = 0;
  /// Called with what is worth knowing though nothing failed. What it throws is
  /// dropped: nothing may pass through the compiler.
  std::function<void(const char *)> note;
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
    DrawloomCompiler *compiler = nullptr;
    if (DrawloomError *error = drawloomCompilerCreate(&c, &compiler))
      return Error(error);
    return Compiler(compiler, std::move(kept));
  }

  Result<Program> compile(const std::vector<Source> &sources,
                          const std::vector<Shapes> &shapes = {}) const {
    std::vector<DrawloomSource> list;
    for (const Source &source : sources)
      list.push_back({source.name.c_str(), source.contents.data(),
                      source.contents.size()});
    return finish(shapes, [&](const DrawloomShapes *given, size_t count,
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
    return finish(shapes, [&](const DrawloomShapes *given, size_t count,
                              DrawloomProgram **program) {
      return drawloomCompileFiles(handle.get(), list.data(), list.size(), given,
                                  count, program);
    });
  }

private:
  Compiler(DrawloomCompiler *compiler, std::unique_ptr<CompilerOptions> options)
      : options(std::move(options)), handle(compiler) {}

  template <typename Fn>
  Result<Program> finish(const std::vector<Shapes> &shapes, Fn compile) const {
    std::vector<std::vector<DrawloomExtents>> extents;
    std::vector<DrawloomShapes> given;
    for (const Shapes &one : shapes) {
      std::vector<DrawloomExtents> &list = extents.emplace_back();
      for (const std::vector<int64_t> &argument : one.arguments)
        list.push_back({argument.data(), argument.size()});
      given.push_back({one.function.c_str(), list.data(), list.size()});
    }
    DrawloomProgram *program = nullptr;
    if (DrawloomError *error = compile(given.data(), given.size(), &program))
      return Error(error);
    return Program(program);
  }

  struct Destroy {
    void operator()(DrawloomCompiler *compiler) const {
      drawloomCompilerDestroy(compiler);
    }
  };
  /// The compiler calls `note` in it.
  std::unique_ptr<CompilerOptions> options;
  std::unique_ptr<DrawloomCompiler, Destroy> handle;
};

} // namespace drawloom

#endif // DRAWLOOM_DRAWLOOM_H
