/*===- runtime.h - the C interface to compiled programs ---------------------===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Loads programs that were compiled ahead of time and calls their functions.
 * Two libraries implement this interface: libdrawloom_runtime.so, which does
 * not need LLVM, and libdrawloom.so, which can also compile programs
 * (drawloom.h). Link exactly one of them. docs/embedding.md explains more.
 *
 * Every function may be called from any number of threads at once, even on the
 * same object, except the function that destroys the object. No function
 * throws, exits the process or installs a signal handler. A function that can
 * fail returns an error, or NULL on success; the caller must destroy the error.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DRAWLOOM_C_RUNTIME_H
#define DRAWLOOM_C_RUNTIME_H

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

/** API version; changes when a program built against an older header would not
 * work. */
#define DRAWLOOM_API_VERSION 1
/** Returns the library's API version; compare it with DRAWLOOM_API_VERSION. */
DRAWLOOM_API int drawloomApiVersion(void);

/*===----------------------------------------------------------------------===*/
/* Errors */
/*===----------------------------------------------------------------------===*/

typedef struct DrawloomError DrawloomError;

typedef enum DrawloomErrorCode {
  /** The program is wrong: its text, its types, or a given shape. */
  DRAWLOOM_ERROR_PROGRAM = 1,
  /** The target or the instruction set is unknown or unavailable on this
   * machine. */
  DRAWLOOM_ERROR_TARGET = 2,
  /** The call is invalid: no such function, wrong buffers, 0 threads. */
  DRAWLOOM_ERROR_CALL = 3,
  /** The machine lacks the memory that the call needs. */
  DRAWLOOM_ERROR_MEMORY = 4,
  /** An internal compiler error. */
  DRAWLOOM_ERROR_INTERNAL = 5,
  /** The compilation was cancelled. */
  DRAWLOOM_ERROR_CANCELLED = 6,
  /** A file of a compiled program cannot be read or written, is damaged, or has
   * another version. */
  DRAWLOOM_ERROR_FILE = 7,
  /** The GPU failed: it has no memory left, or a kernel failed, perhaps one of
   * an earlier call. */
  DRAWLOOM_ERROR_DEVICE = 8,
  /** A disk did not return what was stored on it, or is full. */
  DRAWLOOM_ERROR_STORAGE = 9
} DrawloomErrorCode;

DRAWLOOM_API void drawloomErrorDestroy(DrawloomError *error);
DRAWLOOM_API DrawloomErrorCode drawloomErrorCode(const DrawloomError *error);
/** Returns the error message, in one or more lines. Like all strings in this
 * interface, it lives as long as the object it belongs to. */
DRAWLOOM_API const char *drawloomErrorMessage(const DrawloomError *error);
/** Returns the source location of the error as "name:line:column", or "" if no
 * location is known. */
DRAWLOOM_API const char *drawloomErrorLocation(const DrawloomError *error);
/** Returns the compiler phase in which the error occurred, such as "parse",
 * "differentiated" or "kernels"; "" if nothing was being compiled. */
DRAWLOOM_API const char *drawloomErrorPhase(const DrawloomError *error);
/** Returns a command that reproduces the error from the sources; "" if there is
 * none. */
DRAWLOOM_API const char *drawloomErrorReproducer(const DrawloomError *error);

/*===----------------------------------------------------------------------===*/
/* Compiled programs as files */
/*===----------------------------------------------------------------------===*/

typedef struct DrawloomProgram DrawloomProgram;

typedef struct DrawloomLoadOptions {
  /** Set to sizeof(DrawloomLoadOptions), so that later versions can add fields.
   * A field below that is 0 or NULL takes its default. */
  size_t size;
  /** The instruction set to load, among those that the file has code for
   * (sorted by preference); defaults to the first one that this machine runs.
   * For GPUs, the architecture, such as "sm_90a". */
  const char *isa;
  /** The target to run on, among those that the file has code for: "cpu";
   * "cuda", the NVIDIA GPU that the calling thread works with, or else the
   * first one of this machine; or "cuda:1", a GPU by number. Loading for a GPU
   * opens its driver. Defaults to the CPU, or to the only target of a file
   * without code for the CPU. */
  const char *target;
} DrawloomLoadOptions;

/** Loads a program from a file written by drawloomProgramSave or drawloom-run
 * --save. Its length, checksum, version and every size in it are checked, which
 * detects damage but not malice: the file contains machine code that will be
 * run. `options` may be NULL. */
DRAWLOOM_API DrawloomError *
drawloomProgramLoad(const char *path, const DrawloomLoadOptions *options,
                    DrawloomProgram **program);
