//===- Module.cpp - the extension module of the Python package ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C interface as Python objects. What users see, drawloom/*.py makes of it.
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "Device.h"
#include "Exchange.h"
#include "Jax.h"
#include "Objects.h"
#include "Update.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace drawloom::python {

/// drawloom.Error and its like are Python classes, so that they can have
/// attributes and more than one base.
void raise(DrawloomError *error) {
  if (drawloomErrorCode(error) == DRAWLOOM_ERROR_CANCELLED &&
      PyErr_Occurred()) {
    drawloomErrorDestroy(error);
    throw nb::python_error();
  }
  nb::object known =
      nb::module_::import_("drawloom._errors")
          .attr("make")(static_cast<int>(drawloomErrorCode(error)),
                        drawloomErrorMessage(error),
                        drawloomErrorLocation(error), drawloomErrorPhase(error),
                        drawloomErrorReproducer(error));
  drawloomErrorDestroy(error);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(known.ptr())),
                  known.ptr());
  throw nb::python_error();
}

Compiler::Compiler(const std::string &target, const std::string &isa,
                   const std::optional<std::string> &cacheFolder,
                   uint64_t cacheBytes, const std::string &dumpPhasesTo) {
  DrawloomCompilerOptions options = {};
  options.size = sizeof(options);
  options.target = target.c_str();
  options.isa = isa.c_str();
  options.cacheFolder = cacheFolder ? cacheFolder->c_str() : nullptr;
  options.cacheBytes = cacheBytes;
  options.dumpPhasesTo = dumpPhasesTo.empty() ? nullptr : dumpPhasesTo.c_str();
  options.noteContext = this;
  options.note = [](void *self, const char *message) {
    auto *compiler = static_cast<Compiler *>(self);
    std::lock_guard<std::mutex> lock(compiler->mutex);
    compiler->notes.push_back(message);
  };
  // Ctrl-C: Python's signal handlers run here while it is the main thread that
  // compiles. What they raise is the exception of the call.
  options.cancelled = [](void *) -> int {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals();
  };
  if (DrawloomError *error = drawloomCompilerCreate(&options, &handle))
    raise(error);
}

std::vector<std::string> Compiler::takeNotes() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(notes, {});
}

using Sources = std::vector<std::pair<std::string, nb::bytes>>;
using Shapes =
    std::vector<std::pair<std::string, std::vector<std::vector<int64_t>>>>;

static std::vector<DrawloomSource> describe(const Sources &sources) {
  std::vector<DrawloomSource> result;
  for (const auto &[name, contents] : sources)
    result.push_back({name.c_str(), contents.c_str(), contents.size()});
  return result;
}

static std::shared_ptr<Program>
compile(Compiler &compiler, const Sources &sources, const Shapes &shapes) {
  std::vector<DrawloomSource> list = describe(sources);
  std::vector<std::vector<DrawloomExtents>> extents;
  std::vector<DrawloomShapes> functions;
  for (const auto &[name, arguments] : shapes) {
    std::vector<DrawloomExtents> &all = extents.emplace_back();
    for (const std::vector<int64_t> &argument : arguments)
      all.push_back({argument.data(), argument.size()});
    functions.push_back({name.c_str(), all.data(), all.size()});
  }
  DrawloomProgram *program = nullptr;
  DrawloomError *error = nullptr;
  {
    nb::gil_scoped_release release;
    error = drawloomCompile(compiler.handle, list.data(), list.size(),
                            functions.data(), functions.size(), &program);
  }
  if (error)
    raise(error);
  return std::make_shared<Program>(program);
}

static std::shared_ptr<Program> parse(Compiler &compiler,
                                      const Sources &sources) {
  std::vector<DrawloomSource> list = describe(sources);
  DrawloomProgram *program = nullptr;
  DrawloomError *error = nullptr;
  {
    nb::gil_scoped_release release;
    error = drawloomParse(compiler.handle, list.data(), list.size(), &program);
  }
  if (error)
    raise(error);
  return std::make_shared<Program>(program);
}

static std::shared_ptr<Program> load(const std::string &path,
                                     const std::string &isa,
                                     const std::string &target) {
  DrawloomLoadOptions options = {};
  options.size = sizeof(options);
  options.isa = isa.empty() ? nullptr : isa.c_str();
  options.target = target.empty() ? nullptr : target.c_str();
  DrawloomProgram *program = nullptr;
  DrawloomError *error = nullptr;
  {
    nb::gil_scoped_release release;
    error = drawloomProgramLoad(path.c_str(), &options, &program);
  }
  if (error)
    raise(error);
  return std::make_shared<Program>(program);
}

