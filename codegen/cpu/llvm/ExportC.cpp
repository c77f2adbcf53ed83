//===- ExportC.cpp - compiled programs for programs in C ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/llvm/ExportC.h"
#include "codegen/Artifact.h"
#include "drawloom/runtime/Abi.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace drawloom::cpu {

static Error checkName(StringRef name) {
  bool fits = !name.empty() && !isDigit(name.front()) &&
              all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
  if (fits)
    return Error::success();
  return createStringError("@" + name +
                           " is no name in C, which has letters, digits and "
                           "'_': give the function another");
}

static StringRef cType(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return "double";
  case ElementType::F32:
    return "float";
  case ElementType::BF16:
  case ElementType::F16:
    return "uint16_t";
  case ElementType::I64:
    return "int64_t";
  case ElementType::I32:
    return "int32_t";
  case ElementType::I8:
    return "int8_t";
  case ElementType::I1:
    return "uint8_t";
  }
  llvm_unreachable("all types are listed");
}

static std::string typeText(const ValueType &type) {
  static constexpr StringLiteral names[] = {"f64", "f32", "bf16", "f16",
                                            "i64", "i32", "i8",   "i1"};
  std::string text = names[static_cast<int>(type.element)].str() + "[";
  ListSeparator comma;
  for (int64_t extent : type.shape) {
    text += StringRef(comma);
    text += itostr(extent);
  }
  return text + "]";
}

// What runtime/Abi.h says, under its guard.
static constexpr StringLiteral headerBegin =
    R"(/* Written by drawloom-translate --mlir-to-header, for instruction set
 * {0}. Link the object that --mlir-to-object makes of the same program for the
 * same set, and the C library's mathematics (-lm).
 *
 * All pointers are to dense row-major memory, aligned to its elements; bf16 and
 * f16 come as their bits, i1 as bytes of 0 and 1. A result must not share
 * memory with anything. */

#ifndef DRAWLOOM_PROGRAM_{1}
#define DRAWLOOM_PROGRAM_{1}

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

#ifndef DRAWLOOM_RUNTIME_ABI_H
#define DRAWLOOM_RUNTIME_ABI_H
#define DRAWLOOM_ALIGNMENT {2}
/* Runs blocks [lo, hi); any split gives the same bits. */
typedef void (*DrawloomKernel)(void **arguments, int64_t lo, int64_t hi,
                               void *scratch);
/* What runs all blocks, with memory for each thread that calls the kernel. */
typedef struct DrawloomHost {{
  void *context;
  void (*parallelFor)(void *context, DrawloomKernel kernel, void **arguments,
                      int64_t blocks);
  /* Of programs that keep values outside memory, which these are not. */
  void (*transfer)(void *context, int64_t kind, int64_t record, void *memory,
                   int64_t bytes);
} DrawloomHost;
typedef void (*DrawloomEntry)(void **arguments, const DrawloomHost *host);
#endif

#ifndef DRAWLOOM_SERIAL_FOR
#define DRAWLOOM_SERIAL_FOR
static inline void drawloom_serial_for(void *scratch, DrawloomKernel kernel,
                                       void **arguments, int64_t blocks) {{
  if (blocks > 0)
    kernel(arguments, 0, blocks, scratch);
}
#endif
)";

static constexpr StringLiteral headerEnd = R"(
#ifdef __cplusplus
}
#endif

#endif
)";

/// Whether a parameter of a function in the header cannot have this name: it is
/// a word of C or C++, the header or what it includes may give it a meaning, or
/// a common compiler defines it as a macro.
static bool isTaken(StringRef name) {
  static const StringSet<> words = {
      // C, and what C++ adds to it.
      "alignas", "alignof", "auto", "bool", "break", "case", "char", "const",
      "constexpr", "continue", "default", "do", "double", "else", "enum",
      "extern", "false", "float", "for", "goto", "if", "inline", "int", "long",
      "nullptr", "register", "restrict", "return", "short", "signed", "sizeof",
      "static", "static_assert", "struct", "switch", "thread_local", "true",
      "typedef", "typeof", "typeof_unqual", "union", "unsigned", "void",
      "volatile", "while", "and", "and_eq", "asm", "bitand", "bitor", "catch",
      "class", "co_await", "co_return", "co_yield", "compl", "concept",
      "consteval", "constinit", "const_cast", "decltype", "delete",
      "dynamic_cast", "explicit", "export", "friend", "mutable", "namespace",
      "new", "noexcept", "not", "not_eq", "operator", "or", "or_eq", "private",
      "protected", "public", "reinterpret_cast", "requires", "static_cast",
      "template", "this", "throw", "try", "typeid", "typename", "using",
      "virtual", "wchar_t", "xor", "xor_eq",
      // The header's own.
      "arguments", "host", "memory",
      // Macros of the C library and of compilers.
      "EOF", "I", "NULL", "errno", "linux", "unix"};
  return words.contains(name) || name.starts_with_insensitive("drawloom") ||
         any_of(ArrayRef<StringRef>{"_t", "_MAX", "_MIN", "_WIDTH"},
                [&](StringRef end) { return name.ends_with(end); });
}

