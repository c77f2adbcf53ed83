//===- Status.h - errors of the runtime as values --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_STATUS_H
#define DRAWLOOM_RUNTIME_STATUS_H

#include <optional>
#include <string>
#include <utility>

namespace drawloom::runtime {

/// Success, or a message that says what failed, where, why and what to do.
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status error(std::string message) {
    Status status;
    status.text = std::move(message);
    return status;
  }
  /// Makes an error of a disk, or of a device that stands for one.
  static Status storageError(std::string message) {
    Status status = error(std::move(message));
    status.storage = true;
    return status;
  }
  bool ok() const { return text.empty(); }
  bool isStorageError() const { return storage; }
  const std::string &message() const { return text; }

private:
  std::string text;
  bool storage = false;
};

/// A value, or the error that explains why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Status status) : failure(std::move(status)) {}
  bool ok() const { return value.has_value(); }
  const std::string &message() const { return failure.message(); }
  const Status &status() const { return failure; }
  T &operator*() { return *value; }
  T *operator->() { return &*value; }

private:
  std::optional<T> value;
  Status failure;
};

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_STATUS_H
