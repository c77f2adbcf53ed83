/*===- drawloom.h - Drawloom's C interface ----------------------------------===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Compiles programs, whose functions runtime.h calls on memory of the caller's.
 * The library is libdrawloom.so; docs/embedding.md shows a program on one page.
 *
 * Every function may be called from any number of threads at once, also on the
 * same objects, but for the one that destroys an object. Nothing throws, exits
 * or installs a signal handler. A function that can fail returns an error, or
 * NULL on success; whoever gets an error destroys it.
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

typedef struct DrawloomCompiler DrawloomCompiler;

typedef struct DrawloomCompilerOptions {
  /** sizeof(DrawloomCompilerOptions), so that later ones can have more. What is
   * 0 or NULL below stands for its default. */
  size_t size;
  /** "cpu", the default; "cuda", the first NVIDIA GPU of this machine;
   * "emulator", which runs the kernels for GPUs on the CPU and checks them. */
  const char *target;
  /** "native", the default, or a set by name, as drawloom-run --help lists
   * them. Several with commas between them, or "all" of them but "native": the
   * program is compiled for each, and the best that this machine runs is
   * called. Such a program has the same place in the cache on every machine. */
  const char *isa;
  /** Folder of compiled programs that outlives the process and may be shared;
   * by default the user's ($DRAWLOOM_CACHE, else drawloom in $XDG_CACHE_HOME or
   * ~/.cache); "" for none. */
  const char *cacheFolder;
  /** Bytes that the folder may take; 1 GiB by default. */
  uint64_t cacheBytes;
  /** Folder for the program after each phase; by default none. A compiler that
   * has one takes no program from the cache folder: it compiles each itself,
   * the first time. */
  const char *dumpPhasesTo;
  /** Called with what is worth knowing though nothing failed, such as a damaged
   * entry of the cache; on the thread that compiles. Must return, and not
   * compile. */
  void (*note)(void *context, const char *message);
  void *noteContext;
  /** Asked now and then while a program is compiled, before each pass at least,
   * on the thread that compiles: what is not 0 stops the compilation, whose
   * error is then DRAWLOOM_ERROR_CANCELLED. Must return, and not compile. A
   * compilation that waits for another thread's of the same program asks, too,
   * and stops alone. */
  int (*cancelled)(void *context);
  void *cancelledContext;
  /** Bytes that a call of a program may take beside its buffers, the store's
   * memory among them; by default as many as it needs. Where that is more,
   * values are computed again, or are in a store between two uses. An error
   * says what is the least. For extents that are known. On a GPU these are
   * bytes of its memory, and the store's memory, the host's, comes on top. */
  uint64_t memory;
  /** Not 0: calls will have a store (drawloomUseStore). */
  int stores;
  /** What plans for the memory go by, as drawloom-run --calibrate prints it:
   * "operations=1e11,memory=1e10,copy=4e9,write=1e9,read=1e9" or some of these;
   * by default these, and those of an H100 for GPUs. */
  const char *memoryRates;
  /** File for the plan for the memory, in words (.txt) or as data (.json). A
   * compiler that has one takes no program from the cache folder. */
  const char *plan;
} DrawloomCompilerOptions;

/** `options` may be NULL. Nothing of it is needed after the call. */
DRAWLOOM_API DrawloomError *
drawloomCompilerCreate(const DrawloomCompilerOptions *options,
                       DrawloomCompiler **compiler);
/** Programs outlive their compiler. */
DRAWLOOM_API void drawloomCompilerDestroy(DrawloomCompiler *compiler);

typedef struct DrawloomSource {
  /** For messages. */
  const char *name;
  /** MLIR's text or bytecode. */
  const char *contents;
  size_t bytes;
} DrawloomSource;

/** The extents of all arguments of a function of the program. */
typedef struct DrawloomShapes {
  const char *function;
  const DrawloomExtents *arguments;
  size_t argumentCount;
} DrawloomShapes;

/** Compiles sources, linked to one program: a private function that one only
 * declares is defined by another. Where no shapes are given, functions keep
 * their `?`, and take any extents (drawloomFunctionBind); an error says where
 * that cannot be. The same sources and shapes give the same
 * program again, from this compiler's memory or from the cache; threads that
 * ask for it at once wait for the one that compiles it. */
DRAWLOOM_API DrawloomError *
drawloomCompile(DrawloomCompiler *compiler, const DrawloomSource *sources,
                size_t sourceCount, const DrawloomShapes *shapes,
                size_t shapeCount, DrawloomProgram **program);
/** The same for files. */
DRAWLOOM_API DrawloomError *
drawloomCompileFiles(DrawloomCompiler *compiler, const char *const *files,
                     size_t fileCount, const DrawloomShapes *shapes,
                     size_t shapeCount, DrawloomProgram **program);
