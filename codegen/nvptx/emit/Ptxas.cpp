//===- Ptxas.cpp - NVIDIA's assembler, found and run ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/Ptxas.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>

using namespace llvm;

namespace drawloom::nvptx {

namespace {
struct Outcome {
  int status = 0;
  std::string text; ///< stdout and stderr.
};
} // namespace

static std::string readText(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

/// Runs a program with its output in files below `folder`. LLVM's own waiting
/// with a limit takes over SIGALRM of the whole process, so this polls.
static Expected<Outcome> run(ArrayRef<StringRef> arguments, StringRef folder,
                             unsigned seconds) {
  SmallString<128> output(folder);
  sys::path::append(output, "output");
  std::optional<StringRef> redirects[] = {StringRef(""), output.str(),
                                          output.str()};
  std::string message;
  bool failed = false;
  sys::ProcessInfo process =
      sys::ExecuteNoWait(arguments.front(), arguments, std::nullopt, redirects,
                         /*MemoryLimit=*/0, &message, &failed);
  if (failed)
    return createStringError("it cannot be started: " + message);
  auto start = std::chrono::steady_clock::now();
  auto pause = std::chrono::microseconds(200);
  while (true) {
    sys::ProcessInfo state = sys::Wait(process, /*SecondsToWait=*/0, &message,
                                       /*ProcStat=*/nullptr, /*Polling=*/true);
    if (state.Pid == process.Pid) {
      Outcome outcome;
      outcome.status = state.ReturnCode;
      outcome.text = readText(output);
      if (state.ReturnCode < 0 && !message.empty())
        outcome.text += message;
      return outcome;
    }
    if (std::chrono::steady_clock::now() - start >
        std::chrono::seconds(seconds)) {
      kill(process.Pid, SIGKILL);
      sys::Wait(process, /*SecondsToWait=*/std::nullopt, &message);
      return createStringError(
          formatv("it did not end within {0} seconds and was killed", seconds));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(5000));
  }
}

/// A folder that is gone with this object.
namespace {
class Folder {
public:
  static Expected<Folder> create() {
    Folder folder;
    if (std::error_code code =
            sys::fs::createUniqueDirectory("drawloom-ptxas", folder.name))
      return createStringError("no temporary folder can be made: " +
                               code.message());
    return folder;
  }
  Folder(Folder &&other) : name(std::move(other.name)) { other.name.clear(); }
  Folder &operator=(Folder &&) = delete;
  ~Folder() {
    if (!name.empty())
      sys::fs::remove_directories(name);
  }
  StringRef path() const { return name; }
  std::string file(StringRef file) const {
    SmallString<128> path(name);
    sys::path::append(path, file);
    return path.str().str();
  }

private:
  Folder() = default;
  SmallString<128> name;
};
} // namespace

/// The newest PTX of a release of CUDA, as 10 * major + minor. Since 12.6,
/// which brought none, its minor version is one behind.
static unsigned newestPtxOf(unsigned major, unsigned minor) {
  if (major >= 13)
    return 90 + 10 * (major - 13) + minor;
  if (major == 12)
    return minor < 6 ? 80 + minor : 79 + minor;
  return major == 11 ? 70 + minor : 0;
}

namespace {
struct Version {
  std::string release, problem;
  unsigned newestPtx = 0;
};
} // namespace

/// "..., release 13.0, V13.0.88" in the text of --version.
static Version parseVersion(StringRef text) {
  Version version;
  StringRef rest = text.split("release ").second;
  unsigned major = 0, minor = 0;
  if (rest.consumeInteger(10, major) || !rest.consume_front(".") ||
      rest.consumeInteger(10, minor)) {
    version.problem = "it does not say which release it is";
    return version;
  }
  StringRef full = rest.split('V').second;
  version.release =
      full.take_while([](char c) { return isDigit(c) || c == '.'; }).str();
  if (version.release.empty())
    version.release = formatv("{0}.{1}", major, minor).str();
  version.newestPtx = newestPtxOf(major, minor);
  return version;
}

/// Asks the assembler, once for each file in the life of the process.
static Version askVersion(StringRef path) {
  sys::fs::file_status status;
  if (sys::fs::status(path, status))
    return {"", "it cannot be read", 0};
  std::string key =
      formatv("{0}:{1}:{2}", path, status.getSize(),
              status.getLastModificationTime().time_since_epoch().count());
  static std::mutex mutex;
  static std::map<std::string, Version> known;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto found = known.find(key); found != known.end())
      return found->second;
  }
  Expected<Folder> folder = Folder::create();
  if (!folder)
    return {"", toString(folder.takeError()), 0};
  Expected<Outcome> outcome =
      run({path, "--version"}, folder->path(), /*seconds=*/20);
  Version version;
  if (!outcome)
    version.problem = toString(outcome.takeError());
  else if (outcome->status != 0)
    version.problem = "it fails when asked for its version";
  else
    version = parseVersion(outcome->text);
  std::lock_guard<std::mutex> lock(mutex);
  return known[key] = version;
}

static std::string dotted(unsigned version) {
  return formatv("{0}.{1}", version / 10, version % 10);
}

