//===- Device.h - calls with arrays on a GPU -------------------- -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PYTHON_DEVICE_H
#define DRAWLOOM_PYTHON_DEVICE_H

#include "Exchange.h"
#include <nanobind/nanobind.h>

namespace drawloom::python {

/// Whether the function runs on a GPU and one of the objects is an array there.
bool isCallOnDevice(const Function &function, nanobind::handle arguments);

/// Calls a function with arrays of its GPU, which are used where they are, and
/// numbers for its scalars. The work is put on `stream` (a CUstream as an
/// integer; None: the current stream of the first array's library, else the
/// legacy default stream), and nothing waits for it. Results go to `out`, or to
/// new arrays of the kind of the first array.
nanobind::object callOnDevice(const Function &function,
                              nanobind::handle arguments, nanobind::handle out,
                              nanobind::handle stream);

/// The class of results that no library made.
void addDevice(nanobind::module_ &m);

/// A call with dense tensors of one GPU, on their library's current stream,
/// with memory of that library's. `shapes` are those of the results as it sees
/// them.
nanobind::object
callWithTensors(const Function &function, const Exchange &exchange,
                const std::vector<nanobind::dlpack::dltensor> &arguments,
                const std::vector<std::vector<int64_t>> &shapes);

/// Raises the error of a library whose allocator has nothing left on a GPU.
[[noreturn]] void raiseOutOfDeviceMemory(const std::string &message);

} // namespace drawloom::python

#endif // DRAWLOOM_PYTHON_DEVICE_H
