/*===- runtime.h - the C interface to compiled programs ---------------------===
 *
 * Part of the Drawloom project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Loads programs that were compiled ahead of time and calls their functions.
 * Two libraries have all of this: libdrawloom_runtime.so, which needs no LLVM,
 * and libdrawloom.so, whose programs may also be compiled here (drawloom.h). A
 * program links one of them. docs/embedding.md explains.
 *
 * Every function may be called from any number of threads at once, also on the
 * same objects, but for the one that destroys an object. Nothing throws, exits
 * or installs a signal handler. A function that can fail returns an error, or
 * NULL on success; whoever gets an error destroys it.
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
  DRAWLOOM_ERROR_INTERNAL = 5,
  /** The compilation was told to stop. */
  DRAWLOOM_ERROR_CANCELLED = 6,
  /** A file of a compiled program cannot be read or written, is damaged or of
   * another version. */
  DRAWLOOM_ERROR_FILE = 7,
  /** A GPU does not do what a call needs: it has no memory left, a kernel
   * failed, perhaps one of an earlier call. */
  DRAWLOOM_ERROR_DEVICE = 8,
  /** A disk did not give back what was stored on it, or has no room. */
  DRAWLOOM_ERROR_STORAGE = 9
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
/* Compiled programs as files */
/*===----------------------------------------------------------------------===*/

typedef struct DrawloomProgram DrawloomProgram;

typedef struct DrawloomLoadOptions {
  /** sizeof(DrawloomLoadOptions), so that later ones can have more. What is 0
   * or NULL below stands for its default. */
  size_t size;
  /** The instruction set to load, of those that the file has code for; by
   * default the first of them, which are in the order of preference, that this
   * machine runs. Of GPUs the architecture, such as "sm_90a". */
  const char *isa;
  /** What to run it on, of the targets that the file has code for: "cpu", or
   * "cuda", the NVIDIA GPU that the calling thread works with, or the first of
   * this machine, or "cuda:1" by its number. The driver is opened now.
   * By default the CPU, or the only target of a file that has no code for it.
   */
  const char *target;
} DrawloomLoadOptions;

/** Loads a program from a file that drawloomProgramSave or drawloom-run --save
 * wrote. Its length, checksum, version and every size in it are checked; that
 * finds damage, not malice: the file holds machine code, which will be run.
 * `options` may be NULL. */
DRAWLOOM_API DrawloomError *
drawloomProgramLoad(const char *path, const DrawloomLoadOptions *options,
                    DrawloomProgram **program);
/** The same from memory, which is not needed after the call. */
DRAWLOOM_API DrawloomError *
drawloomProgramLoadBytes(const void *bytes, size_t count,
                         const DrawloomLoadOptions *options,
                         DrawloomProgram **program);

/** Writes a program, compiled or loaded, with the code for all its instruction
 * sets. The file appears as a whole, in the place of one that was there. */
DRAWLOOM_API DrawloomError *drawloomProgramSave(const DrawloomProgram *program,
                                                const char *path);
/** Gives the file's contents to `write`, once; they live as long as that call.
 */
DRAWLOOM_API DrawloomError *drawloomProgramSerialize(
    const DrawloomProgram *program,
    void (*write)(void *context, const void *bytes, size_t count),
    void *context);

/** No call of its functions may be in progress. */
DRAWLOOM_API void drawloomProgramDestroy(DrawloomProgram *program);

/** What the program runs on: "cpu", "cuda". */
DRAWLOOM_API const char *drawloomProgramTarget(const DrawloomProgram *program);
/** The targets that it has code for, also those that are not loaded. */
DRAWLOOM_API size_t drawloomProgramTargetCount(const DrawloomProgram *program);
/** NULL for an index that is none. */
DRAWLOOM_API const char *drawloomProgramTargetAt(const DrawloomProgram *program,
                                                 size_t index);
/** The instruction set that is loaded, such as "avx2" or "sm_90a". */
DRAWLOOM_API const char *
drawloomProgramInstructionSet(const DrawloomProgram *program);
/** The sets of its target that the program has code for, in the order of
 * preference. */
DRAWLOOM_API size_t
drawloomProgramInstructionSetCount(const DrawloomProgram *program);
/** NULL for an index that is none. */
DRAWLOOM_API const char *
drawloomProgramInstructionSetAt(const DrawloomProgram *program, size_t index);