/// Returns a parameter's name in C that is not among `used`, and adds it there:
/// the value's own name, as "w" or "layers_0_w" for "layers.0.w", or else its
/// place, as "argument0".
static std::string parameterName(StringRef name, const Twine &place,
                                 StringSet<> &used) {
  std::string text;
  for (char c : name)
    // C++ reserves names with two underscores in a row.
    if (isAlnum(c))
      text += c;
    else if (!text.empty() && text.back() != '_')
      text += '_';
  if (text.empty())
    text = place.str();
  else if (isDigit(text.front()))
    text = (place + "_" + text).str();
  if (isTaken(text))
    text += text.back() == '_' ? "0" : "_";
  std::string unique = text;
  for (unsigned i = 2; !used.insert(unique).second; ++i)
    unique = text + (text.back() == '_' ? "" : "_") + utostr(i);
  return unique;
}

static void exportFunction(raw_ostream &os, const Artifact::Entry &entry) {
  const Signature &signature = entry.signature;
  const std::string &name = signature.name;
  std::string parameters, pointers, takes, gives;
  StringSet<> used;
  auto add = [&](ArrayRef<ValueType> types, StringRef kind, StringRef constant,
                 std::string &list) {
    for (auto [i, type] : enumerate(types)) {
      std::string parameter = parameterName(type.name, kind + Twine(i), used);
      parameters +=
          (constant + cType(type.element) + " *" + parameter + ", ").str();
      pointers += "(void *)" + parameter + ", ";
      list += (list.empty() ? "" : ", ") + parameter + ": " + typeText(type);
    }
  };
  add(signature.arguments, "argument", "const ", takes);
  add(signature.results, "result", "", gives);
  int64_t workspace = alignTo(signature.workspaceBytes, DRAWLOOM_ALIGNMENT);
  os << "\n/* @" << name << ": (" << takes << ") -> (" << gives << ").\n"
     << " * `arguments` points to its arguments, results and workspace. */\n"
     << "void drawloom_" << name
     << "(void **arguments, const DrawloomHost *host);\n"
     << "#define DRAWLOOM_WORKSPACE_BYTES_" << name << " INT64_C("
     << signature.workspaceBytes << ")\n"
     << "/* Of each thread. */\n#define DRAWLOOM_SCRATCH_BYTES_" << name
     << " INT64_C(" << entry.scratchBytes << ")\n"
     << "/* For both of a call on one thread. */\n"
     << "#define DRAWLOOM_MEMORY_BYTES_" << name << " INT64_C("
     << workspace + entry.scratchBytes << ")\n"
     << "/* On this thread; `memory` has so many bytes, aligned to "
     << DRAWLOOM_ALIGNMENT << ".\n * May be NULL for none. */\n"
     << "static inline void drawloom_call_" << name << "(" << parameters
     << "void *memory) {\n"
     << "  void *arguments[] = {" << pointers << "memory};\n"
     << "  DrawloomHost host;\n"
     << "  host.context = "
     << (entry.scratchBytes ? "(char *)memory + " + itostr(workspace)
                            : std::string("NULL"))
     << ";\n"
     << "  host.parallelFor = drawloom_serial_for;\n"
     << "  host.transfer = NULL;\n"
     << "  drawloom_" << name << "(arguments, &host);\n}\n";
}

