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
#include "Graphs.h"
#include "Jax.h"
#include "Objects.h"
#include "Offload.h"
#include "OpenMp.h"
#include "Tables.h"
#include "Update.h"
#include "drawloom/OpenExtent.h"
#include <cxxabi.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>
#include <unordered_map>

namespace nb = nanobind;
using namespace nb::literals;

namespace drawloom::python {

template <typename Function> static void waitAtTheEnd(Function take) {
  try {
    take();
  } catch (abi::__forced_unwind &) {
    for (;;)
      pause();
  }
}

Unlocked::~Unlocked() {
  waitAtTheEnd([this] { PyEval_RestoreThread(state); });
}

Locked::Locked() {
  waitAtTheEnd([this] { state = PyGILState_Ensure(); });
}

nb::object callPython(nb::handle function,
                      std::initializer_list<nb::handle> arguments) {
  PyObject *list[4] = {}, *result = nullptr;
  size_t count = 0;
  for (nb::handle argument : arguments)
    list[count++] = argument.ptr();
  waitAtTheEnd([&] {
    result = nb::detail::vectorcall(function.ptr(), list, count, nullptr);
  });
  if (!result)
    throw nb::python_error();
  return nb::steal(result);
}

const std::string &typeName(nb::handle object) {
  static std::unordered_map<PyTypeObject *, std::string> known;
  auto [it, isNew] = known.try_emplace(Py_TYPE(object.ptr()));
  if (isNew) {
    nb::handle type = object.type();
    type.inc_ref(); // Another class could get its address.
    it->second = nb::cast<std::string>(type.attr("__name__"));
  }
  return it->second;
}

nb::object fromModule(const char *module, const char *attribute) {
  PyObject *found = nullptr;
  waitAtTheEnd([&] { found = PyImport_ImportModule(module); });
  if (!found)
    throw nb::python_error();
  return nb::steal(found).attr(attribute);
}

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
                   uint64_t cacheBytes, const std::string &dumpPhasesTo,
                   uint64_t memory, bool stores, const std::string &memoryRates,
                   const std::string &plan,
                   const std::vector<std::string> &insertPasses) {
  DrawloomCompilerOptions options = {};
  options.size = sizeof(options);
  options.target = target.c_str();
  options.isa = isa.c_str();
  options.cacheFolder = cacheFolder ? cacheFolder->c_str() : nullptr;
  options.cacheBytes = cacheBytes;
  options.dumpPhasesTo = dumpPhasesTo.empty() ? nullptr : dumpPhasesTo.c_str();
  options.memory = memory;
  options.stores = stores;
  options.memoryRates = memoryRates.c_str();
  options.plan = plan.empty() ? nullptr : plan.c_str();
  std::vector<const char *> passes;
  for (const std::string &one : insertPasses)
    passes.push_back(one.c_str());
  options.insertedPasses = passes.data();
  options.insertedPassCount = passes.size();
  options.noteContext = this;
  options.note = [](void *self, const char *message) {
    auto *compiler = static_cast<Compiler *>(self);
    std::lock_guard<std::mutex> lock(compiler->mutex);
    compiler->notes.push_back(message);
  };
  // Ctrl-C: Python's signal handlers run here while it is the main thread that
  // compiles. What they raise is the exception of the call.
  options.cancelled = [](void *) -> int {
    Locked locked;
    return PyErr_CheckSignals();
  };
  if (DrawloomError *error = drawloomCompilerCreate(&options, &handle))
    raise(error);
}

std::vector<std::string> Compiler::takeNotes() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(notes, {});
}

