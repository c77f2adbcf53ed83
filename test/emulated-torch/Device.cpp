//===- Device.cpp - CUDA tensors in a PyTorch that was built without CUDA -===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives a CPU build of PyTorch the device "cuda" on the emulated driver: its
// memory, devices and streams. Tensors are there as with the real ones, and so
// are autograd's threads; ops of torch itself copy to the CPU, compute, and
// copy back. Memory is given again in the order of a stream, within a capture
// to that capture alone, as by torch's own allocator.
//
//===----------------------------------------------------------------------===//

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <torch/library.h>

namespace {

using Pointer = unsigned long long;

/// The functions of the driver that are needed here.
struct Driver {
  int (*init)(unsigned);
  int (*deviceCount)(int *);
  int (*retain)(void **, int);
  int (*setCurrent)(void *);
  int (*allocate)(Pointer *, size_t);
  int (*release)(Pointer);
  int (*upload)(Pointer, const void *, size_t, void *);
  int (*download)(void *, Pointer, size_t, void *);
  int (*copy)(Pointer, Pointer, size_t, void *);
  int (*synchronize)(void *);
  int (*createEvent)(void **, unsigned);
  int (*recordEvent)(void *, void *);
  int (*waitForEvent)(void *, void *, unsigned);
  int (*destroyEvent)(void *);
  int (*captureInfo)(void *, int *, uint64_t *, void *, void *, void *);
  int (*exchangeCaptureMode)(int *);

  static Driver &get() {
    static Driver driver;
    return driver;
  }

private:
  Driver() {
    const char *path = std::getenv("DRAWLOOM_LIBCUDA");
    void *library = path ? dlopen(path, RTLD_NOW) : nullptr;
    TORCH_CHECK(library, "DRAWLOOM_LIBCUDA names no driver");
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          dlsym(library, name));
      TORCH_CHECK(function, name, " is missing");
    };
    find(init, "cuInit");
    find(deviceCount, "cuDeviceGetCount");
    find(retain, "cuDevicePrimaryCtxRetain");
    find(setCurrent, "cuCtxSetCurrent");
    find(allocate, "cuMemAlloc_v2");
    find(release, "cuMemFree_v2");
    find(upload, "cuMemcpyHtoDAsync_v2");
    find(download, "cuMemcpyDtoHAsync_v2");
    find(copy, "cuMemcpyDtoDAsync_v2");
    find(synchronize, "cuStreamSynchronize");
    find(createEvent, "cuEventCreate");
    find(recordEvent, "cuEventRecord");
    find(waitForEvent, "cuStreamWaitEvent");
    find(destroyEvent, "cuEventDestroy_v2");
    find(captureInfo, "cuStreamGetCaptureInfo_v2");
    find(exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode");
    init(0);
  }
};

void check(int code, const char *what) {
  TORCH_CHECK(code == 0, "CUDA error: ", what, " gave ", code);
}

constexpr int mostDevices = 8;
thread_local int currentDevice = 0;
thread_local void *currentStreams[mostDevices] = {};

void *contextOf(int device) {
  static void *contexts[mostDevices] = {};
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (!contexts[device])
    check(Driver::get().retain(&contexts[device], device), "a context");
  return contexts[device];
}

void enter(int device) {
  currentDevice = device;
  check(Driver::get().setCurrent(contextOf(device)), "cuCtxSetCurrent");
}

/// As torch's: the device stays what it was behind the scope.
struct OnDevice {
  explicit OnDevice(int device) : before(currentDevice) { enter(device); }
  ~OnDevice() { enter(before); }
  int before;
};

int countOfDevices() {
  int count = 0;
  Driver::get().deviceCount(&count);
  return count;
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device device) const override {
    c10::Device before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override {
    return {c10::DeviceType::CUDA,
            static_cast<c10::DeviceIndex>(currentDevice)};
  }
  void setDevice(c10::Device device) const override {
    if (device.index() >= 0)
      enter(device.index());
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() >= 0)
      enter(device.index());
  }
  c10::Stream getStream(c10::Device device) const override {
    int index = device.index() < 0 ? currentDevice : device.index();
    return c10::Stream(
        c10::Stream::UNSAFE,
        {c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index)},
        reinterpret_cast<c10::StreamId>(currentStreams[index]));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    c10::Stream before = getStream(stream.device());
    currentStreams[stream.device_index()] =
        reinterpret_cast<void *>(stream.id());
    return before;
  }
  void *getStreamNativeHandle(const c10::Stream stream) const override {
    return reinterpret_cast<void *>(stream.id());
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return static_cast<c10::DeviceIndex>(countOfDevices());
  }
  void record(void **event, const c10::Stream &stream, c10::DeviceIndex,
              c10::EventFlag) const override {
    OnDevice on(stream.device_index());
    if (!*event)
      check(Driver::get().createEvent(event, 2), "an event");
    check(Driver::get().recordEvent(*event, getStreamNativeHandle(stream)),
          "recording an event");
  }
  void block(void *event, const c10::Stream &stream) const override {
    OnDevice on(stream.device_index());
    if (event)
      check(Driver::get().waitForEvent(getStreamNativeHandle(stream), event, 0),
            "waiting for an event");
  }
  void destroyEvent(void *event, c10::DeviceIndex) const noexcept override {
    if (event)
      Driver::get().destroyEvent(event);
  }
};