/** Loads a program, like drawloomProgramLoad, from memory, which is not needed
 * after the call. */
DRAWLOOM_API DrawloomError *
drawloomProgramLoadBytes(const void *bytes, size_t count,
                         const DrawloomLoadOptions *options,
                         DrawloomProgram **program);

/** Writes a compiled or loaded program to a file, with the code for all its
 * instruction sets. The file is written atomically and replaces an existing
 * one. */
DRAWLOOM_API DrawloomError *drawloomProgramSave(const DrawloomProgram *program,
                                                const char *path);
/** Calls `write` once with the contents of the file that drawloomProgramSave
 * would write; they are valid only during that call. */
DRAWLOOM_API DrawloomError *drawloomProgramSerialize(
    const DrawloomProgram *program,
    void (*write)(void *context, const void *bytes, size_t count),
    void *context);

/** Destroys a program. No call of its functions may be in progress. */
DRAWLOOM_API void drawloomProgramDestroy(DrawloomProgram *program);

/** Returns the target that the program runs on: "cpu", "cuda". */
DRAWLOOM_API const char *drawloomProgramTarget(const DrawloomProgram *program);
/** Returns the number of targets that the program has code for, loaded or
 * not. */
DRAWLOOM_API size_t drawloomProgramTargetCount(const DrawloomProgram *program);
/** Returns NULL if the index is out of range. */
DRAWLOOM_API const char *drawloomProgramTargetAt(const DrawloomProgram *program,
                                                 size_t index);
/** Returns the instruction set that is loaded, such as "avx2" or "sm_90a". */
DRAWLOOM_API const char *
drawloomProgramInstructionSet(const DrawloomProgram *program);
/** Returns the number of instruction sets of its target that the program has
 * code for; they are sorted by preference. */
DRAWLOOM_API size_t
drawloomProgramInstructionSetCount(const DrawloomProgram *program);
/** Returns NULL if the index is out of range. */
DRAWLOOM_API const char *
drawloomProgramInstructionSetAt(const DrawloomProgram *program, size_t index);

/** Bytes of memory that a program uses. Handles to the same program share all
 * of it. */
typedef struct DrawloomProgramMemory {
  /** Set by the caller to sizeof(DrawloomProgramMemory). If the caller was
   * built against an older header, only the fields it knows are written. */
  size_t size;
  /** Bytes of machine code and constants that are loaded. */
  uint64_t code;
  /** Bytes kept for saving the program, for all its instruction sets. */
  uint64_t artifact;
  /** Bytes of workspaces and per-thread scratch memory that no call is using
   * and that are kept for later calls. Memory used by calls in progress is not
   * included. */
  uint64_t kept;
} DrawloomProgramMemory;

DRAWLOOM_API void drawloomProgramMemory(const DrawloomProgram *program,
                                        DrawloomProgramMemory *memory);
/** Frees the kept workspaces and scratch memory. Calls may be in progress. */
DRAWLOOM_API void drawloomProgramTrim(const DrawloomProgram *program);

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

/** A dense row-major tensor; a scalar has rank 0. A negative extent is open:
 * each call chooses its value, and equal negative numbers stand for equal
 * extents. `bytes` is -1 if any extent is open. */
typedef struct DrawloomType {
  DrawloomElement element;
  size_t rank;
  const int64_t *extents;
  int64_t bytes;
} DrawloomType;

/** A function of a program; lives as long as the program. */
typedef struct DrawloomFunction DrawloomFunction;

DRAWLOOM_API size_t drawloomFunctionCount(const DrawloomProgram *program);
/** Returns NULL if the index is out of range. */
DRAWLOOM_API const DrawloomFunction *
drawloomFunctionAt(const DrawloomProgram *program, size_t index);
DRAWLOOM_API DrawloomError *
drawloomFunctionFind(const DrawloomProgram *program, const char *name,
                     const DrawloomFunction **function);

DRAWLOOM_API const char *drawloomFunctionName(const DrawloomFunction *function);
DRAWLOOM_API size_t drawloomArgumentCount(const DrawloomFunction *function);
DRAWLOOM_API size_t drawloomResultCount(const DrawloomFunction *function);
/** Returns a type of rank 0 with 0 bytes if the index is out of range. */
DRAWLOOM_API DrawloomType drawloomArgumentType(const DrawloomFunction *function,
                                               size_t index);
DRAWLOOM_API DrawloomType drawloomResultType(const DrawloomFunction *function,
                                             size_t index);
/** Returns the name that the program gives to an argument or result
 * (`drawloom.name` in its text), or "" if it has none or the index is out of
 * range. */
