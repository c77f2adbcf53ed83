//===- Runtime.h - compiled programs from C++ ------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C interface to compiled programs (drawloom-c/runtime.h, whose comments
// apply here too) as C++ values that own their objects. C++17, with or without
// exceptions: errors are returned as values, never thrown.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_H
#define DRAWLOOM_RUNTIME_H

#include "drawloom-c/runtime.h"
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace drawloom {
/// Keeps these names, which a program's code has of its own, apart from those
/// that libdrawloom.so shows to plugins.
inline namespace embedding {

/// Describes why an operation failed.
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

/// A value, or the error that explains why there is none.
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
  /// The name that the program gives to the value; "" if it has none.
  std::string name;
};

class BoundFunction;

/// A function of a program; the program must outlive it. Cheap to copy.
class Function {
public:
  explicit Function(const DrawloomFunction *function) : handle(function) {}
  std::string name() const { return drawloomFunctionName(handle); }
  std::vector<Type> arguments() const {
    return types(drawloomArgumentCount(handle), drawloomArgumentType,
                 drawloomArgumentName);
  }
  std::vector<Type> results() const {
    return types(drawloomResultCount(handle), drawloomResultType,
                 drawloomResultName);
  }
  /// Finds the index of the argument or result with the given name.
  Result<size_t> findArgument(const std::string &name) const {
    return find(drawloomArgumentFind, name);
  }
  Result<size_t> findResult(const std::string &name) const {
    return find(drawloomResultFind, name);
  }
  int64_t workspace() const { return drawloomFunctionWorkspace(handle); }
  /// Max bytes that a call keeps in a store at any time.
  int64_t stored() const { return drawloomFunctionStored(handle); }
  /// Returns the number of open extents of the function.
  size_t openExtents() const { return drawloomFunctionOpenExtents(handle); }
  /// Binds the function to the shapes of its arguments; see
  /// drawloomFunctionBind.
  Result<BoundFunction>
  bind(const std::vector<std::vector<int64_t>> &shapes) const;

  Result<void> call(const std::vector<DrawloomBuffer> &arguments,
                    const std::vector<DrawloomBuffer> &results,
                    unsigned threads = 1) const {
    return Result<void>(drawloomCall(handle, arguments.data(), arguments.size(),
                                     results.data(), results.size(), threads));
  }
  /// Calls the function with DLPack tensors; a DLTensor pointer may be cast to
  /// a DrawloomTensor pointer.
  Result<void> callTensors(const std::vector<const DrawloomTensor *> &arguments,
                           const std::vector<const DrawloomTensor *> &results,
                           unsigned threads = 1) const {
    return Result<void>(drawloomCallTensors(handle, arguments.data(),
                                            arguments.size(), results.data(),
                                            results.size(), threads));
  }
  /// Calls the function with tensors on the program's device, on a CUstream.
  Result<void>
  callTensorsOnStream(const std::vector<const DrawloomTensor *> &arguments,
                      const std::vector<const DrawloomTensor *> &results,
                      void *stream) const {
    return Result<void>(
        drawloomCallTensorsOnStream(handle, arguments.data(), arguments.size(),
                                    results.data(), results.size(), stream));
  }
  /// Returns whether callTensorsOnStream takes this argument from host memory.
  bool takesNumber(size_t argument) const {
    return drawloomArgumentIsNumber(handle, argument) != 0;
  }

private:
  std::vector<Type>
  types(size_t count, DrawloomType (*at)(const DrawloomFunction *, size_t),
        const char *(*nameAt)(const DrawloomFunction *, size_t)) const {
    std::vector<Type> list;
    for (size_t i = 0; i < count; ++i) {
      DrawloomType type = at(handle, i);
      list.push_back({type.element,
                      {type.extents, type.extents + type.rank},
                      type.bytes,
                      nameAt(handle, i)});
    }
    return list;
  }
  Result<size_t> find(DrawloomError *(*by)(const DrawloomFunction *,
                                           const char *, size_t *),
                      const std::string &name) const {
    size_t index = 0;
    if (DrawloomError *error = by(handle, name.c_str(), &index))
      return Error(error);
    return index;
  }
  const DrawloomFunction *handle;
};

/// A function whose open extents are bound; its program must outlive it.
class BoundFunction {
public:
  explicit BoundFunction(DrawloomBoundFunction *bound) : handle(bound) {}
  Function function() const {
    return Function(drawloomBoundFunction(handle.get()));
  }

private:
  struct Destroy {
    void operator()(DrawloomBoundFunction *bound) const {
      drawloomBoundFunctionDestroy(bound);
    }
  };
  std::unique_ptr<DrawloomBoundFunction, Destroy> handle;
};

inline Result<BoundFunction>
Function::bind(const std::vector<std::vector<int64_t>> &shapes) const {
  std::vector<DrawloomExtents> arguments;
  for (const std::vector<int64_t> &shape : shapes)
    arguments.push_back({shape.data(), shape.size()});
  DrawloomBoundFunction *bound = nullptr;
  if (DrawloomError *error = drawloomFunctionBind(handle, arguments.data(),
                                                  arguments.size(), &bound))
    return Error(error);
  return BoundFunction(bound);
}

/// Makes a buffer for an argument, which is only read; the C interface uses one
/// type for arguments and results.
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

  /// Loads a program from a file that `save` wrote. If `isa` is empty, the best
  /// instruction set that this machine runs is loaded; if `target` is empty,
  /// the CPU is used if the file has code for it.
  static Result<Program> load(const std::string &path,
                              const std::string &isa = "",
                              const std::string &target = "") {
    DrawloomLoadOptions options = loadOptions(isa, target);
    DrawloomProgram *program = nullptr;
    if (DrawloomError *error =
            drawloomProgramLoad(path.c_str(), &options, &program))
      return Error(error);
    return Program(program);
  }
  static Result<Program> loadBytes(const void *bytes, size_t count,
                                   const std::string &isa = "",
                                   const std::string &target = "") {
    DrawloomLoadOptions options = loadOptions(isa, target);
    DrawloomProgram *program = nullptr;
    if (DrawloomError *error =
            drawloomProgramLoadBytes(bytes, count, &options, &program))
      return Error(error);
    return Program(program);
  }
  Result<void> save(const std::string &path) const {
    return Result<void>(drawloomProgramSave(handle.get(), path.c_str()));
  }
  /// Returns the contents of the file that `save` would write.
  Result<std::string> serialize() const {
    std::string contents;
    auto append = [](void *context, const void *bytes, size_t count) {
      static_cast<std::string *>(context)->append(
          static_cast<const char *>(bytes), count);
    };
    if (DrawloomError *error =
            drawloomProgramSerialize(handle.get(), append, &contents))
      return Error(error);
    return contents;
  }

  std::string target() const { return drawloomProgramTarget(handle.get()); }
  /// Returns the targets that the program has code for, loaded or not.
  std::vector<std::string> targets() const {
    std::vector<std::string> list;
    for (size_t i = 0; i < drawloomProgramTargetCount(handle.get()); ++i)
      list.emplace_back(drawloomProgramTargetAt(handle.get(), i));
    return list;
  }
  /// Returns the loaded instruction set; instructionSets() returns all sets
  /// that the program has code for.
  std::string instructionSet() const {
    return drawloomProgramInstructionSet(handle.get());
  }
  std::vector<std::string> instructionSets() const {
    std::vector<std::string> list;
    for (size_t i = 0; i < drawloomProgramInstructionSetCount(handle.get());
         ++i)
      list.emplace_back(drawloomProgramInstructionSetAt(handle.get(), i));
    return list;
  }
  DrawloomProgramMemory memory() const {
    DrawloomProgramMemory memory = {};
    memory.size = sizeof(memory);
    drawloomProgramMemory(handle.get(), &memory);
    return memory;
  }
  void trim() const { drawloomProgramTrim(handle.get()); }

  /// For a GPU program: its device as a DLPack type and number. The functions
  /// below allocate and copy device memory, and order streams.
  std::pair<int32_t, int32_t> device() const {
    std::pair<int32_t, int32_t> device;
    drawloomProgramDevice(handle.get(), &device.first, &device.second);
    return device;
  }
  Result<void *> allocate(size_t bytes, void *stream) const {
    void *memory = nullptr;
    if (DrawloomError *error =
            drawloomDeviceAllocate(handle.get(), bytes, stream, &memory))
      return Error(error);
    return memory;
  }
  void release(void *memory, void *stream) const {
    drawloomDeviceRelease(handle.get(), memory, stream);
  }
  Result<void> upload(void *device, const void *host, size_t bytes,
                      void *stream) const {
    return Result<void>(
        drawloomDeviceUpload(handle.get(), device, host, bytes, stream));
  }
  Result<void> download(void *host, const void *device, size_t bytes,
                        void *stream) const {
    return Result<void>(
        drawloomDeviceDownload(handle.get(), host, device, bytes, stream));
  }
  Result<void> order(void *before, void *after) const {
    return Result<void>(drawloomDeviceOrder(handle.get(), before, after));
  }

private:
  static DrawloomLoadOptions loadOptions(const std::string &isa,
                                         const std::string &target) {
    DrawloomLoadOptions options = {};
    options.size = sizeof(options);
    options.isa = isa.empty() ? nullptr : isa.c_str();
    options.target = target.empty() ? nullptr : target.c_str();
    return options;
  }
  struct Destroy {
    void operator()(DrawloomProgram *program) const {
      drawloomProgramDestroy(program);
    }
  };
  std::unique_ptr<DrawloomProgram, Destroy> handle;
};

} // namespace embedding
} // namespace drawloom

#endif // DRAWLOOM_RUNTIME_H