Expected<std::string> exportHeader(const Artifact::Variant &variant) {
  std::string text, names;
  raw_string_ostream os(text);
  for (const Artifact::Entry &entry : variant.entries) {
    if (Error error = checkName(entry.signature.name))
      return error;
    if (entry.signature.isOpen())
      return createStringError(
          "@" + entry.signature.name +
          " leaves extents open, for which this header has no place: give its "
          "arguments static shapes, or load the file of --mlir-to-artifact");
    if (entry.signature.records > 0)
      return createStringError(
          "@" + entry.signature.name +
          " keeps values in a store, which this header's calls do not have: "
          "load the file of --mlir-to-artifact, whose calls take one "
          "(drawloomUseStore)");
    names += (names.empty() ? "" : "_") + entry.signature.name;
  }
  os << formatv(headerBegin.data(), variant.isa, names, DRAWLOOM_ALIGNMENT);
  for (const Artifact::Entry &entry : variant.entries)
    exportFunction(os, entry);
  os << headerEnd;
  return text;
}

//===----------------------------------------------------------------------===//
// TVM's foreign function interface
//===----------------------------------------------------------------------===//

// The layouts and numbers are those of its public ABI (tvm/ffi/c_api.h).
static constexpr StringLiteral tvmBegin = R"(
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "drawloom-c/runtime.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Any {
  int32_t type;
  uint32_t padding;
  union {
    int64_t integer;
    double real;
    void *pointer;
  } value;
} Any;
enum { NONE = 0, INTEGER = 1, BOOLEAN = 2, REAL = 3, TENSOR_POINTER = 7, TENSOR = 70 };
/* A tensor object begins with a header of so many bytes. */
enum { OBJECT_HEADER = 24 };

static pthread_once_t loaded = PTHREAD_ONCE_INIT;
static DrawloomProgram *program;
static DrawloomError *load_error;
static unsigned threads = 1;

static void load(void) {
  load_error = drawloomProgramLoadBytes(artifact, artifact_bytes, NULL, &program);
}

/* Raises an error in whichever TVM has called us. */
static int raise_error(const char *kind, const char *message) {
  typedef void (*Raise)(const char *, const char *);
  void *symbol = dlsym(RTLD_DEFAULT, "TVMFFIErrorSetRaisedFromCStr");
  if (!symbol) {
    void *library = dlopen("libtvm_ffi.so", RTLD_NOW | RTLD_NOLOAD);
    if (library) {
      symbol = dlsym(library, "TVMFFIErrorSetRaisedFromCStr");
      dlclose(library);
    }
  }
  if (symbol)
    (*(Raise *)(void *)&symbol)(kind, message);
  else
    fprintf(stderr, "%s: %s\n", kind, message);
  return -1;
}

static int raise_drawloom(DrawloomError *error) {
  raise_error("ValueError", drawloomErrorMessage(error));
  drawloomErrorDestroy(error);
  return -1;
}

/* A number as a tensor of rank 0 in `storage`; 0 where the function takes none
 * there. */
static int number(const Any *any, DrawloomType type, DrawloomTensor *tensor,
                  void *storage) {
  int whole = any->type == INTEGER || any->type == BOOLEAN;
  int64_t integer = any->type == REAL ? 0 : any->value.integer;
  double real = any->type == REAL ? any->value.real : (double)integer;
  static const DrawloomTensor none;
  if (type.rank != 0 || (!whole && any->type != REAL))
    return 0;
  *tensor = none;
  tensor->data = storage;
  tensor->deviceType = 1;
  tensor->lanes = 1;
  tensor->elementBits = (uint8_t)(8 * type.bytes);
  switch (type.element) {
  case DRAWLOOM_F64:
    tensor->elementCode = 2;
    *(double *)storage = real;
    return 1;
  case DRAWLOOM_F32:
    tensor->elementCode = 2;
    *(float *)storage = (float)real;
    return 1;
  case DRAWLOOM_I64:
    *(int64_t *)storage = integer;
    return whole;
  case DRAWLOOM_I32:
    *(int32_t *)storage = (int32_t)integer;
    return whole && integer == (int32_t)integer;
  case DRAWLOOM_I8:
    *(int8_t *)storage = (int8_t)integer;
    return whole && integer == (int8_t)integer;
  case DRAWLOOM_I1:
    tensor->elementCode = 6;
    *(uint8_t *)storage = (uint8_t)integer;
    return whole && (integer == 0 || integer == 1);
  default:
    return 0;
  }
}