DRAWLOOM_API const char *drawloomArgumentName(const DrawloomFunction *function,
                                              size_t index);
DRAWLOOM_API const char *drawloomResultName(const DrawloomFunction *function,
                                            size_t index);
/** Finds the index of the argument or result with the given name. */
DRAWLOOM_API DrawloomError *
drawloomArgumentFind(const DrawloomFunction *function, const char *name,
                     size_t *index);
DRAWLOOM_API DrawloomError *drawloomResultFind(const DrawloomFunction *function,
                                               const char *name, size_t *index);
/** For a program from drawloomParse, returns 1 if the type is a scalar such as
 * f32, and 0 if it is a tensor, including one of rank 0. Calls do not
 * distinguish the two; functions that call this one in a program's text do. */
DRAWLOOM_API int drawloomArgumentIsScalar(const DrawloomFunction *function,
                                          size_t index);
DRAWLOOM_API int drawloomResultIsScalar(const DrawloomFunction *function,
                                        size_t index);
/** Bytes of memory that a call uses besides its buffers, which are kept for the
 * next call. For a GPU program this is device memory. For a function with open
 * extents, the value is the bytes needed for extents of 0. */
DRAWLOOM_API int64_t
drawloomFunctionWorkspace(const DrawloomFunction *function);
/** Max bytes that a call keeps in a store at any time (drawloomUseStore); 0 for
 * functions that need no store. */
DRAWLOOM_API int64_t drawloomFunctionStored(const DrawloomFunction *function);

/** The extents of one argument; rank 0 for a scalar. */
typedef struct DrawloomExtents {
  const int64_t *extents;
  size_t rank;
} DrawloomExtents;

/** Returns the number of open extents of a function. */
DRAWLOOM_API size_t
drawloomFunctionOpenExtents(const DrawloomFunction *function);

/** A function whose open extents are bound to those of some arguments. Binding
 * compiles nothing and takes little memory. */
typedef struct DrawloomBoundFunction DrawloomBoundFunction;

/** Binds the open extents of a function to the shapes of all its arguments.
 * Fails if the shapes do not match the function or each other. */
DRAWLOOM_API DrawloomError *
drawloomFunctionBind(const DrawloomFunction *function,
                     const DrawloomExtents *arguments, size_t argumentCount,
                     DrawloomBoundFunction **bound);
/** Returns the bound function, which can be used like any other, with types,
 * workspace and calls for its bound extents. It lives as long as `bound`, and
 * at most as long as the program. */
DRAWLOOM_API const DrawloomFunction *
drawloomBoundFunction(const DrawloomBoundFunction *bound);
/** Destroys a bound function. No call of it may be in progress. */
DRAWLOOM_API void drawloomBoundFunctionDestroy(DrawloomBoundFunction *bound);

/** Memory of the caller: the elements of an argument (also of a scalar), or
 * space for a result. It must be aligned to its element size; alignment to 64
 * bytes is faster. */
typedef struct DrawloomBuffer {
  void *data;
  size_t bytes;
} DrawloomBuffer;

/** Computes the results from the arguments on up to `threads` threads. A result
 * must not share memory with an argument or another result. The bits of results
 * do not depend on `threads`. If the call is refused, nothing is written. A GPU
 * program copies the arguments to the device and the results back. */
DRAWLOOM_API DrawloomError *drawloomCall(const DrawloomFunction *function,
                                         const DrawloomBuffer *arguments,
                                         size_t argumentCount,
                                         const DrawloomBuffer *results,
                                         size_t resultCount, unsigned threads);

/** The caller's threads, for a program with a thread pool of its own: two pools
 * whose threads spin waiting for work would compete for cores. */
typedef struct DrawloomThreads {
  void *context;
  /** Calls work(data, i) once for each i in [0, count), on any threads, and
   * returns when all calls have returned. */
  void (*run)(void *context, unsigned count,
              void (*work)(void *data, unsigned index), void *data);
} DrawloomThreads;

/** Makes this thread's subsequent calls run on the caller's threads, or, if
 * NULL, on the library's threads again. The struct is copied. Results are
 * bit-identical either way: work is split by the number of threads given in the
 * call. */
DRAWLOOM_API void drawloomUseThreads(const DrawloomThreads *threads);

/*===----------------------------------------------------------------------===*/
/* Calling with tensors of DLPack */
/*===----------------------------------------------------------------------===*/

/** A tensor in the memory layout of DLPack's DLTensor (ABI 1.x, and 0.x before
 * it). It is declared here so that DLPack's header is not needed: a DLTensor
 * pointer may be cast to a pointer to this struct. */
