//===- Report.cpp - reports through the C interface -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Report/Report.h"
#include "drawloom/runtime/AlignedBuffer.h"
#include "drawloom/runtime/Files.h"
#include "lib/Compiler/Elements.h"
#include "lib/Embed/Embed.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace drawloom;
using namespace drawloom::embed;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

struct DrawloomReport {
  explicit DrawloomReport(report::Report given)
      : report(std::move(given)),
        texts{toText(report), toJson(report), toHtml(report)} {}
  report::Report report;
  /// By DrawloomReportFormat.
  std::string texts[3];
};

namespace {
/// One report in the making.
class Reporting {
public:
  Reporting(DrawloomCompiler &compiler, std::vector<Source> sources,
            ArrayRef<DrawloomShapes> shapes,
            const DrawloomReportOptions &options)
      : compiler(compiler), cancellation(compiler), sources(std::move(sources)),
        shapes(shapes), options(options) {}

  DrawloomError *run(DrawloomReport **result);

private:
  DrawloomError *compile();
  /// The function to measure, in a program that is parsed.
  DrawloomError *choose(mlir::ModuleOp module);
  DrawloomError *allocate(const std::vector<ValueType> &types,
                          std::vector<DrawloomBuffer> &buffers);
  DrawloomError *stopped() {
    return makeError(DRAWLOOM_ERROR_CANCELLED, "the report was cancelled");
  }

  DrawloomCompiler &compiler;
  Cancellation cancellation;
  std::vector<Source> sources;
  ArrayRef<DrawloomShapes> shapes;
  DrawloomReportOptions options;
  report::Recorder recorder;
  std::string entry;
  std::shared_ptr<const runtime::Loaded> loaded;
  std::vector<runtime::AlignedBuffer> memory;
};
} // namespace

DrawloomError *Reporting::choose(mlir::ModuleOp module) {
  std::vector<std::string> names;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      names.push_back("@" + function.getName().str());
  std::string list = names.empty() ? "none" : llvm::join(names, ", ");
  if (!options.function && names.size() == 1) {
    entry = names.front().substr(1);
  } else if (!options.function) {
    return makeError(DRAWLOOM_ERROR_CALL,
                     "the report is of one function; the program has " + list);
  } else {
    entry = options.function;
    if (!llvm::is_contained(names, "@" + entry))
      return makeError(DRAWLOOM_ERROR_CALL, "the program has no function @" +
                                                entry + "; it has " + list);
  }
  auto function = module.lookupSymbol<mlir::func::FuncOp>(entry);
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (auto shaped = llvm::dyn_cast<mlir::ShapedType>(type))
      if (!shaped.hasStaticShape())
        return makeError(DRAWLOOM_ERROR_CALL,
                         "argument " + Twine(i) + " of @" + entry +
                             " leaves extents open: its shapes must be given");
  return nullptr;
}

DrawloomError *Reporting::compile() {
  std::string phase = "parse", isa;
  CompileOptions compile = compiler.options;
  // Nothing that is finished: the phases are what is to be seen.
  compile.cache = nullptr;
  compile.cancelled = [this] { return cancellation.ask(); };
  compile.entering = [&](Phase next, mlir::ModuleOp, StringRef set) {
    phase = compiler.options.target->phaseName(next).str();
    isa = set.str();
  };
  recorder.follow(compile);
  StringRef sets = compile.codegen.isa;
  if (sets == "all" || sets.contains(','))
    return makeError(DRAWLOOM_ERROR_TARGET,
                     "a report shows one instruction set's kernels, but the "
                     "compiler's are " +
                         sets);

  mlir::MLIRContext context(compiler.registry,
                            mlir::MLIRContext::Threading::DISABLED);
  Diagnostics diagnostics(context);
  recorder.collectRemarks(context);
  auto fail = [&](std::string message) -> DrawloomError * {
    if (cancellation.seen())
      return stopped();
    if (!diagnostics.message.empty())
      message = diagnostics.message;
    return new DrawloomError{DRAWLOOM_ERROR_PROGRAM, std::move(message),
                             diagnostics.location, phase,
                             reproducer(sources, phase, isa, compiler.options)};
  };
  mlir::OwningOpRef<mlir::ModuleOp> module = parseSources(sources, context);
  if (!module)
    return fail("the sources cannot be read");
  phase = "shapes";
  if (failed(specialize(*module, shapes)))
    return fail("the shapes do not fit");
  if (DrawloomError *error = choose(*module))
    return error;
  if (failed(keepOnly(*module, entry)))
    return fail("the function cannot be taken out of its program");
  Artifact artifact;
  llvm::Expected<std::unique_ptr<Program>> program =
      compileProgram(*module, compile, &artifact);
  if (!program)
    return fail(toString(program.takeError()));
  recorder.finish();
  loaded = std::make_shared<const runtime::Loaded>(
      makeExecutable(std::move(*program)), compile.target->name().str(),
      std::move(artifact));
  return nullptr;
}