static int call(size_t index, const Any *args, int32_t count, Any *result) {
  const DrawloomFunction *function;
  const DrawloomTensor **tensors;
  DrawloomTensor *numbers;
  double *storage;
  size_t i, inputs, outputs;
  int status = 0;
  char message[256];
  pthread_once(&loaded, load);
  if (load_error)
    return raise_error("RuntimeError", drawloomErrorMessage(load_error));
  function = drawloomFunctionAt(program, index);
  inputs = drawloomArgumentCount(function);
  outputs = drawloomResultCount(function);
  if (count < 0 || (size_t)count != inputs + outputs) {
    snprintf(message, sizeof(message),
             "@%.100s takes %zu arguments and %zu tensors for its results, but "
             "%d are given",
             drawloomFunctionName(function), inputs, outputs, (int)count);
    return raise_error("TypeError", message);
  }
  tensors = calloc(inputs + outputs + 1, sizeof(*tensors));
  numbers = calloc(inputs + 1, sizeof(*numbers));
  storage = calloc(inputs + 1, sizeof(*storage));
  if (!tensors || !numbers || !storage)
    status = raise_error("MemoryError", "no memory for a call's arguments");
  for (i = 0; i < inputs + outputs && status == 0; ++i) {
    if (args[i].type == TENSOR_POINTER)
      tensors[i] = (const DrawloomTensor *)args[i].value.pointer;
    else if (args[i].type == TENSOR)
      tensors[i] = (const DrawloomTensor *)((const char *)args[i].value.pointer +
                                            OBJECT_HEADER);
    else if (i < inputs && number(&args[i], drawloomArgumentType(function, i),
                                  &numbers[i], &storage[i]))
      tensors[i] = &numbers[i];
    else {
      snprintf(message, sizeof(message),
               "%s %zu of @%.100s is no tensor, and no number that fits",
               i < inputs ? "argument" : "result", i < inputs ? i : i - inputs,
               drawloomFunctionName(function));
      status = raise_error("TypeError", message);
    }
  }
  if (status == 0) {
    DrawloomError *error = drawloomCallTensors(
        function, tensors, inputs, tensors + inputs, outputs, threads);
    if (error)
      status = raise_drawloom(error);
  }
  free(tensors);
  free(numbers);
  free(storage);
  if (status == 0) {
    result->type = NONE;
    result->padding = 0;
    result->value.integer = 0;
  }
  return status;
}

#define EXPORT __attribute__((visibility("default")))

/* drawloom_set_threads(n): for the calls that follow. */
EXPORT int __tvm_ffi_drawloom_set_threads(void *self, const Any *args,
                                          int32_t count, Any *result);
EXPORT int __tvm_ffi_drawloom_set_threads(void *self, const Any *args,
                                          int32_t count, Any *result) {
  (void)self;
  if (count != 1 || args[0].type != INTEGER || args[0].value.integer < 1 ||
      args[0].value.integer > 1024)
    return raise_error("ValueError", "drawloom_set_threads takes a number from 1 to 1024");
  threads = (unsigned)args[0].value.integer;
  result->type = NONE;
  result->padding = 0;
  result->value.integer = 0;
  return 0;
}
)";

Expected<std::string> exportTvmFfi(const Artifact &artifact) {
  std::string text;
  raw_string_ostream os(text);
  os << "/* Written by drawloom-translate --mlir-to-tvm-ffi. Compile and link "
        "with\n *   cc -shared -fPIC FILE.c -ldrawloom_runtime -o FILE.so\n "
        "*/\n"
     << "\n#include <stddef.h>\n";
  std::string bytes = writeArtifact(artifact);
  os << "\nstatic const size_t artifact_bytes = " << bytes.size()
     << ";\nstatic const unsigned char artifact[] = {";
  for (auto [i, byte] : enumerate(bytes))
    os << (i % 20 ? "" : "\n")
       << static_cast<unsigned>(static_cast<unsigned char>(byte)) << ',';
  os << "\n};\n";
  os << tvmBegin;
  for (auto [i, entry] : enumerate(artifact.variants.front().entries)) {
    const std::string &name = entry.signature.name;
    if (Error error = checkName(name))
      return error;
    if (name == "drawloom_set_threads")
      return createStringError("@" + name +
                               " is a name that the library has "
                               "itself: give the function "
                               "another");
    std::string head = ("EXPORT int __tvm_ffi_" + Twine(name) +
                        "(void *self, const Any *args, int32_t count, Any "
                        "*result)")
                           .str();
    os << "\n"
       << head << ";\n"
       << head << " {\n  (void)self;\n"
       << "  return call(" << i << ", args, count, result);\n}\n";
  }
  return text;
}

} // namespace drawloom::cpu
