//===- Exchange.h - tensors through DLPack's C functions ------- -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DLPack 1.2 and later let a tensor type name a table of C functions, in its
// attribute __dlpack_c_exchange_api__: a tensor is read and made in some tens
// of nanoseconds, where __dlpack__ takes microseconds. The declarations are
// that interface's; the names are ours.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PYTHON_EXCHANGE_H
#define DRAWLOOM_PYTHON_EXCHANGE_H

#include "Objects.h"
#include <functional>
#include <nanobind/ndarray.h>

namespace drawloom::python {

struct Exchange {
  struct Version {
    uint32_t major, minor;
  };
  struct Header {
    Version version;
    Header *previous;
  };
  /// DLManagedTensorVersioned.
  struct Managed {
    Version version;
    void *context;
    void (*destroy)(Managed *);
    uint64_t flags;
    nanobind::dlpack::dltensor tensor;
  };

  Header header;
  int (*allocate)(nanobind::dlpack::dltensor *prototype, Managed **out,
                  void *context,
                  void (*setError)(void *context, const char *kind,
                                   const char *message));
  int (*toManaged)(void *object, Managed **out);
  int (*fromManaged)(Managed *tensor, void **object);
  /// May be null. What it fills lives as long as the object does not change.
  int (*read)(void *object, nanobind::dlpack::dltensor *out);
  int (*currentStream)(int32_t deviceType, int32_t device, void **stream);

  /// The table of a type; null where it has none that can be used here.
  static const Exchange *of(nanobind::handle type);
  /// A new dense tensor as the library describes it, in main memory unless it
  /// is told otherwise; null where there is no memory, with `why`. Needs no
  /// lock of the interpreter.
  Managed *makeManaged(nanobind::dlpack::dtype dtype, const int64_t *shape,
                       size_t rank, std::string &why,
                       int32_t deviceType = nanobind::device::cpu::value,
                       int32_t deviceId = 0) const;
  /// The same as an object, and where its elements are.
  nanobind::object make(DrawloomElement element,
                        const std::vector<int64_t> &shape, void *&data,
                        int32_t deviceType = nanobind::device::cpu::value,
                        int32_t deviceId = 0) const;
};

static_assert(sizeof(nanobind::dlpack::dltensor) == 48,
              "DLTensor's layout is part of the interface");

nanobind::dlpack::dtype dtypeOf(DrawloomElement element);
/// False where no Drawloom type is the same.
bool elementOf(nanobind::dlpack::dtype dtype, DrawloomElement &element);
bool isDense(const nanobind::dlpack::dltensor &tensor);
/// Reads a tensor of a type with a table. Where its memory does not hold its
/// values (torch's views that are to be negated, tensors of zeros without
/// memory), `owner` is a tensor that does. Raises CallTypeError for what is no
/// dense array at all, a sparse tensor say; `what` names it, "argument 0".
void readTensor(const Exchange &exchange, nanobind::handle tensor,
                const std::function<std::string()> &what,
                nanobind::dlpack::dltensor &view, nanobind::object &owner);
/// Whether the values are not those in memory but their negatives.
bool isNegated(nanobind::handle tensor);
/// "RuntimeError: what it said", without a traceback. What is no Exception, as
/// KeyboardInterrupt is not, is thrown on.
std::string firstLine(nanobind::python_error &error);

/// The program of a spec (see drawloom.ops) on tensors of a type with an
/// exchange table, all of one device. `resolve(spec, ((element, shape), ...),
/// "cpu" or "cuda:0")` gives the function and the shapes of the results when
/// these come for the first time. `spec` is known by its identity. Gives one
/// tensor or a tuple of them.
nanobind::object runSpec(nanobind::handle spec, nanobind::tuple tensors,
                         unsigned threads, nanobind::handle resolve);

/// The kernel of an op for torch's Autograd keys: computes at once where
/// nothing else is to be done. Arguments are tensors, lists of them, strings,
/// numbers and None.
struct Kernel {
  nanobind::object specOf, resolve;
  /// What is called with the arguments where a gradient is wanted and nothing
  /// more; and where a mode or a transform is active, or a tensor is no plain
  /// one, so that the dispatcher has to go on.
  nanobind::object record, dispatch;
  /// The two types whose objects are tensors and nothing else, and functions of
  /// torch: the number of active modes, the innermost transform or None,
  /// whether gradients are recorded, how many threads ops use; the module of
  /// forward mode, whose _current_level is -1 where none is active; and the
  /// descriptor of a tensor's requires_grad.
  nanobind::object plainType, parameterType, modes, transforms, forwardMode,
      gradEnabled, threads, requiresGrad;

  nanobind::object call(nanobind::tuple arguments) const;

private:
  /// In the order in which one prevails.
  enum class Way { Compute, Record, Dispatch };
  Way wayOf(nanobind::handle argument, bool gradients) const;
  bool isForwardMode() const;
  nanobind::object compute(nanobind::tuple arguments) const;
};

/// Kernel::call as Python's type slot has it: null with an exception set.
PyObject *callKernel(PyObject *self, PyObject *arguments, PyObject *named);

} // namespace drawloom::python

#endif // DRAWLOOM_PYTHON_EXCHANGE_H