Expected<Ptxas> Ptxas::find(const Architecture &architecture,
                            StringRef explicitPath) {
  std::vector<PtxasPlace> places;
  if (explicitPath.empty())
    places = ptxasPlaces();
  else
    places.push_back({explicitPath.str(), "the path given"});
  std::string tried, searched;
  StringSet<> seen, kinds;
  for (const PtxasPlace &place : places) {
    if (kinds.insert(place.description).second)
      searched += (searched.empty() ? "" : ", ") + place.description;
    if (!sys::fs::can_execute(place.path)) {
      // A name that somebody gave is worth a line, the rest is only places.
      if (places.size() == 1)
        tried += "; '" + place.path + "' is no program";
      continue;
    }
    SmallString<256> real;
    if (sys::fs::real_path(place.path, real) || !seen.insert(real).second)
      continue;
    Version version = askVersion(place.path);
    if (!version.problem.empty()) {
      tried += "; '" + place.path + "': " + version.problem;
      continue;
    }
    if (version.newestPtx < architecture.ptxVersion) {
      tried += "; '" + place.path + "' of CUDA " + version.release +
               " reads PTX up to " + dotted(version.newestPtx);
      continue;
    }
    Ptxas found;
    found.program = place.path;
    found.release = version.release;
    found.newestPtx = version.newestPtx;
    return found;
  }
  return createStringError(
      "no ptxas that reads PTX " + dotted(architecture.ptxVersion) + " for " +
      architecture.name + " was found (looked in: " + searched + ")" + tried +
      ". Set DRAWLOOM_PTXAS to one, or install CUDA 12.8 or newer, or the "
      "package nvidia-cuda-nvcc from PyPI");
}

/// The number in front of `unit`: "..., 24 bytes spill stores, ...".
static int64_t numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos)
    return 0;
  StringRef head = line.take_front(at).rtrim();
  size_t begin = head.find_last_not_of("0123456789");
  int64_t value = 0;
  head.drop_front(begin == StringRef::npos ? 0 : begin + 1)
      .getAsInteger(10, value);
  return value;
}

std::map<std::string, KernelUsage> parseUsage(StringRef text) {
  std::map<std::string, KernelUsage> usage;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  KernelUsage *current = nullptr;
  for (StringRef line : lines) {
    if (size_t at = line.find("Compiling entry function '");
        at != StringRef::npos) {
      StringRef name = line.drop_front(at).split('\'').second.split('\'').first;
      current = &usage[name.str()];
    } else if (current && line.contains("bytes stack frame")) {
      current->stackBytes = numberBefore(line, "bytes stack frame");
      current->spillStoreBytes = numberBefore(line, "bytes spill stores");
      current->spillLoadBytes = numberBefore(line, "bytes spill loads");
    } else if (current && line.contains("registers")) {
      current->registers =
          static_cast<unsigned>(numberBefore(line, "registers"));
      current->barriers = static_cast<unsigned>(numberBefore(line, "barriers"));
      current->staticSharedBytes = numberBefore(line, "bytes smem");
    }
  }
  return usage;
}

/// The lines that tell of code that runs, slowly.
static std::string slowCode(StringRef text) {
  std::string found;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines)
    if (line.contains("(C75"))
      found += (found.empty() ? "" : "; ") + line.trim().str();
  return found;
}

Expected<Cubin> Ptxas::assemble(StringRef ptx, const Architecture &architecture,
                                StringRef what, bool lineInfo,
                                unsigned seconds) const {
  auto failed = [&](const Twine &why) {
    return createStringError("ptxas " + release + " on " + what + " for " +
                             architecture.name + ": " + why);
  };
  Expected<Folder> folder = Folder::create();
  if (!folder)
    return failed(toString(folder.takeError()));
  std::string source = folder->file("kernel.ptx");
  std::string object = folder->file("kernel.cubin");
  std::error_code code;
  {
    raw_fd_ostream stream(source, code);
    if (!code) {
      stream << ptx;
      stream.close();
      code = stream.error();
      stream.clear_error();
    }
  }
  if (code)
    return failed("'" + source + "' cannot be written: " + code.message());

  std::string arch = ("-arch=" + architecture.name).str();
  SmallVector<StringRef> arguments = {program, "-v", arch};
  if (lineInfo)
    arguments.push_back("-lineinfo");
  arguments.append({source, "-o", object});
  auto start = std::chrono::steady_clock::now();
  Expected<Outcome> outcome = run(arguments, folder->path(), seconds);
  if (!outcome)
    return failed(toString(outcome.takeError()));
  Cubin cubin;
  cubin.milliseconds = std::chrono::duration<double, std::milli>(
                           std::chrono::steady_clock::now() - start)
                           .count();
  if (outcome->status != 0)
    return failed(StringRef(outcome->text).trim().empty()
                      ? "it failed and said nothing"
                      : StringRef(outcome->text).trim());
  if (std::string slow = slowCode(outcome->text); !slow.empty())
    return failed("the code would be slow: " + slow);
  ErrorOr<std::unique_ptr<MemoryBuffer>> bytes = MemoryBuffer::getFile(
      object, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes || (*bytes)->getBufferSize() == 0)
    return failed("it wrote no cubin");
  cubin.bytes = (*bytes)->getBuffer().str();
  cubin.usage = parseUsage(outcome->text);
  return cubin;
}

} // namespace drawloom::nvptx