DrawloomError *Reporting::allocate(const std::vector<ValueType> &types,
                                   std::vector<DrawloomBuffer> &buffers) {
  for (const ValueType &type : types) {
    std::optional<runtime::AlignedBuffer> buffer =
        runtime::AlignedBuffer::allocate(type.bytes());
    if (!buffer)
      return makeError(DRAWLOOM_ERROR_MEMORY,
                       "@" + entry + " needs " + Twine(type.bytes()) +
                           " bytes for an argument or a result, which this "
                           "machine does not give");
    buffers.push_back({buffer->data(), static_cast<size_t>(type.bytes())});
    memory.push_back(std::move(*buffer));
  }
  return nullptr;
}

DrawloomError *Reporting::run(DrawloomReport **result) {
  if (cancellation.ask())
    return stopped();
  if (DrawloomError *error = compile())
    return error;
  auto found =
      llvm::find_if(loaded->functions, [&](const DrawloomFunction &function) {
        return function.signature->name == entry;
      });
  if (found == loaded->functions.end())
    return makeError(DRAWLOOM_ERROR_CALL,
                     "@" + entry + " cannot be called in its compiled form");
  const DrawloomFunction &function = *found;
  const Signature &signature = *function.signature;

  std::vector<DrawloomBuffer> arguments(
      options.arguments, options.arguments + options.argumentCount);
  if (!options.arguments) {
    arguments.clear();
    if (DrawloomError *error = allocate(signature.arguments, arguments))
      return error;
    for (auto [i, type] : llvm::enumerate(signature.arguments))
      fillRandom(type, static_cast<char *>(arguments[i].data), /*seed=*/0, i,
                 /*low=*/0, /*high=*/2);
  }
  std::vector<DrawloomBuffer> results;
  if (DrawloomError *error = allocate(signature.results, results))
    return error;
  unsigned threads = std::max(options.threads, 1u);
  // This call checks what the others are given.
  if (DrawloomError *error =
          drawloomCall(&function, arguments.data(), arguments.size(),
                       results.data(), results.size(), threads))
    return error;
  std::vector<const void *> from;
  std::vector<void *> to;
  for (const DrawloomBuffer &argument : arguments)
    from.push_back(argument.data);
  for (const DrawloomBuffer &buffer : results)
    to.push_back(buffer.data);
  llvm::Expected<report::Report> report = report::measure(
      signature, compiler.options.target->name(), loaded->program->isa(),
      recorder, options.calls ? options.calls : 20, threads,
      [&](KernelProfile *profile) -> llvm::Error {
        if (cancellation.ask())
          return llvm::createStringError("cancelled");
        runtime::Status status = loaded->program->run(
            function.index, from.data(), to.data(), threads, profile);
        return status.ok() ? llvm::Error::success()
                           : llvm::createStringError(status.message());
      });
  if (!report) {
    std::string message = toString(report.takeError());
    return cancellation.seen() ? stopped()
                               : makeError(DRAWLOOM_ERROR_MEMORY, message);
  }
  *result = new DrawloomReport(std::move(*report));
  return nullptr;
}

DrawloomError *
drawloomReportCreate(DrawloomCompiler *compiler, const DrawloomSource *sources,
                     size_t sourceCount, const DrawloomShapes *shapes,
                     size_t shapeCount, const DrawloomReportOptions *given,
                     DrawloomReport **report) {
  *report = nullptr;
  DrawloomReportOptions options = {};
  // A caller built against an older header has fewer fields.
  if (given)
    std::memcpy(&options, given, std::min(given->size, sizeof(options)));
  std::vector<Source> list = copySources(sources, sourceCount);
  if (list.empty())
    return makeError(DRAWLOOM_ERROR_CALL, "no source is given");
  return Reporting(*compiler, std::move(list), ArrayRef(shapes, shapeCount),
                   options)
      .run(report);
}

DrawloomError *drawloomReportJoin(const DrawloomReport *const *reports,
                                  const unsigned *times, size_t count,
                                  const char *title, DrawloomReport **joined) {
  *joined = nullptr;
  if (count == 0)
    return makeError(DRAWLOOM_ERROR_CALL, "there are no reports to join");
  std::vector<std::pair<const report::Report *, unsigned>> parts;
  for (size_t i = 0; i < count; ++i) {
    const report::Report &first = reports[0]->report,
                         &part = reports[i]->report;
    if (part.target != first.target || part.isa != first.isa ||
        part.threads != first.threads)
      return makeError(DRAWLOOM_ERROR_CALL,
                       "the reports of " + first.title + " and " + part.title +
                           " are not of one target, instruction set and number "
                           "of threads");
    parts.emplace_back(&part, times ? times[i] : 1);
  }
  *joined = new DrawloomReport(report::join(title, parts));
  return nullptr;
}

void drawloomReportDestroy(DrawloomReport *report) { delete report; }

const char *drawloomReportText(const DrawloomReport *report,
                               DrawloomReportFormat format) {
  auto index = static_cast<size_t>(format);
  return index < std::size(report->texts) ? report->texts[index].c_str() : "";
}

DrawloomError *drawloomReportSave(const DrawloomReport *report,
                                  DrawloomReportFormat format,
                                  const char *path) {
  runtime::Status written =
      runtime::writeFile(path, drawloomReportText(report, format));
  return written.ok() ? nullptr
                      : makeError(DRAWLOOM_ERROR_FILE, written.message());
}