/** Bytes of memory. Programs that are the same one share all of it. */
typedef struct DrawloomProgramMemory {
  /** sizeof(DrawloomProgramMemory), set by the caller; of a caller built
   * against an older header only the fields that it knows are written. */
  size_t size;
  /** Machine code and constants that are loaded. */
  uint64_t code;
  /** What saving the program needs, for all its instruction sets. */
  uint64_t artifact;
  /** Workspaces and threads' scratch memory that no call uses now and that are
   * kept for the next ones. A call in progress holds its own besides. */
  uint64_t kept;
} DrawloomProgramMemory;

DRAWLOOM_API void drawloomProgramMemory(const DrawloomProgram *program,
                                        DrawloomProgramMemory *memory);
/** Gives back what is kept. Calls may be in progress. */
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

/** A dense row-major tensor; a scalar has rank 0. An extent below 0 is open: a
 * call has some number there, the same wherever the same negative number
 * stands. The bytes are -1 then. */
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
/** What the program calls an argument or a result (`drawloom.name` in its
 * text);
 * "" where it does not say, and for an index that is none. */
DRAWLOOM_API const char *drawloomArgumentName(const DrawloomFunction *function,
                                              size_t index);
DRAWLOOM_API const char *drawloomResultName(const DrawloomFunction *function,
                                            size_t index);
/** The index of the argument or result of that name. */
DRAWLOOM_API DrawloomError *
drawloomArgumentFind(const DrawloomFunction *function, const char *name,
                     size_t *index);
DRAWLOOM_API DrawloomError *drawloomResultFind(const DrawloomFunction *function,
                                               const char *name, size_t *index);
/** Of a program from drawloomParse: 1 where the type is that of a value, f32,
 * and 0 where it is that of a tensor, also of rank 0. Calls do not tell them
 * apart; functions that call this one, in a program's text, do. */
DRAWLOOM_API int drawloomArgumentIsScalar(const DrawloomFunction *function,
                                          size_t index);
DRAWLOOM_API int drawloomResultIsScalar(const DrawloomFunction *function,
                                        size_t index);
/** Memory that a call takes besides its buffers; kept for the next call. Of a
 * program for a GPU, in the GPU's memory. Of a function with open extents, what
 * it takes for extents of 0. */
DRAWLOOM_API int64_t
drawloomFunctionWorkspace(const DrawloomFunction *function);
/** The most bytes that a call keeps in a store at once (drawloomUseStore); 0 of
 * functions that need none. */
DRAWLOOM_API int64_t drawloomFunctionStored(const DrawloomFunction *function);

/** The extents of one argument; none for a scalar. */
typedef struct DrawloomExtents {
  const int64_t *extents;
  size_t rank;
} DrawloomExtents;

/** How many open extents a function has. */
DRAWLOOM_API size_t
drawloomFunctionOpenExtents(const DrawloomFunction *function);

/** A function whose open extents are those of some arguments: nothing is
 * compiled, and little memory is needed. */
typedef struct DrawloomBoundFunction DrawloomBoundFunction;

/** Says what the open extents are, by the shapes of all arguments. Fails where
 * these do not fit the function or each other. */
DRAWLOOM_API DrawloomError *
drawloomFunctionBind(const DrawloomFunction *function,
                     const DrawloomExtents *arguments, size_t argumentCount,
                     DrawloomBoundFunction **bound);
/** As any function, with types, workspace and calls of these extents; lives as
 * long as `bound`, and not longer than the program. */
DRAWLOOM_API const DrawloomFunction *
drawloomBoundFunction(const DrawloomBoundFunction *bound);
/** No call may be in progress. */
DRAWLOOM_API void drawloomBoundFunctionDestroy(DrawloomBoundFunction *bound);

/** Memory of the caller's: the elements of an argument (also of a scalar), or
 * space for a result. Aligned to its elements; to 64 bytes it is faster. */
typedef struct DrawloomBuffer {
  void *data;
  size_t bytes;
} DrawloomBuffer;

/** Computes the results from the arguments, on up to `threads` threads. A
 * result must not share memory with an argument or another result. Its bits do
 * not depend on `threads`. Nothing is written where the call is refused. A
 * program for a GPU copies the arguments there and the results back. */
DRAWLOOM_API DrawloomError *drawloomCall(const DrawloomFunction *function,
                                         const DrawloomBuffer *arguments,
                                         size_t argumentCount,
                                         const DrawloomBuffer *results,
                                         size_t resultCount, unsigned threads);

/** Threads of the caller's, for a program that has a pool of its own: two pools
 * whose threads wait in a loop for work would take each other's cores. */
typedef struct DrawloomThreads {
  void *context;
  /** Calls work(data, i) once for each i in [0, count), on any threads, and
   * returns when all calls have returned. */
  void (*run)(void *context, unsigned count,
              void (*work)(void *data, unsigned index), void *data);
} DrawloomThreads;