C10_REGISTER_GUARD_IMPL(CUDA, Guard)

/// For autograd, which has threads and streams of an accelerator's devices.
struct Hooks final : at::CUDAHooksInterface {
  Hooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override {
    return static_cast<c10::DeviceIndex>(countOfDevices());
  }
  int getNumGPUs() const override { return countOfDevices(); }
  c10::DeviceIndex current_device() const override {
    return static_cast<c10::DeviceIndex>(currentDevice);
  }
  c10::DeviceIndex getCurrentDevice() const override {
    return current_device();
  }
  void setCurrentDevice(c10::DeviceIndex device) const override {
    enter(device);
  }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    c10::DeviceIndex before = current_device();
    enter(device);
    return before;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return exchangeDevice(device);
  }
};

/// Whom memory is given again.
struct Owner {
  int device = 0;
  void *stream = nullptr;
  uint64_t capture = 0;
  size_t bytes = 0;

  bool operator<(const Owner &other) const {
    return std::tie(device, stream, capture, bytes) <
           std::tie(other.device, other.stream, other.capture, other.bytes);
  }
};

class Allocator final : public c10::Allocator {
public:
  static Allocator &get() {
    static auto &allocator = *new Allocator;
    return allocator;
  }
  c10::DataPtr allocate(size_t bytes) override {
    void *data = bytes ? take(bytes) : nullptr;
    return {data, data, &giveBack,
            c10::Device(c10::DeviceType::CUDA,
                        static_cast<c10::DeviceIndex>(currentDevice))};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &giveBack; }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    check(Driver::get().copy(reinterpret_cast<Pointer>(to),
                             reinterpret_cast<Pointer>(from), bytes,
                             currentStreams[currentDevice]),
          "a copy");
  }

  std::atomic<int64_t> calls{0};
  /// Bytes that may be in use.
  std::atomic<size_t> limit{SIZE_MAX};

private:
  void *take(size_t bytes);
  static void giveBack(void *data) {
    if (!data)
      return;
    Allocator &self = get();
    std::lock_guard<std::mutex> lock(self.mutex);
    auto found = self.used.find(data);
    self.inUse -= found->second.bytes;
    self.kept[found->second].push_back(data);
    self.used.erase(found);
  }

  std::mutex mutex;
  std::map<Owner, std::vector<void *>> kept;
  std::map<void *, Owner> used;
  size_t inUse = 0;
};

void *Allocator::take(size_t bytes) {
  const Driver &driver = Driver::get();
  ++calls;
  Owner owner{currentDevice, currentStreams[currentDevice], 0,
              (bytes + 511) / 512 * 512};
  int status = 0;
  uint64_t capture = 0;
  if (owner.stream &&
      driver.captureInfo(owner.stream, &status, &capture, nullptr, nullptr,
                         nullptr) == 0 &&
      status == 1)
    owner.capture = capture;
  std::lock_guard<std::mutex> lock(mutex);
  TORCH_CHECK_WITH(OutOfMemoryError, inUse + owner.bytes <= limit,
                   "CUDA out of memory. Tried to allocate ", bytes, " bytes");
  void *data = nullptr;
  auto found = kept.find(owner);
  if (found != kept.end() && !found->second.empty()) {
    data = found->second.back();
    found->second.pop_back();
  } else {
    Pointer address = 0;
    int mode = 2;
    driver.exchangeCaptureMode(&mode);
    int code = driver.allocate(&address, owner.bytes);
    driver.exchangeCaptureMode(&mode);
    TORCH_CHECK_WITH(OutOfMemoryError, code == 0,
                     "CUDA out of memory. Tried to allocate ", bytes, " bytes");
    data = reinterpret_cast<void *>(address);
  }
  inUse += owner.bytes;
  used[data] = owner;
  return data;
}

c10::DispatchKeySet keys() {
  return c10::DispatchKeySet(c10::DispatchKey::CUDA);
}