/** Reads sources and compiles nothing: the functions of the program that this
 * gives can be asked for their types, where an extent that the sources leave
 * open is -1, and not called. */
DRAWLOOM_API DrawloomError *drawloomParse(DrawloomCompiler *compiler,
                                          const DrawloomSource *sources,
                                          size_t sourceCount,
                                          DrawloomProgram **program);
/** Stops the compilations that are in progress, as `cancelled` does; those that
 * begin later are not concerned. */
DRAWLOOM_API void drawloomCompilerCancel(DrawloomCompiler *compiler);

/** What a compiler keeps in memory. */
typedef struct DrawloomCompilerMemory {
  /** sizeof(DrawloomCompilerMemory), set by the caller. */
  size_t size;
  /** Programs that it would give again without compiling; 256 at most. */
  uint64_t programs;
  /** Bytes that these take, as drawloomProgramMemory counts them: code,
   * artifact and kept workspaces. */
  uint64_t bytes;
} DrawloomCompilerMemory;

DRAWLOOM_API void drawloomCompilerMemory(DrawloomCompiler *compiler,
                                         DrawloomCompilerMemory *memory);
/** How often a compiler was asked for programs, and what it did for them. */
typedef struct DrawloomCompilerStatistics {
  /** sizeof(DrawloomCompilerStatistics), set by the caller. */
  size_t size;
  /** Programs that were compiled, and the seconds that this took. */
  uint64_t compiled;
  double seconds;
  /** Programs that the cache on disk had. */
  uint64_t loaded;
  /** Programs that were in memory. */
  uint64_t remembered;
  /** Programs that could not be compiled. */
  uint64_t failed;
} DrawloomCompilerStatistics;

DRAWLOOM_API void
drawloomCompilerStatistics(DrawloomCompiler *compiler,
                           DrawloomCompilerStatistics *statistics);

/** Forgets these programs; what the caller holds of them stays. */
DRAWLOOM_API void drawloomCompilerForget(DrawloomCompiler *compiler);

/*===----------------------------------------------------------------------===*/
/* Reports: where the time of a function goes */
/*===----------------------------------------------------------------------===*/

typedef struct DrawloomReport DrawloomReport;

typedef struct DrawloomReportOptions {
  /** sizeof(DrawloomReportOptions), so that later ones can have more. What is 0
   * or NULL below stands for its default. */
  size_t size;
  /** The function; by default the only public one. */
  const char *function;
  /** What it is called with, as drawloomCall takes it; by default random
   * values: floats in [-1, 1), integers 0 and 1. */
  const DrawloomBuffer *arguments;
  size_t argumentCount;
  /** Calls whose mean is taken, after two that are not measured; 20 by default.
   */
  unsigned calls;
  /** Threads of a call; 1 by default. */
  unsigned threads;
} DrawloomReportOptions;

/** Compiles one function of the sources, with nothing from the compiler's
 * memory or the cache, calls it, and measures the roofs of this machine, for
 * some tenths of a second: what else runs meanwhile disturbs the figures. The
 * report has each kernel's time, operations and bytes, the time of each phase
 * of the compiler, and its remarks. The compiler must have one instruction set.
 * Stopped as compilations are. `options` may be NULL. */
DRAWLOOM_API DrawloomError *
drawloomReportCreate(DrawloomCompiler *compiler, const DrawloomSource *sources,
                     size_t sourceCount, const DrawloomShapes *shapes,
                     size_t shapeCount, const DrawloomReportOptions *options,
                     DrawloomReport **report);
/** The report of functions that are called one after the other, the i-th of
 * them `times[i]` times (NULL: each once). Of one target, instruction set and
 * number of threads. */
DRAWLOOM_API DrawloomError *
drawloomReportJoin(const DrawloomReport *const *reports, const unsigned *times,
                   size_t count, const char *title, DrawloomReport **joined);
DRAWLOOM_API void drawloomReportDestroy(DrawloomReport *report);

typedef enum DrawloomReportFormat {
  /** Tables for a terminal. */
  DRAWLOOM_REPORT_TEXT = 0,
  /** An object for programs: seconds, operations and bytes of one call. */
  DRAWLOOM_REPORT_JSON = 1,
  /** A page that needs no other file; a script in it draws the JSON. */
  DRAWLOOM_REPORT_HTML = 2
} DrawloomReportFormat;

/** UTF-8; lives as long as the report. */
DRAWLOOM_API const char *drawloomReportText(const DrawloomReport *report,
                                            DrawloomReportFormat format);
/** Writes it to a file, which appears as a whole, in the place of one that was
 * there. */
DRAWLOOM_API DrawloomError *drawloomReportSave(const DrawloomReport *report,
                                               DrawloomReportFormat format,
                                               const char *path);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_C_DRAWLOOM_H */