/** Calls that this thread makes from now on run on the caller's threads, or
 * with NULL again on the library's. The struct is copied. No bit of a result
 * changes: work is cut by the number of threads that the call names. */
DRAWLOOM_API void drawloomUseThreads(const DrawloomThreads *threads);

/*===----------------------------------------------------------------------===*/
/* Calling with tensors of DLPack */
/*===----------------------------------------------------------------------===*/

/** A tensor as DLPack's DLTensor lays it out in memory (its ABI 1.x, and 0.x
 * before that), declared here so that its header is not needed: a pointer to a
 * DLTensor may be cast to one to this. */
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
  /** From `data` to the first element. */
  uint64_t byteOffset;
} DrawloomTensor;

/** drawloomCall with tensors, which must be dense, row-major, in the host's
 * memory, and of the function's types; scalars are tensors of rank 0. What the
 * function leaves open, the tensors say. Checks
 * each and refuses what does not fit; copies nothing. */
DRAWLOOM_API DrawloomError *
drawloomCallTensors(const DrawloomFunction *function,
                    const DrawloomTensor *const *arguments,
                    size_t argumentCount, const DrawloomTensor *const *results,
                    size_t resultCount, unsigned threads);

/*===----------------------------------------------------------------------===*/
/* On a GPU */
/*===----------------------------------------------------------------------===*/

/* Of programs whose target is "cuda"; others refuse, or ignore, all of this.
 * Streams are CUstreams (a cudaStream_t is one) of the device's primary
 * context; NULL is the legacy default stream. */

/** The device as DLPack names it: its type, kDLCUDA or kDLCPU, and number. */
DRAWLOOM_API void drawloomProgramDevice(const DrawloomProgram *program,
                                        int32_t *deviceType, int32_t *deviceId);

/** Whether a call with tensors of the device takes this argument, a number,
 * from the host's memory; it is read before the call returns. */
DRAWLOOM_API int drawloomArgumentIsNumber(const DrawloomFunction *function,
                                          size_t index);

/** Computes the results from arguments in the device's memory: puts the work on
 * `stream` and returns; nothing waits, and nothing is copied. The tensors are
 * as those of drawloomCallTensors, but of the program's device; only arguments
 * that are numbers are in the host's memory. From its first call of a function
 * on, it allocates no memory of the device while the same streams call one
 * after the other, so that calls can be captured into CUDA graphs. */
DRAWLOOM_API DrawloomError *drawloomCallTensorsOnStream(
    const DrawloomFunction *function, const DrawloomTensor *const *arguments,
    size_t argumentCount, const DrawloomTensor *const *results,
    size_t resultCount, void *stream);

/** Memory of the caller's, for a program that shares a device with a framework:
 * what one keeps for later calls the other lacks. */
typedef struct DrawloomDeviceAllocator {
  void *context;
  /** Memory of the device, aligned to 256 bytes and usable on `stream` at once;
   * NULL where there is none. */
  void *(*allocate)(void *context, size_t bytes, void *stream);
  /** Called when all that uses the memory has been put on `stream`. */
  void (*release)(void *context, void *memory, void *stream);
} DrawloomDeviceAllocator;

/** Calls on streams that this thread makes from now on take what they need
 * besides arguments and results from the caller, or with NULL again from the
 * program's own allocator. The struct is copied. */
DRAWLOOM_API void
drawloomUseDeviceAllocator(const DrawloomDeviceAllocator *allocator);

/** Memory of the device, aligned to 256 bytes, for use on `stream`; NULL for no
 * bytes. */
DRAWLOOM_API DrawloomError *
drawloomDeviceAllocate(const DrawloomProgram *program, size_t bytes,
                       void *stream, void **memory);
/** When all that uses it has been put on `stream`, the stream that it is for.
 * Kept for later calls of this program, which must not be destroyed before. */
DRAWLOOM_API void drawloomDeviceRelease(const DrawloomProgram *program,
                                        void *memory, void *stream);
/** Copy in the order of `stream`; done when they return. */
DRAWLOOM_API DrawloomError *drawloomDeviceUpload(const DrawloomProgram *program,
                                                 void *device, const void *host,
                                                 size_t bytes, void *stream);
DRAWLOOM_API DrawloomError *
drawloomDeviceDownload(const DrawloomProgram *program, void *host,
                       const void *device, size_t bytes, void *stream);
/** What is put on `after` from now on waits for what is on `before` now. */
DRAWLOOM_API DrawloomError *drawloomDeviceOrder(const DrawloomProgram *program,
                                                void *before, void *after);

#ifdef __cplusplus
}
#endif

#endif /* DRAWLOOM_C_RUNTIME_H */
