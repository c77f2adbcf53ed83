/*===- drawloom.h - Drawloom's C interface
 * ------------------------------------===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Compiles programs and calls their functions on memory of the caller's. The
 * library is libdrawloom.so; docs/embedding.md shows a program on one page.
 *
 * Every function may be called from any number of threads at once, also on the
 * same objects, but for the one that destroys an object. Nothing throws, exits
 * or installs a signal handler. A function that can fail returns an error, or
 * NULL on success; whoever gets an error destroys it.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DRAWLOOM_C_DRAWLOOM_H
#define DRAWLOOM_C_DRAWLOOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DRAWLOOM_API __attribute__((visibility("default")))
#else
#define DRAWLOOM_API
#endif

/** Changes when a program built against the old header would not work. */
#define DRAWLOOM_API_VERSION 1
/** Of the library; compare it with DRAWLOOM_API_VERSION. */
DRAWLOOM_API int drawloomApiVersion(void);

/*===----------------------------------------------------------------------===*/
/* Errors */
/*===----------------------------------------------------------------------===*/

typedef struct DrawloomError DrawloomError;

typedef enum DrawloomErrorCode {
  /** The program is wrong: its text, its types, a shape it is given. */
  DRAWLOOM_ERROR_PROGRAM = 1,
  /** The target, or an instruction set, is unknown or not of this machine. */
  DRAWLOOM_ERROR_TARGET = 2,
  /** A call does not fit: no such function, wrong buffers, 0 threads. */
  DRAWLOOM_ERROR_CALL = 3,
  /** The machine lacks the memory that a call needs. */
  DRAWLOOM_ERROR_MEMORY = 4,
  /** A mistake of the compiler's own. */
  DRAWLOOM_ERROR_INTERNAL = 5
} DrawloomErrorCode;

DRAWLOOM_API void drawloomErrorDestroy(DrawloomError *error);
DRAWLOOM_API DrawloomErrorCode drawloomErrorCode(const DrawloomError *error);
/** What went wrong, in one or more lines. Like all strings here it lives as
 * long as its object. */
DRAWLOOM_API const char *drawloomErrorMessage(const DrawloomError *error);
/** Where in the source: "name:line:column", or "" where no place is known. */
DRAWLOOM_API const char *drawloomErrorLocation(const DrawloomError *error);
/** The phase that the compiler was in, such as "parse", "differentiated" or
 * "kernels"; "" where nothing was being compiled. */
DRAWLOOM_API const char *drawloomErrorPhase(const DrawloomError *error);
/** A command that shows the same error from the sources; "" if there is none.
 */
DRAWLOOM_API const char *drawloomErrorReproducer(const DrawloomError *error);

/*===----------------------------------------------------------------------===*/
/* Compiling */
/*===----------------------------------------------------------------------===*/

typedef struct DrawloomCompiler DrawloomCompiler;
typedef struct DrawloomProgram DrawloomProgram;

typedef struct DrawloomCompilerOptions {
  /** sizeof(DrawloomCompilerOptions), so that later ones can have more. What is
   * 0 or NULL below stands for its default. */
  size_t size;
  /** "cpu", the default. */
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

/** Extents in place of the `?` of one argument's type; none for a scalar. */
typedef struct DrawloomExtents {
  const int64_t *extents;
  size_t rank;
} DrawloomExtents;

/** The extents of all arguments of a function of the program. */
typedef struct DrawloomShapes {
  const char *function;
  const DrawloomExtents *arguments;
  size_t argumentCount;
} DrawloomShapes;

/** Compiles sources, linked to one program: a private function that one only
 * declares is defined by another. The same sources and shapes give the same
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
/** No call of its functions may be in progress. */
DRAWLOOM_API void drawloomProgramDestroy(DrawloomProgram *program);

/*===----------------------------------------------------------------------===*/
/* Calling */
/*===----------------------------------------------------------------------===*/

typedef enum DrawloomElement {
  DRAWLOOM_F64 = 0,
  DRAWLOOM_F32 = 1,
  DRAWLOOM_BF16 = 2,
  DRAWLOOM_F16 = 3,
  DRAWLOOM_I64 = 4,
  DRAWLOOM_I32 = 5,
  DRAWLOOM_I8 = 6,
  /** One byte, 0 or 1. */
  DRAWLOOM_I1 = 7
} DrawloomElement;

/** A dense row-major tensor; a scalar has rank 0. */
typedef struct DrawloomType {
  DrawloomElement element;
  size_t rank;
  const int64_t *extents;
  int64_t bytes;
} DrawloomType;

/** A function of a program; lives as long as the program. */
typedef struct DrawloomFunction DrawloomFunction;

DRAWLOOM_API size_t drawloomFunctionCount(const DrawloomProgram *program);
/** NULL for an index that is none. */
DRAWLOOM_API const DrawloomFunction *
drawloomFunctionAt(const DrawloomProgram *program, size_t index);
DRAWLOOM_API DrawloomError *
drawloomFunctionFind(const DrawloomProgram *program, const char *name,
                     const DrawloomFunction **function);

DRAWLOOM_API const char *drawloomFunctionName(const DrawloomFunction *function);
DRAWLOOM_API size_t drawloomArgumentCount(const DrawloomFunction *function);
DRAWLOOM_API size_t drawloomResultCount(const DrawloomFunction *function);
/** For an index that is none, a type of rank 0 and no bytes. */
DRAWLOOM_API DrawloomType drawloomArgumentType(const DrawloomFunction *function,
                                               size_t index);
DRAWLOOM_API DrawloomType drawloomResultType(const DrawloomFunction *function,
                                             size_t index);
/** Memory that a call takes besides its buffers; kept for the next call. */
DRAWLOOM_API int64_t
drawloomFunctionWorkspace(const DrawloomFunction *function);

/** Memory of the caller's: the elements of an argument (also of a scalar), or
 * space for a result. Aligned to its elements; to 64 bytes it is faster. */
typedef struct DrawloomBuffer {
  void *data;
  size_t bytes;
} DrawloomBuffer;

/** Computes the results from the arguments, on up to `threads` threads. A
 * result must not share memory with an argument or another result. Its bits do
 * not depend on `threads`. Nothing is written where the call is refused. */
DRAWLOOM_API DrawloomError *drawloomCall(const DrawloomFunction *function,
                                         const DrawloomBuffer *arguments,
                                         size_t argumentCount,
                                         const DrawloomBuffer *results,
                                         size_t resultCount, unsigned threads);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_C_DRAWLOOM_H */