static void loadPlugin(const std::string &path) {
  DrawloomError *error = nullptr;
  {
    Unlocked unlocked;
    error = drawloomLoadPlugin(path.c_str());
  }
  if (error)
    raise(error);
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

namespace {
/// As the C interface takes them; points into what it is made of.
struct ShapesOf {
  explicit ShapesOf(const Shapes &shapes) {
    for (const auto &[name, arguments] : shapes) {
      std::vector<DrawloomExtents> &all = extents.emplace_back();
      for (const std::vector<int64_t> &argument : arguments)
        all.push_back({argument.data(), argument.size()});
      functions.push_back({name.c_str(), all.data(), all.size()});
    }
  }
  std::vector<std::vector<DrawloomExtents>> extents;
  std::vector<DrawloomShapes> functions;
};
} // namespace

static std::shared_ptr<Program>
compile(Compiler &compiler, const Sources &sources, const Shapes &shapes) {
  std::vector<DrawloomSource> list = describe(sources);
  ShapesOf given(shapes);
  DrawloomProgram *program = nullptr;
  DrawloomError *error = nullptr;
  {
    Unlocked unlocked;
    error = drawloomCompile(compiler.handle, list.data(), list.size(),
                            given.functions.data(), given.functions.size(),
                            &program);
  }
  if (error)
    raise(error);
  return std::make_shared<Program>(program);
}

/// Of `function`, which has the types of one of the sources' functions;
/// arguments of None are random ones.
static std::shared_ptr<Report>
report(Compiler &compiler, const Sources &sources, const Shapes &shapes,
       const Function &function, nb::object arguments, unsigned calls,
       unsigned threads) {
  std::vector<DrawloomSource> list = describe(sources);
  ShapesOf given(shapes);
  ArgumentBuffers buffers;
  if (!arguments.is_none())
    buffers = readArguments(function, arguments);
  DrawloomReportOptions options = {};
  options.size = sizeof(options);
  options.function = drawloomFunctionName(function.handle);
  options.arguments =
      buffers.buffers.empty() ? nullptr : buffers.buffers.data();
  options.argumentCount = buffers.buffers.size();
  options.calls = calls;
  options.threads = threads;
  DrawloomReport *made = nullptr;
  DrawloomError *error = nullptr;
  {
    Unlocked unlocked;
    error = drawloomReportCreate(compiler.handle, list.data(), list.size(),
                                 given.functions.data(), given.functions.size(),
                                 &options, &made);
  }
  if (error)
    raise(error);
  return std::make_shared<Report>(made);
}

static std::shared_ptr<Report> joinReports(
    const std::vector<std::pair<std::shared_ptr<Report>, unsigned>> &parts,
    const std::string &title) {
  std::vector<const DrawloomReport *> reports;
  std::vector<unsigned> times;
  for (const auto &[part, count] : parts) {
    reports.push_back(part->handle);
    times.push_back(count);
  }
  DrawloomReport *joined = nullptr;
  if (DrawloomError *error = drawloomReportJoin(
          reports.data(), times.data(), reports.size(), title.c_str(), &joined))
    raise(error);
  return std::make_shared<Report>(joined);
}

static void saveReport(const Report &report, int format,
                       const std::string &path) {
  DrawloomError *error = nullptr;
  {
    Unlocked unlocked;
    error = drawloomReportSave(
        report.handle, static_cast<DrawloomReportFormat>(format), path.c_str());
  }
  if (error)
    raise(error);
}

static std::shared_ptr<Program> parse(Compiler &compiler,
                                      const Sources &sources) {
  std::vector<DrawloomSource> list = describe(sources);
  DrawloomProgram *program = nullptr;
  DrawloomError *error = nullptr;
  {
    Unlocked unlocked;
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
    Unlocked unlocked;
    error = drawloomProgramLoad(path.c_str(), &options, &program);
  }
  if (error)
    raise(error);
  return std::make_shared<Program>(program);
}

static void save(const Program &program, const std::string &path) {
  DrawloomError *error = nullptr;
  {
    Unlocked unlocked;
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

/// The function with the open extents that arguments of these shapes have.
static std::shared_ptr<Function>
bind(const Function &function,
     const std::vector<std::vector<int64_t>> &shapes) {
  std::vector<DrawloomExtents> extents;
  for (const std::vector<int64_t> &shape : shapes)
    extents.push_back({shape.data(), shape.size()});
  DrawloomBoundFunction *made = nullptr;
  if (DrawloomError *error = drawloomFunctionBind(
          function.handle, extents.data(), extents.size(), &made))
    raise(error);
  std::shared_ptr<DrawloomBoundFunction> owner(made,
                                               drawloomBoundFunctionDestroy);
  auto bound =
      std::make_shared<Function>(function.program, drawloomBoundFunction(made));
  bound->bound = std::move(owner);
  return bound;
}

std::shared_ptr<Function>
Function::withExtents(const std::vector<int64_t> &extents) const {
  auto found = known.find(extents);
  if (found != known.end())
    return found->second;
  std::vector<std::vector<int64_t>> shapes;
  for (const Type &type : arguments) {
    shapes.push_back(type.shape);
    for (int64_t &extent : shapes.back())
      if (extent < 0)
        extent = OpenExtent::ofShape(extent).in(extents.data());
  }
  std::shared_ptr<Function> made = drawloom::python::bind(*this, shapes);
  // Those of one call after the other are few, or all different.
  constexpr size_t most = 64;
  if (known.size() >= most)
    known.clear();
  return known[extents] = std::move(made);
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
    lastMaker = callPython(fromModule("drawloom._arrays", "maker"),
                           {kind, typeList(results)});
    lastKind = nb::borrow(kind);
  }
  return lastMaker;
}

} // namespace drawloom::python

namespace drawloom::python {

static void addCompiler(nb::module_ &m) {
  nb::class_<Compiler>(m, "Compiler",
                       "Compiles programs, and remembers the last 256.")
      .def(nb::init<const std::string &, const std::string &,
                    const std::optional<std::string> &, uint64_t,
                    const std::string &, uint64_t, bool, const std::string &,
                    const std::string &, const std::vector<std::string> &>(),
           "target"_a, "isa"_a, "cache_folder"_a.none(), "cache_bytes"_a,
           "dump_phases_to"_a, "memory"_a = 0, "stores"_a = false,
           "memory_rates"_a = "", "plan"_a = "",
           "insert_passes"_a = std::vector<std::string>(),
           "isa: names of instruction sets with commas between them. "
           "cache_folder: where programs are kept, \"\" for nowhere, None for "
           "the user's folder. cache_bytes: 0 for the default. dump_phases_to: "
           "a folder for the program in each phase, or \"\". memory, stores, "
           "memory_rates, plan, insert_passes: as in "
           "DrawloomCompilerOptions.")
      .def("take_notes", &Compiler::takeNotes,
           "What compiling noted since this was last asked.")
      .def("compile", &compile, "sources"_a, "shapes"_a,
           "sources: pairs of a name and MLIR text or bytecode. shapes: pairs "
           "of a function's name and, for each argument, its extents; needed "
           "where a type leaves some open.")
      .def(
          "statistics",
          [](const Compiler &compiler) {
            DrawloomCompilerStatistics known = {};
            known.size = sizeof(known);
            drawloomCompilerStatistics(compiler.handle, &known);
            return nb::make_tuple(known.compiled, known.seconds, known.loaded,
                                  known.remembered, known.failed);
          },
          "(compiled, seconds, loaded, remembered, failed): counts of the "
          "programs that it was asked for.")
      .def("parse", &parse, "sources"_a,
           "The signatures of the public functions; nothing is compiled.")
      .def("report", &report, "sources"_a, "shapes"_a, "function"_a,
           "arguments"_a.none(), "calls"_a, "threads"_a,
           "Compiles anew what `function` is of, calls it, and gives a Report; "
           "with random arguments for None. shapes: as for compile.");
}

static void addReport(nb::module_ &m) {
  m.def("join_reports", &joinReports, "parts"_a, "title"_a,
        "One Report of several. parts: pairs of a Report and how many times it "
        "counts.");
  nb::class_<Report>(m, "Report", "What a function was seen to do.")
      .def(
          "text",
          [](const Report &report, int format) {
            return drawloomReportText(
                report.handle, static_cast<DrawloomReportFormat>(format));
          },
          "format"_a, "format: 0 for tables, 1 for JSON, 2 for a page.")
      .def("save", &saveReport, "format"_a, "path"_a,
           "Writes text(format) to a file, whole or not at all.");
}

static void addKernel(nb::module_ &m) {
  // A slot of the type: looking up a method for each call costs as much as a
  // tenth of a small op.
  static PyType_Slot kernelSlots[] = {
      {Py_tp_call, reinterpret_cast<void *>(&callKernel)}, {0, nullptr}};
  nb::class_<Kernel>(
      m, "Kernel", nb::type_slots(kernelSlots),
      "An op's kernel for torch's Autograd keys: computes at once where "
      "nothing else is to be done, and calls `record` or `dispatch` where it "
      "is.")
      .def(
          "__init__",
          [](Kernel *self, nb::object specOf, nb::object resolve,
             nb::object record, nb::object dispatch, nb::object plainType,
             nb::object parameterType, nb::object modes, nb::object transforms,
             nb::object forwardMode, nb::object gradEnabled, nb::object threads,
             nb::object requiresGrad) {
            new (self)
                Kernel{specOf,      resolve,       record,  dispatch,
                       plainType,   parameterType, modes,   transforms,
                       forwardMode, gradEnabled,   threads, requiresGrad};
          },
          "spec_of"_a, "resolve"_a, "record"_a, "dispatch"_a, "plain_type"_a,
          "parameter_type"_a, "modes"_a, "transforms"_a, "forward_mode"_a,
          "grad_enabled"_a, "threads"_a, "requires_grad"_a);
}

static void addProgram(nb::module_ &m) {
  m.def("load", &load, "path"_a, "isa"_a, "target"_a,
        "The program of a file; isa \"\" takes the best that the machine runs, "
        "and "
        "target \"\" the CPU where there is code for it.");
  nb::class_<Program>(m, "Program", "Compiled functions.")
      .def_prop_ro("functions", &functionsOf, "Its public functions.")
      .def_prop_ro(
          "target",
          [](const Program &p) { return drawloomProgramTarget(p.handle); },
          "What runs it.")
      .def_prop_ro(
          "targets",
          [](const Program &p) {
            nb::list list;
            for (size_t i = 0; i < drawloomProgramTargetCount(p.handle); ++i)
              list.append(drawloomProgramTargetAt(p.handle, i));
            return list;
          },
          "What it has code for.")
      .def("save", &save, "path"_a,
           "Writes a file that `load` reads, whole or not at all.");
}

static void addFunction(nb::module_ &m) {
  nb::class_<Function>(m, "Function", nb::dynamic_attr(),
                       "A compiled function; keeps its program alive.")
      .def_prop_ro(
          "name",
          [](const Function &f) { return drawloomFunctionName(f.handle); },
          "Its name in the program.")
      .def_prop_ro(
          "arguments", [](const Function &f) { return typeList(f.arguments); },
          nb::sig(
              "def arguments(self, /) -> list[tuple[str, tuple[int, ...]]]"),
          "For each argument its element type's name and its shape.")
      .def_prop_ro(
          "results", [](const Function &f) { return typeList(f.results); },
          nb::sig("def results(self, /) -> list[tuple[str, tuple[int, ...]]]"),
          "The same for the results.")
      .def_prop_ro(
          "names",
          [](const Function &f) {
            auto list = [&](size_t count, auto nameOf) {
              nb::list names;
              for (size_t i = 0; i < count; ++i)
                names.append(nameOf(f.handle, i));
              return names;
            };
            return nb::make_tuple(
                list(f.arguments.size(), drawloomArgumentName),
                list(f.results.size(), drawloomResultName));
          },
          nb::sig("def names(self, /) -> tuple[list[str], list[str]]"),
          "What the program calls its arguments, and its results; '' where it "
          "does not say.")
      .def_prop_ro(
          "scalars",
          [](const Function &f) {
            auto list = [&](size_t count, auto isScalar) {
              nb::list flags;
              for (size_t i = 0; i < count; ++i)
                flags.append(isScalar(f.handle, i) != 0);
              return flags;
            };
            return nb::make_tuple(
                list(f.arguments.size(), drawloomArgumentIsScalar),
                list(f.results.size(), drawloomResultIsScalar));
          },
          nb::sig("def scalars(self, /) -> tuple[list[bool], list[bool]]"),
          "Of a program that is only parsed: for each argument and each result "
          "whether it is a value in the program's text, and no tensor.")
      .def_prop_ro(
          "open_extents",
          [](const Function &f) {
            return drawloomFunctionOpenExtents(f.handle);
          },
          "How many extents it leaves open.")
      .def("bind", &bind, "shapes"_a,
           "The function for arguments of these shapes, for each a sequence of "
           "extents: nothing is compiled.")
      .def_prop_ro(
          "stored",
          [](const Function &f) { return drawloomFunctionStored(f.handle); },
          "The most bytes that a call keeps in a store at once.")
      .def_prop_ro(
          "workspace",
          [](const Function &f) { return drawloomFunctionWorkspace(f.handle); },
          "The bytes that a call needs beside its arguments and results.")
      .def_prop_ro(
          "address",
          [](const Function &f) {
            return reinterpret_cast<uintptr_t>(f.handle);
          },
          "Of the C interface's DrawloomFunction.")
      .def("call", &callWithArrays, "arguments"_a, "out"_a.none(), "threads"_a,
           "stream"_a.none() = nb::none(),
           "Calls it with arrays and numbers. out: dense, writable arrays for "
           "the results, or None for new ones of the first argument's kind.")
      .def("call_pointers", &callWithPointers, "arguments"_a, "results"_a,
           "threads"_a,
           "Calls it with the addresses of dense arrays, which nobody checks.");
}

} // namespace drawloom::python

NB_MODULE(_drawloom, m) {
  using namespace drawloom::python;
  nb::set_leak_warnings(false);
  m.doc() = "Drawloom's C interface; use the package drawloom instead.";
  m.def("api_version", &drawloomApiVersion,
        "The version of the interface that the library libdrawloom.so has.");
  m.attr("built_for_api_version") = DRAWLOOM_API_VERSION;

  addCompiler(m);
  addReport(m);
  addJax(m);
  addDevice(m);

  m.def("load_plugin", &loadPlugin, "path"_a,
        "Loads a library of dialects and passes into this process, for the "
        "compilers that are made afterwards.");

  m.def("use_openmp", &findOpenMp,
        "Finds the threads that torch's own ops run on; calls run on them from "
        "then on. False where there are none.");

  m.def(
      "run_spec", &runSpec, "spec"_a, "tensors"_a, "threads"_a, "resolve"_a,
      "The results of a spec's program on tensors with DLPack's C functions, "
      "one tensor or a tuple of them. resolve(spec, types) gives the Function "
      "and the results' shapes for types seen first; a spec is known by its "
      "identity.");

  addGraphs(m);
  addOffload(m);
  addTables(m);

  m.def("update_in_place", &updateInPlace, "pieces"_a, "tensors"_a, "counts"_a,
        "rate"_a, "step"_a, "threads"_a,
        "An optimizer's step. pieces: pairs of a number of elements and the "
        "Function that updates so many, the largest first. tensors: for each "
        "parameter the addresses of it, its gradient and its moments, dense. "
        "counts: the elements of each parameter.");

  addKernel(m);
  addProgram(m);
  addFunction(m);
}
