/*===- drawloom.h - Drawloom's C interface ----------------------------------===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Compiles programs, whose functions are then called on the caller's memory
 * through runtime.h. The library is libdrawloom.so; docs/embedding.md shows a
 * complete program on one page.
 *
 * Every function may be called from any number of threads at once, even on the
 * same object, except the function that destroys the object. No function
 * throws, exits the process or installs a signal handler. A function that can
 * fail returns an error, or NULL on success; the caller must destroy the error.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DRAWLOOM_C_DRAWLOOM_H
#define DRAWLOOM_C_DRAWLOOM_H

#include "drawloom-c/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===----------------------------------------------------------------------===*/
/* Compiling */
/*===----------------------------------------------------------------------===*/

/** Loads a library with dialects and passes, an MLIR plugin that was built with
 * Drawloom's headers, into this process, where it stays. Compilers that are
 * created afterwards know its dialects and passes. Loading the same file again
 * does nothing; a process takes one build of a plugin. A plugin that does not
 * fit is refused with DRAWLOOM_ERROR_FILE, and the Python wheel's library
 * refuses all. */
DRAWLOOM_API DrawloomError *drawloomLoadPlugin(const char *path);

typedef struct DrawloomCompiler DrawloomCompiler;

typedef struct DrawloomCompilerOptions {
  /** Set to sizeof(DrawloomCompilerOptions), so that later versions can add
   * fields. A field below that is 0 or NULL takes its default. */
  size_t size;
  /** The target: "cpu" (the default); "cuda", the first NVIDIA GPU of this
   * machine; or "emulator", which runs GPU kernels on the CPU and checks
   * them. */
  const char *target;
  /** The instruction set: "native" (the default) or a name listed by
   * drawloom-run --help. For a comma-separated list, or for "all" (every set
   * except "native"), the program is compiled for each set, and the best one
   * that this machine runs is called. Such a program has the same cache key on
   * every machine. */
  const char *isa;
  /** Folder that caches compiled programs across processes and may be shared;
   * defaults to the user's cache folder ($DRAWLOOM_CACHE, else drawloom in
   * $XDG_CACHE_HOME or ~/.cache); "" disables the cache. */
  const char *cacheFolder;
  /** Max bytes of the cache folder; defaults to 1 GiB. */
  uint64_t cacheBytes;
  /** Folder to which the program is written after each phase; none by default.
   * If it is set, no program is read from the cache folder: the compiler
   * compiles each program itself the first time. */
  const char *dumpPhasesTo;
  /** Called, on the compiling thread, with messages worth knowing although
   * nothing failed, such as a damaged cache entry. The callback must return,
   * and must not compile. */
  void (*note)(void *context, const char *message);
  void *noteContext;
  /** Polled during compilation on the compiling thread, at least before each
   * pass. A nonzero return value stops the compilation with
   * DRAWLOOM_ERROR_CANCELLED. The callback must return, and must not compile. A
   * compilation that waits for another thread to compile the same program also
   * polls, and stops only itself. */
  int (*cancelled)(void *context);
  void *cancelledContext;
  /** Max bytes that a call may use besides its buffers, including the store's
   * memory; unlimited by default. If a program needs more, values are
   * recomputed, or kept in a store between two uses. If the limit cannot be
   * met, the error states the minimum. Applies to known extents only. On a GPU
   * this limits device memory; the store's memory is host memory and is not
   * included. */
  uint64_t memory;
  /** Nonzero if calls will have a store (drawloomUseStore). */
  int stores;
  /** Rates that memory planning assumes, as printed by drawloom-run
   * --calibrate: "operations=1e11,memory=1e10,copy=4e9,write=1e9,read=1e9" or a
   * subset. These are also the defaults; for GPUs the defaults are those of an
   * H100. */
  const char *memoryRates;
  /** File to which the memory plan is written, as text (.txt) or as data
   * (.json). If it is set, no program is read from the cache folder. */
  const char *plan;
  /** Passes of MLIR, of Drawloom or of a plugin that run on each program, in
   * this order, each pipeline before the passes that lead into a phase:
   * "structured:canonicalize,cse", as drawloom-run --insert-passes takes
   * them. */
  const char *const *insertedPasses;
  size_t insertedPassCount;
} DrawloomCompilerOptions;

/** Creates a compiler. `options` may be NULL, and is not needed after the
 * call. */
DRAWLOOM_API DrawloomError *
drawloomCompilerCreate(const DrawloomCompilerOptions *options,
                       DrawloomCompiler **compiler);
/** Destroys a compiler. Programs outlive the compiler that made them. */
DRAWLOOM_API void drawloomCompilerDestroy(DrawloomCompiler *compiler);

typedef struct DrawloomSource {
  /** Name used in messages. */
  const char *name;
  /** MLIR text or bytecode. */
  const char *contents;
  size_t bytes;
} DrawloomSource;

/** The extents of all arguments of one function of the program. */
typedef struct DrawloomShapes {
  const char *function;
  const DrawloomExtents *arguments;
  size_t argumentCount;
} DrawloomShapes;

/** Compiles sources and links them into one program: a private function that
 * one source only declares is defined by another. If no shapes are given,
 * functions keep their `?` and accept any extents (drawloomFunctionBind); if
 * that is impossible, the call fails. The same sources and shapes give the same
 * program again, from this compiler's memory or from the cache; threads that
 * request the same program concurrently wait for the one that compiles it. */
