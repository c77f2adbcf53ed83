//===- Driver.cpp - CUDA's driver and its devices -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace drawloom::runtime::cuda {

// What reads PTX 8.0, the oldest that is emitted.
static constexpr int oldestDriver = 12000;

static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

std::string Driver::describe(int code) const {
  const char *name = nullptr, *text = nullptr;
  functions->getErrorName(code, &name);
  functions->getErrorString(code, &text);
  std::string result = name ? name : "error " + std::to_string(code);
  if (text)
    result += std::string(": ") + text;
  return result;
}

Driver::~Driver() {
  // The library stays: it has threads and handlers of its own.
}

Result<std::shared_ptr<Driver>> Driver::open() {
  const char *given = std::getenv("DRAWLOOM_LIBCUDA");
  std::string name = given && *given ? given : "libcuda.so.1";
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return Status::error(
        "there is no CUDA driver: " + std::string(why ? why : name) +
        ". It comes with NVIDIA's kernel module; DRAWLOOM_LIBCUDA names "
        "another "
        "library");
  }
  std::shared_ptr<Driver> driver(new Driver);
  driver->library = library;
  driver->functions = std::make_unique<Api>();
  std::string missing;
  auto find = [&](const char *symbol) {
    void *address = dlsym(library, symbol);
    if (!address)
      missing += (missing.empty() ? "" : ", ") + std::string(symbol);
    return address;
  };
#define DRAWLOOM_DRIVER(member, symbol, parameters)                            \
  driver->functions->member =                                                  \
      reinterpret_cast<decltype(Api::member)>(find(symbol));
  DRAWLOOM_DRIVER_FUNCTIONS(DRAWLOOM_DRIVER)
#undef DRAWLOOM_DRIVER
  if (!missing.empty())
    return Status::error("the CUDA driver '" + name + "' lacks " + missing +
                         ": it is too old, or not CUDA's");
  const Api &api = driver->api();
  if (int code = api.init(0))
    return Status::error("the CUDA driver '" + name +
                         "' does not start: " + driver->describe(code));
  if (int code = api.driverGetVersion(&driver->newest))
    return Status::error("the CUDA driver does not tell its version: " +
                         driver->describe(code));
  if (driver->newest < oldestDriver)
    return Status::error("the CUDA driver runs CUDA " +
                         versionText(driver->newest) + "; " +
                         versionText(oldestDriver) +
                         " or newer is needed. Update NVIDIA's driver");
  int code = api.deviceGetCount(&driver->devices);
  if (code != success || driver->devices <= 0)
    return Status::error(
        "the CUDA driver finds no device" +
        (code ? ": " + driver->describe(code) : std::string()) +
        ". CUDA_VISIBLE_DEVICES may hide them");
  return driver;
}

Result<std::shared_ptr<Device>> Device::open(std::shared_ptr<Driver> driver,
                                             int ordinal) {
  if (ordinal < 0 || ordinal >= driver->deviceCount())
    return Status::error("there is no CUDA device " + std::to_string(ordinal) +
                         "; the driver finds " +
                         std::to_string(driver->deviceCount()));
  const Api &api = driver->api();
  std::shared_ptr<Device> device(new Device);
  device->state = std::make_unique<State>();
  int handle = 0;
  int code = api.deviceGet(&handle, ordinal);
  auto attribute = [&](DeviceAttribute which, int missing) {
    int value = missing;
    // An attribute that a driver does not know keeps its default.
    if (api.deviceGetAttribute(&value, which, handle) != success)
      value = missing;
    return value;
  };
  char name[256] = "";
  if (code == success)
    code = api.deviceGetName(name, sizeof(name), handle);
  int major = attribute(capabilityMajor, 0);
  device->version =
      static_cast<unsigned>(10 * major + attribute(capabilityMinor, 0));
  device->shared = attribute(maxSharedOptIn, 49152);
  device->processors = attribute(multiprocessorCount, 1);
  device->anyMemory = attribute(pageableMemoryAccess, 0) != 0;
  device->gridLimit[0] = attribute(maxGridX, 2147483647);
  device->gridLimit[1] = attribute(maxGridY, 65535);
  device->gridLimit[2] = attribute(maxGridZ, 65535);
  void *context = nullptr;
  if (code == success)
    code = api.primaryRetain(&context, handle);
  if (code != success)
    return Status::error("CUDA device " + std::to_string(ordinal) +
                         " cannot be used: " + driver->describe(code));
  device->context = context;
  device->ordinal = handle;
  device->productName = name;
  device->driver = std::move(driver);
  const char *blocking = std::getenv("DRAWLOOM_CUDA_BLOCKING");
  device->state->blocking = blocking && *blocking && *blocking != '0';
  return device;
}