typedef struct DrawloomTensor {
  void *data;
  /** kDLCPU is 1, kDLCUDA 2, kDLCUDAHost 3, kDLCUDAManaged 13. */
  int32_t deviceType;
  int32_t deviceId;
  int32_t rank;
  /** kDLInt is 0, kDLFloat 2, kDLBfloat 4, kDLBool 6. */
  uint8_t elementCode;
  uint8_t elementBits;
  uint16_t lanes;
  const int64_t *extents;
  /** In elements; NULL for a dense row-major tensor. */
  const int64_t *strides;
  /** Bytes from `data` to the first element. */
  uint64_t byteOffset;
} DrawloomTensor;

/** Like drawloomCall, with tensors, which must be dense, row-major, in host
 * memory, and of the function's types; scalars are tensors of rank 0. Open
 * extents are taken from the tensors. Tensors that do not match are refused;
 * nothing is copied. */
DRAWLOOM_API DrawloomError *
drawloomCallTensors(const DrawloomFunction *function,
                    const DrawloomTensor *const *arguments,
                    size_t argumentCount, const DrawloomTensor *const *results,
                    size_t resultCount, unsigned threads);

/*===----------------------------------------------------------------------===*/
/* On a GPU */
/*===----------------------------------------------------------------------===*/

/** The functions below are for programs whose target is "cuda"; for other
 * programs they fail or do nothing. Streams are CUstreams (a cudaStream_t is
 * one) of the device's primary context; NULL is the legacy default stream. */

/** Gets the device as DLPack identifies it: its type, kDLCUDA or kDLCPU, and
 * its number. */
DRAWLOOM_API void drawloomProgramDevice(const DrawloomProgram *program,
                                        int32_t *deviceType, int32_t *deviceId);

/** Returns whether a call with device tensors takes this argument, a number,
 * from host memory; such an argument is read before the call returns. */
DRAWLOOM_API int drawloomArgumentIsNumber(const DrawloomFunction *function,
                                          size_t index);

/** Computes the results from arguments in device memory: enqueues the work on
 * `stream` and returns, without waiting or copying. The tensors must be as for
 * drawloomCallTensors, but on the program's device; only arguments that are
 * numbers are in host memory. After the first call of a function, no device
 * memory is allocated as long as the same streams make the calls one after
 * another, so that calls can be captured into CUDA graphs. */
DRAWLOOM_API DrawloomError *drawloomCallTensorsOnStream(
    const DrawloomFunction *function, const DrawloomTensor *const *arguments,
    size_t argumentCount, const DrawloomTensor *const *results,
    size_t resultCount, void *stream);

/** The caller's device memory allocator, for a program that shares a device
 * with a framework: memory that one of them keeps for later is unavailable to
 * the other. */
typedef struct DrawloomDeviceAllocator {
  void *context;
  /** Returns device memory, aligned to 256 bytes and immediately usable on
   * `stream`; NULL on failure. */
  void *(*allocate)(void *context, size_t bytes, void *stream);
  /** Called when all work that uses the memory has been enqueued on
   * `stream`. */
  void (*release)(void *context, void *memory, void *stream);
} DrawloomDeviceAllocator;

/** Makes this thread's subsequent calls on streams take the memory that they
 * need besides arguments and results from the caller's allocator, or, if NULL,
 * from the program's own allocator again. The struct is copied. */
DRAWLOOM_API void
drawloomUseDeviceAllocator(const DrawloomDeviceAllocator *allocator);

/** Allocates device memory, aligned to 256 bytes, for use on `stream`; NULL if
 * `bytes` is 0. */
DRAWLOOM_API DrawloomError *
drawloomDeviceAllocate(const DrawloomProgram *program, size_t bytes,
                       void *stream, void **memory);
/** Releases device memory; call it when all work that uses the memory has been
 * enqueued on `stream`, the stream it was allocated for. The memory is kept for
 * later calls of this program, which must not be destroyed before. */
DRAWLOOM_API void drawloomDeviceRelease(const DrawloomProgram *program,
                                        void *memory, void *stream);
/** Copies in stream order; the copy is complete when the function returns. */
DRAWLOOM_API DrawloomError *drawloomDeviceUpload(const DrawloomProgram *program,
                                                 void *device, const void *host,
                                                 size_t bytes, void *stream);
DRAWLOOM_API DrawloomError *
drawloomDeviceDownload(const DrawloomProgram *program, void *host,
                       const void *device, size_t bytes, void *stream);
/** Makes work enqueued on `after` from now on wait for the work now on
 * `before`. */
DRAWLOOM_API DrawloomError *drawloomDeviceOrder(const DrawloomProgram *program,
                                                void *before, void *after);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_C_RUNTIME_H */
