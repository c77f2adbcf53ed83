//===- Inputs.cpp - programs before they are parsed -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Inputs.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/WithColor.h"
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace drawloom {

/// Loops, conditions and attributes of programs, ours or others', stay far
/// below; the parser, passes and printers need some kilobytes of stack for
/// each.
static constexpr int deepest = 256;

/// Bytes of what is no regular file: programs with their weights are files.
static constexpr size_t longestStream = size_t(1) << 28;

/// Operations of one expression of an affine map: the parser needs a level of
/// recursion for each.
static constexpr int longest = 10000;

std::optional<DeepNesting> findDeepNesting(StringRef text) {
  // Bytecode is read without recursion, and its bytes mean nothing here.
  if (text.starts_with("ML\xefR"))
    return std::nullopt;
  // Of each kind for itself: the signs < and > also stand alone.
  std::array<int, 4> depths = {};
  int minuses = 0, terms = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char here = text[i];
    int minusesBefore = std::exchange(minuses, 0);
    size_t kind;
    switch (here) {
    case '"':
      // To the other quote. A string ends with its line, at the latest.
      while (++i < text.size() && text[i] != '"' && text[i] != '\n')
        if (text[i] == '\\')
          ++i;
      continue;
    case '/':
      if (i + 1 < text.size() && text[i + 1] == '/')
        i = std::min(text.find('\n', i), text.size());
      continue;
    case ' ':
    case '\t':
    case '\n':
    case '\r':
      minuses = minusesBefore;
      continue;
    case '-':
      minuses = minusesBefore + 1;
      ++terms;
      if (minuses <= deepest && terms <= longest)
        continue;
      break;
    case 'm':
    case 'd':
      // What is no sign: mod, floordiv, ceildiv.
      if (!text.substr(i).starts_with("mod ") &&
          !text.substr(i).starts_with("div "))
        continue;
      [[fallthrough]];
    case '+':
    case '*':
      if (++terms <= longest)
        continue;
      break;
    case ',':
    case '=':
      terms = 0;
      continue;
    case '(':
    case '[':
    case '{':
    case '<':
      kind = StringRef("([{<").find(here);
      terms = 0;
      if (++depths[kind] <= deepest)
        continue;
      break;
    case ')':
    case ']':
    case '}':
    case '>':
      kind = StringRef(")]}>").find(here);
      terms = 0;
      // An arrow opens nothing.
      if (depths[kind] > 0 && !(here == '>' && minusesBefore))
        --depths[kind];
      continue;
    default:
      continue;
    }
    StringRef before = text.take_front(i);
    size_t line = before.rfind('\n');
    size_t start = line == StringRef::npos ? 0 : line + 1;
    std::string why =
        terms > longest
            ? ("the expression has more than " + Twine(longest) +
               " operations, which none may have: put parts of it into maps of "
               "their own")
                  .str()
            : ("'" + Twine(here) + "' is nested deeper than " + Twine(deepest) +
               ", which no program may be: put what is inside into a "
               "function, or an attribute of its own")
                  .str();
    return DeepNesting{static_cast<unsigned>(before.count('\n')) + 1,
                       static_cast<unsigned>(i - start) + 1, why};
  }
  return std::nullopt;
}

/// All that a descriptor gives, or what is wrong.
static Expected<std::string> readStream(int descriptor, StringRef name) {
  std::string contents;
  for (;;) {
    size_t had = contents.size();
    constexpr size_t chunk = 1 << 16;
    contents.resize(had + chunk);
    ssize_t count = ::read(descriptor, contents.data() + had, chunk);
    if (count < 0 && errno == EINTR)
      count = 0;
    else if (count < 0)
      return createStringError("cannot read '" + name +
                               "': " + std::strerror(errno));
    else if (count == 0) {
      contents.resize(had);
      return contents;
    }
    contents.resize(had + static_cast<size_t>(count));
    if (contents.size() > longestStream)
      return createStringError("'" + name +
                               "' is no regular file and does not end within " +
                               Twine(longestStream >> 20) +
                               " MiB: copy what is wanted of it to one");
  }
}

Expected<std::unique_ptr<MemoryBuffer>> readInput(const std::string &path) {
  struct stat info;
  bool isStandard = path == "-";
  if (!isStandard && (::stat(path.c_str(), &info) != 0 ||
                      S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
    if (!buffer)
      return createStringError("cannot read '" + path +
                               "': " + buffer.getError().message());
    return std::move(*buffer);
  }
  int descriptor =
      isStandard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return createStringError("cannot read '" + path +
                             "': " + std::strerror(errno));
  auto close = llvm::scope_exit([&] {
    if (!isStandard)
      ::close(descriptor);
  });
  Expected<std::string> contents =
      readStream(descriptor, isStandard ? "<stdin>" : StringRef(path));
  if (!contents)
    return contents.takeError();
  return MemoryBuffer::getMemBufferCopy(*contents,
                                        isStandard ? "<stdin>" : path);
}

static bool isSound(StringRef name, StringRef text) {
  std::optional<DeepNesting> deep = findDeepNesting(text);
  if (!deep)
    return true;
  errs() << name << ':' << deep->line << ':' << deep->column << ": ";
  WithColor::error(errs()) << deep->message << '\n';
  return false;
}

static bool refuse(Error error) {
  WithColor::error(errs()) << toString(std::move(error)) << '\n';
  return false;
}

/// The standard input can be read once: what was read takes its place.
static bool checkStandardInput() {
  if (::isatty(STDIN_FILENO))
    return true;
  Expected<std::string> contents = readStream(STDIN_FILENO, "<stdin>");
  // Upstream says what else there is to say.
  if (!contents)
    return refuse(contents.takeError());
  if (!isSound("<stdin>", *contents))
    return false;
  int copy = ::memfd_create("stdin", MFD_CLOEXEC);
  StringRef rest = *contents;
  while (copy >= 0 && !rest.empty()) {
    ssize_t count = ::write(copy, rest.data(), rest.size());
    if (count < 0 && errno != EINTR)
      break;
    rest = rest.drop_front(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }
  bool isCopied = copy >= 0 && rest.empty() &&
                  ::lseek(copy, 0, SEEK_SET) == 0 &&
                  ::dup2(copy, STDIN_FILENO) >= 0;
  int code = errno;
  if (copy >= 0)
    ::close(copy);
  return isCopied || refuse(createStringError("cannot read '<stdin>': " +
                                              Twine(std::strerror(code))));
}

bool checkInputs(int argc, char **argv) {
  bool named = false;
  for (int i = 1; i < argc; ++i) {
    StringRef argument = argv[i];
    if (argument == "-o" || argument == "--o") {
      ++i;
      continue;
    }
    // Help and versions need no program.
    StringRef option = argument.ltrim('-');
    if (argument.starts_with("-") && argument != "-" &&
        (option.starts_with("help") || option == "h" || option == "version" ||
         option.starts_with("show-dialects") ||
         option.starts_with("list-passes") || option == "print-machine"))
      return true;
    if (argument.starts_with("-"))
      continue;
    named = true;
    struct stat info;
    if (::stat(argv[i], &info) != 0)
      continue;
    // A pipe can be read once, and its reader is upstream.
    if (!S_ISREG(info.st_mode)) {
      if (S_ISCHR(info.st_mode)) {
        Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(argv[i]);
        if (!buffer)
          return refuse(buffer.takeError());
      }
      continue;
    }
    Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(argv[i]);
    if (!buffer)
      consumeError(buffer.takeError());
    else if (!isSound(argument, (*buffer)->getBuffer()))
      return false;
  }
  return named || checkStandardInput();
}

} // namespace drawloom