DRAWLOOM_API DrawloomError *
drawloomCompile(DrawloomCompiler *compiler, const DrawloomSource *sources,
                size_t sourceCount, const DrawloomShapes *shapes,
                size_t shapeCount, DrawloomProgram **program);
/** Like drawloomCompile, but reads the sources from files. */
DRAWLOOM_API DrawloomError *
drawloomCompileFiles(DrawloomCompiler *compiler, const char *const *files,
                     size_t fileCount, const DrawloomShapes *shapes,
                     size_t shapeCount, DrawloomProgram **program);
/** Parses sources without compiling them. The functions of the resulting
 * program can be queried for their types, in which an open extent is -1, but
 * cannot be called. */
DRAWLOOM_API DrawloomError *drawloomParse(DrawloomCompiler *compiler,
                                          const DrawloomSource *sources,
                                          size_t sourceCount,
                                          DrawloomProgram **program);
/** Stops the compilations in progress, as `cancelled` does; later compilations
 * are not affected. */
DRAWLOOM_API void drawloomCompilerCancel(DrawloomCompiler *compiler);

/** Statistics of the programs that a compiler keeps in memory. */
typedef struct DrawloomCompilerMemory {
  /** Set by the caller to sizeof(DrawloomCompilerMemory). */
  size_t size;
  /** Number of programs that can be returned again without compiling; at most
   * 256. */
  uint64_t programs;
  /** Bytes that these programs take, as counted by drawloomProgramMemory: code,
   * artifact and kept workspaces. */
  uint64_t bytes;
} DrawloomCompilerMemory;

DRAWLOOM_API void drawloomCompilerMemory(DrawloomCompiler *compiler,
                                         DrawloomCompilerMemory *memory);
/** Counts of the programs requested from a compiler, by how each was
 * obtained. */
typedef struct DrawloomCompilerStatistics {
  /** Set by the caller to sizeof(DrawloomCompilerStatistics). */
  size_t size;
  /** Number of programs that were compiled, and the total compilation time in
   * seconds. */
  uint64_t compiled;
  double seconds;
  /** Number of programs that were found in the cache on disk. */
  uint64_t loaded;
  /** Number of programs that were found in memory. */
  uint64_t remembered;
  /** Number of programs that failed to compile. */
  uint64_t failed;
} DrawloomCompilerStatistics;

DRAWLOOM_API void
drawloomCompilerStatistics(DrawloomCompiler *compiler,
                           DrawloomCompilerStatistics *statistics);

/** Drops the programs that the compiler keeps in memory; programs held by the
 * caller stay valid. */
DRAWLOOM_API void drawloomCompilerForget(DrawloomCompiler *compiler);

/*===----------------------------------------------------------------------===*/
/** Reports: where the time of a function goes */
/*===----------------------------------------------------------------------===*/

typedef struct DrawloomReport DrawloomReport;

typedef struct DrawloomReportOptions {
  /** Set to sizeof(DrawloomReportOptions), so that later versions can add
   * fields. A field below that is 0 or NULL takes its default. */
  size_t size;
  /** The function to report on; defaults to the only public function. */
  const char *function;
  /** Arguments of the calls, as drawloomCall takes them; random by default:
   * floats in [-1, 1), integers 0 and 1. */
  const DrawloomBuffer *arguments;
  size_t argumentCount;
  /** Number of timed calls, whose mean is reported, after two warm-up calls;
   * defaults to 20. */
  unsigned calls;
  /** Number of threads per call; defaults to 1. */
  unsigned threads;
} DrawloomReportOptions;

/** Compiles one function of the sources, bypassing the compiler's memory and
 * the cache, calls it, and measures the roofline limits of this machine, which
 * takes some tenths of a second. Other load on the machine disturbs the
 * figures. The report contains the time, operations and bytes of each kernel,
 * the time of each compiler phase, and the compiler's remarks. The compiler
 * must have exactly one instruction set. Cancellation works as for
 * compilations. `options` may be NULL. */
DRAWLOOM_API DrawloomError *
drawloomReportCreate(DrawloomCompiler *compiler, const DrawloomSource *sources,
                     size_t sourceCount, const DrawloomShapes *shapes,
                     size_t shapeCount, const DrawloomReportOptions *options,
                     DrawloomReport **report);
/** Joins the reports of functions that are called one after another, the i-th
 * of them `times[i]` times (once each if `times` is NULL). All reports must
 * have the same target, instruction set and number of threads. */
DRAWLOOM_API DrawloomError *
drawloomReportJoin(const DrawloomReport *const *reports, const unsigned *times,
                   size_t count, const char *title, DrawloomReport **joined);
DRAWLOOM_API void drawloomReportDestroy(DrawloomReport *report);

typedef enum DrawloomReportFormat {
  /** Tables for a terminal. */
  DRAWLOOM_REPORT_TEXT = 0,
  /** A machine-readable object: seconds, operations and bytes of one call. */
  DRAWLOOM_REPORT_JSON = 1,
  /** A self-contained page, whose script draws the JSON. */
  DRAWLOOM_REPORT_HTML = 2
} DrawloomReportFormat;

/** Returns the report as UTF-8; the string lives as long as the report. */
DRAWLOOM_API const char *drawloomReportText(const DrawloomReport *report,
                                            DrawloomReportFormat format);
/** Writes the report to a file atomically, replacing an existing file. */
DRAWLOOM_API DrawloomError *drawloomReportSave(const DrawloomReport *report,
                                               DrawloomReportFormat format,
                                               const char *path);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_C_DRAWLOOM_H */