static void save(const Program &program, const std::string &path) {
  DrawloomError *error = nullptr;
  {
    nb::gil_scoped_release release;
    error = drawloomProgramSave(program.handle, path.c_str());
  }
  if (error)
    raise(error);
}

static std::vector<std::shared_ptr<Function>>
functionsOf(const std::shared_ptr<Program> &program) {
  std::vector<std::shared_ptr<Function>> functions;
  for (size_t i = 0; i < drawloomFunctionCount(program->handle); ++i)
    functions.push_back(std::make_shared<Function>(
        program, drawloomFunctionAt(program->handle, i)));
  return functions;
}

static nb::list typeList(const std::vector<Type> &types) {
  nb::list list;
  for (const Type &type : types) {
    nb::list extents;
    for (int64_t extent : type.shape)
      extents.append(extent);
    list.append(nb::make_tuple(elementName(type.element), nb::tuple(extents)));
  }
  return list;
}

nb::object Function::maker(nb::handle kind) const {
  if (!lastMaker.is_valid() || !lastKind.is(kind)) {
    lastMaker = nb::module_::import_("drawloom._arrays")
                    .attr("maker")(kind, typeList(results));
    lastKind = nb::borrow(kind);
  }
  return lastMaker;
}

} // namespace drawloom::python

NB_MODULE(_drawloom, m) {
  using namespace drawloom::python;
  nb::set_leak_warnings(false);
  m.doc() = "Drawloom's C interface; use the package drawloom instead.";
  m.def("api_version", &drawloomApiVersion);
  m.attr("built_for_api_version") = DRAWLOOM_API_VERSION;

  nb::class_<Compiler>(m, "Compiler")
      .def(nb::init<const std::string &, const std::string &,
                    const std::optional<std::string> &, uint64_t,
                    const std::string &>(),
           "target"_a, "isa"_a, "cache_folder"_a.none(), "cache_bytes"_a,
           "dump_phases_to"_a)
      .def("take_notes", &Compiler::takeNotes)
      .def("compile", &compile, "sources"_a, "shapes"_a)
      .def("parse", &parse, "sources"_a);

  addJax(m);
  addDevice(m);

  m.def("run_spec", &runSpec, "spec"_a, "tensors"_a, "threads"_a, "resolve"_a);

  m.def("update_in_place", &updateInPlace, "pieces"_a, "tensors"_a, "counts"_a,
        "rate"_a, "step"_a, "threads"_a);

  nb::class_<Kernel>(m, "Kernel")
      .def(
          "__init__",
          [](Kernel *self, nb::object specOf, nb::object resolve,
             nb::object record, nb::object dispatch, nb::object plainType,
             nb::object parameterType, nb::object modes, nb::object transforms,
             nb::object gradEnabled, nb::object threads) {
            new (self) Kernel{specOf,      resolve,       record, dispatch,
                              plainType,   parameterType, modes,  transforms,
                              gradEnabled, threads};
          },
          "spec_of"_a, "resolve"_a, "record"_a, "dispatch"_a, "plain_type"_a,
          "parameter_type"_a, "modes"_a, "transforms"_a, "grad_enabled"_a,
          "threads"_a)
      .def("__call__", &Kernel::call);

  m.def("load", &load, "path"_a, "isa"_a, "target"_a);
  nb::class_<Program>(m, "Program")
      .def_prop_ro("functions", &functionsOf)
      .def_prop_ro(
          "target",
          [](const Program &p) { return drawloomProgramTarget(p.handle); })
      .def_prop_ro("targets",
                   [](const Program &p) {
                     nb::list list;
                     for (size_t i = 0;
                          i < drawloomProgramTargetCount(p.handle); ++i)
                       list.append(drawloomProgramTargetAt(p.handle, i));
                     return list;
                   })
      .def("save", &save, "path"_a);

  nb::class_<Function>(m, "Function", nb::dynamic_attr())
      .def_prop_ro(
          "name",
          [](const Function &f) { return drawloomFunctionName(f.handle); })
      .def_prop_ro("arguments",
                   [](const Function &f) { return typeList(f.arguments); })
      .def_prop_ro("results",
                   [](const Function &f) { return typeList(f.results); })
      .def_prop_ro(
          "workspace",
          [](const Function &f) { return drawloomFunctionWorkspace(f.handle); })
      .def_prop_ro("address",
                   [](const Function &f) {
                     return reinterpret_cast<uintptr_t>(f.handle);
                   })
      .def("call", &callWithArrays, "arguments"_a, "out"_a.none(), "threads"_a,
           "stream"_a.none() = nb::none())
      .def("call_pointers", &callWithPointers, "arguments"_a, "results"_a,
           "threads"_a);
}