int deviceOf(std::optional<c10::Device> device) {
  return device && device->index() >= 0 ? device->index() : currentDevice;
}

at::Tensor empty(at::IntArrayRef size, std::optional<c10::ScalarType> type,
                 std::optional<c10::Layout>, std::optional<c10::Device> device,
                 std::optional<bool>, std::optional<c10::MemoryFormat> format) {
  OnDevice on(deviceOf(device));
  return at::detail::empty_generic(size, &Allocator::get(), keys(),
                                   c10::dtype_or_default(type), format);
}

at::Tensor emptyStrided(at::IntArrayRef size, at::IntArrayRef stride,
                        std::optional<c10::ScalarType> type,
                        std::optional<c10::Layout>,
                        std::optional<c10::Device> device,
                        std::optional<bool>) {
  OnDevice on(deviceOf(device));
  return at::detail::empty_strided_generic(size, stride, &Allocator::get(),
                                           keys(), c10::dtype_or_default(type));
}

/// A tensor of the CPU that has the same memory, byte for byte, and its view.
at::Tensor onHost(const at::Tensor &tensor) {
  size_t bytes = tensor.storage().nbytes();
  at::Tensor storage =
      at::detail::empty_cpu({static_cast<int64_t>(bytes)}, at::kByte);
  OnDevice on(tensor.device().index());
  void *stream = currentStreams[currentDevice];
  if (bytes) {
    check(Driver::get().download(
              storage.mutable_data_ptr(),
              reinterpret_cast<Pointer>(tensor.storage().data()), bytes,
              stream),
          "a copy to the host");
    check(Driver::get().synchronize(stream), "waiting");
  }
  at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage.storage()),
      c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
  view.unsafeGetTensorImpl()->set_sizes_and_strides(
      tensor.sizes(), tensor.strides(), tensor.storage_offset());
  return view;
}

at::Tensor &copy(at::Tensor &self, const at::Tensor &from, bool) {
  // By the host: what the ops of a real library do there is theirs.
  at::Tensor source = from.is_cuda() ? onHost(from) : from;
  if (!self.is_cuda()) {
    self.copy_(source);
    return self;
  }
  at::Tensor target = onHost(self);
  target.copy_(source);
  OnDevice on(self.device().index());
  if (size_t bytes = self.storage().nbytes()) {
    void *stream = currentStreams[currentDevice];
    check(Driver::get().upload(
              reinterpret_cast<Pointer>(self.storage().mutable_data()),
              target.storage().data(), bytes, stream),
          "a copy to the device");
    check(Driver::get().synchronize(stream), "waiting");
  }
  return self;
}

c10::Scalar localScalar(const at::Tensor &self) { return onHost(self).item(); }

void onCpu(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  at::native::cpu_fallback(op, stack);
}

const at::Tensor &resize(const at::Tensor &self, at::IntArrayRef size,
                         std::optional<c10::MemoryFormat>) {
  OnDevice on(self.device().index());
  at::Tensor made = at::detail::empty_generic(size, &Allocator::get(), keys(),
                                              self.scalar_type(), std::nullopt);
  self.unsafeGetTensorImpl()->set_storage_keep_dtype(made.storage());
  self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  return self;
}

/// What falls back to the CPU hands results to those that a caller gave.
at::Tensor copyAndResize(const at::Tensor &from, const at::Tensor &to) {
  if (from.sizes() != to.sizes())
    to.resize_(from.sizes());
  at::Tensor target = to;
  copy(target, from, false);
  return to;
}

} // namespace

namespace at {
C10_REGISTER_CLASS(CUDAHooksRegistry, CUDAHooks, ::Hooks)
} // namespace at

TORCH_LIBRARY_IMPL(_, CUDA, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&onCpu>());
}

TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &emptyStrided);
  m.impl("copy_", &copy);
  m.impl("_copy_from_and_resize", &copyAndResize);
  m.impl("_local_scalar_dense", &localScalar);
  m.impl("resize_", &resize);
  m.impl("view", &at::native::view);
  m.impl("as_strided", &at::native::as_strided_tensorimpl);
  m.impl("_reshape_alias", &at::native::_reshape_alias);
}

#define EXPORTED extern "C" __attribute__((visibility("default")))

/// The stream of the calling thread on a device; null is the default one.
EXPORTED void emulatedTorchSetStream(int device, void *stream) {
  currentStreams[device] = stream;
}
EXPORTED void emulatedTorchSetDevice(int device) { enter(device); }
EXPORTED void emulatedTorchSetLimit(size_t bytes) {
  Allocator::get().limit = bytes;
}
/// How often memory was asked for.
EXPORTED int64_t emulatedTorchAllocations() { return Allocator::get().calls; }