Result<std::shared_ptr<Device>>
Device::openCurrent(std::shared_ptr<Driver> driver) {
  int current = 0;
  // Without a context it fails.
  if (driver->api().contextGetDevice(&current) != success)
    current = 0;
  return open(std::move(driver), current);
}

Result<std::shared_ptr<Device>> Device::openNumber(int number) {
  Result<std::shared_ptr<Driver>> driver = Driver::open();
  if (!driver.ok())
    return driver.status();
  return number < 0 ? openCurrent(*driver) : open(*driver, number);
}

Device::~Device() {
  if (context)
    driver->api().primaryRelease(ordinal);
}

Status Device::synchronize() {
  CurrentContext current(driver->api(), context);
  int code = current.code;
  if (code == success)
    code = driver->api().contextSynchronize();
  if (code == success)
    return {};
  return Status::error("work on " + productName + " failed: " +
                       driver->describe(code) + ". " + state->lastLaunch());
}

Status Device::afterCopy(int code, size_t bytes) {
  if (code == success)
    return {};
  return Status::error("copying " + std::to_string(bytes) + " bytes on " +
                       productName + " failed: " + driver->describe(code) +
                       ". " + state->lastLaunch());
}

std::string Device::whyNotReadable(uint64_t address) {
  if (anyMemory || state->isKnown(address))
    return "";
  const Api &api = driver->api();
  DevicePointer known = 0;
  int code = api.pointerGetAttribute(&known, pointerDeviceAddress, address);
  if (code == invalidValue)
    return "points to memory that the device cannot read: memory of the host? "
           "Copy it to the device first";
  if (code != success)
    return "";
  int owner = ordinal;
  if (api.pointerGetAttribute(&owner, pointerDeviceOrdinal, address) ==
          success &&
      owner != ordinal)
    return "points to memory of device " + std::to_string(owner) +
           ", and the kernel was loaded onto device " + std::to_string(ordinal);
  state->learn(address);
  return "";
}

static DevicePointer asDevice(const void *pointer) {
  return reinterpret_cast<DevicePointer>(pointer);
}

Status Device::upload(void *device, const void *host, size_t bytes,
                      void *stream) {
  if (bytes == 0)
    return {};
  CurrentContext current(driver->api(), context);
  int code = current.code;
  if (code == success)
    code = driver->api().copyToDevice(asDevice(device), host, bytes, stream);
  if (code == success)
    code = driver->api().streamSynchronize(stream);
  return afterCopy(code, bytes);
}

Status Device::download(void *host, const void *device, size_t bytes,
                        void *stream) {
  if (bytes == 0)
    return {};
  CurrentContext current(driver->api(), context);
  int code = current.code;
  if (code == success)
    code = driver->api().copyToHost(host, asDevice(device), bytes, stream);
  if (code == success)
    code = driver->api().streamSynchronize(stream);
  return afterCopy(code, bytes);
}

Status Device::copy(void *toDevice, const void *fromDevice, size_t bytes,
                    void *stream) {
  if (bytes == 0)
    return {};
  CurrentContext current(driver->api(), context);
  int code = current.code;
  if (code == success)
    code = driver->api().copyOnDevice(asDevice(toDevice), asDevice(fromDevice),
                                      bytes, stream);
  return afterCopy(code, bytes);
}

Status Device::store(void *toDevice, const void *number, size_t bytes,
                     void *stream) {
  const Api &api = driver->api();
  CurrentContext current(api, context);
  int code = current.code;
  auto fill = [&](auto part, auto function) {
    for (size_t at = 0; at < bytes && code == success; at += sizeof(part)) {
      std::memcpy(&part, static_cast<const char *>(number) + at, sizeof(part));
      code = function(asDevice(toDevice) + at, part, 1, stream);
    }
  };
  if (bytes % 4 == 0)
    fill(uint32_t(), api.fill32);
  else if (bytes % 2 == 0)
    fill(uint16_t(), api.fill16);
  else
    fill(uint8_t(), api.fill8);
  return afterCopy(code, bytes);
}

Status Device::order(void *before, void *after) {
  if (before == after)
    return {};
  const Api &api = driver->api();
  CurrentContext current(api, context);
  int code = current.code;
  void *event = nullptr;
  if (code == success)
    code = api.eventCreate(&event, eventDisableTiming);
  if (code == success)
    code = api.eventRecord(event, before);
  if (code == success)
    code = api.streamWaitEvent(after, event, 0);
  // What waits for it goes on waiting.
  if (event)
    api.eventDestroy(event);
  if (code == success)
    return {};
  return Status::error("streams of " + productName +
                       " cannot wait for each other: " +
                       driver->describe(code) + ". " + state->lastLaunch());
}

bool Device::isCaptured(void *stream) {
  CurrentContext current(driver->api(), context);
  return current.code == success && captureOf(driver->api(), stream) != 0;
}

} // namespace drawloom::runtime::cuda
