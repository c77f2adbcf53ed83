//===- Streams.cpp - streams, events, graphs -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

using namespace drawloom::driver;

static bool isDefault(const Driver &driver, const Stream *stream) {
  return stream ==
         &driver.devices[static_cast<size_t>(stream->device)].defaultStream;
}

DRAWLOOM_CUDA_API cuStreamCreate(void **stream, unsigned flags) {
  Call call;
  auto *made = new Stream;
  made->device = call.driver.current().primary.device;
  made->nonBlocking = (flags & 1) != 0;
  call.driver.streams.insert(made);
  *stream = made;
  return Success;
}

DRAWLOOM_CUDA_API cuStreamCreateWithPriority(void **stream, unsigned flags,
                                             int priority) {
  return cuStreamCreate(stream, flags);
}

DRAWLOOM_CUDA_API cuStreamDestroy_v2(void *stream) {
  Call call;
  Stream *queue = call.driver.stream(stream);
  if (!queue || isDefault(call.driver, queue))
    return InvalidHandle;
  call.driver.runUntil(*queue, queue->asked);
  // What happened there has happened.
  for (Event *event : call.driver.events)
    if (event->stream == queue)
      event->stream = nullptr;
  call.driver.streams.erase(queue);
  delete queue;
  return Success;
}

DRAWLOOM_CUDA_API cuStreamSynchronize(void *stream) {
  Call call;
  Stream *queue = call.driver.stream(stream);
  if (!queue)
    return InvalidHandle;
  if (queue->capture)
    return CaptureUnsupported;
  if (isDefault(call.driver, queue))
    return call.driver.synchronize();
  call.driver.runUntil(*queue, queue->asked);
  return call.driver.failure;
}

DRAWLOOM_CUDA_API cuStreamQuery(void *stream) {
  Call call;
  Stream *queue = call.driver.stream(stream);
  if (!queue)
    return InvalidHandle;
  if (queue->capture)
    return CaptureUnsupported;
  if (!queue->pending.empty()) {
    // It makes progress, or a loop of queries would not end.
    call.driver.runUntil(*queue, queue->done + 1);
    return NotReady;
  }
  return call.driver.failure;
}

DRAWLOOM_CUDA_API cuStreamGetPriority(void *stream, int *priority) {
  *priority = 0;
  return Success;
}

DRAWLOOM_CUDA_API cuStreamGetFlags(void *stream, unsigned *flags) {
  Call call;
  Stream *queue = call.driver.stream(stream);
  if (!queue)
    return InvalidHandle;
  *flags = queue->nonBlocking ? 1 : 0;
  return Success;
}

DRAWLOOM_CUDA_API cuStreamGetCtx(void *stream, void **context) {
  Call call;
  Stream *queue = call.driver.stream(stream);
  if (!queue)
    return InvalidHandle;
  *context = &call.driver.devices[static_cast<size_t>(queue->device)].primary;
  return Success;
}

DRAWLOOM_CUDA_API cuLaunchHostFunc(void *stream, void (*function)(void *),
                                   void *data) {
  Call call;
  Stream *queue = call.driver.stream(stream);
  if (!queue)
    return InvalidHandle;
  if (!function)
    return InvalidValue;
  if (call.driver.failure)
    return call.driver.failure;
  return call.driver.enqueue(*queue, [=] { function(data); });
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

DRAWLOOM_CUDA_API cuEventCreate(void **event, unsigned flags) {
  Call call;
  auto *made = new Event;
  call.driver.events.insert(made);
  *event = made;
  return Success;
}

static Event *findEvent(Driver &driver, void *handle) {
  auto *event = static_cast<Event *>(handle);
  return driver.events.count(event) ? event : nullptr;
}

DRAWLOOM_CUDA_API cuEventDestroy_v2(void *handle) {
  Call call;
  Event *event = findEvent(call.driver, handle);
  if (!event)
    return InvalidHandle;
  call.driver.events.erase(event);
  delete event;
  return Success;
}

DRAWLOOM_CUDA_API cuEventRecord(void *handle, void *stream) {
  Call call;
  Event *event = findEvent(call.driver, handle);
  Stream *queue = call.driver.stream(stream);
  if (!event || !queue)
    return InvalidHandle;
  event->capture = queue->capture;
  auto time = std::make_shared<std::chrono::steady_clock::time_point>();
  event->time = time;
  Result result = call.driver.enqueue(
      *queue, [time] { *time = std::chrono::steady_clock::now(); });
  event->stream = queue;
  event->after = queue->asked;
  event->late = 0;
  return result;
}

DRAWLOOM_CUDA_API cuEventRecordWithFlags(void *event, void *stream,
                                         unsigned flags) {
  return cuEventRecord(event, stream);
}

static bool hasHappened(const Event &event) {
  return !event.stream || event.stream->done >= event.after;
}

DRAWLOOM_CUDA_API cuEventQuery(void *handle) {
  Call call;
  Event *event = findEvent(call.driver, handle);
  if (!event)
    return InvalidHandle;
  if (!hasHappened(*event)) {
    call.driver.runUntil(*event->stream, event->stream->done + 1);
    return NotReady;
  }
  std::optional<int> times =
      variableNames("DRAWLOOM_EMULATED_FAULT", "late-event");
  if (times && event->late < std::max(*times, 1)) {
    ++event->late;
    return NotReady;
  }
  return call.driver.failure;
}

DRAWLOOM_CUDA_API cuEventSynchronize(void *handle) {
  Call call;
  Event *event = findEvent(call.driver, handle);
  if (!event)
    return InvalidHandle;
  if (event->stream)
    call.driver.runUntil(*event->stream, event->after);
  return call.driver.failure;
}

DRAWLOOM_CUDA_API cuEventElapsedTime(float *milliseconds, void *first,
                                     void *second) {
  Call call;
  Event *a = findEvent(call.driver, first);
  Event *b = findEvent(call.driver, second);
  if (!a || !b || !a->time || !b->time)
    return InvalidHandle;
  if (!hasHappened(*a) || !hasHappened(*b))
    return NotReady;
  *milliseconds =
      std::chrono::duration<float, std::milli>(*b->time - *a->time).count();
  return Success;
}

DRAWLOOM_CUDA_API cuEventElapsedTime_v2(float *milliseconds, void *first,
                                        void *second) {
  return cuEventElapsedTime(milliseconds, first, second);
}

DRAWLOOM_CUDA_API cuStreamWaitEvent(void *stream, void *handle,
                                    unsigned flags) {
  Call call;
  Driver *driver = &call.driver;
  Event *event = findEvent(*driver, handle);
  Stream *queue = driver->stream(stream);
  if (!event || !queue)
    return InvalidHandle;
  if (event->capture) {
    // The stream becomes part of the capture that the event comes from; what is
    // captured runs in the order of the calls, which keeps the order asked for.
    if (queue->capture && queue->capture != event->capture)
      return CaptureInvalidated;
    queue->capture = event->capture;
    return Success;
  }
  if (hasHappened(*event))
    return Success;
  Stream *source = event->stream;
  uint64_t after = event->after;
  return driver->enqueue(*queue, [=] {
    if (driver->streams.count(source) || isDefault(*driver, source))
      driver->runUntil(*source, after);
  });
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

DRAWLOOM_CUDA_API cuStreamBeginCapture_v2(void *stream, int mode) {
  Call call;
  Stream *queue = call.driver.stream(stream);
  if (!queue)
    return InvalidHandle;
  // The legacy stream cannot be captured.
  if (isDefault(call.driver, queue) || queue->capture)
    return CaptureUnsupported;
  if (mode < 0 || mode > 2)
    return InvalidValue;
  auto *graph = new Graph;
  graph->number = ++call.driver.captures;
  graph->mode = static_cast<CaptureMode>(mode);
  graph->thread = std::this_thread::get_id();
  call.driver.graphs.insert(graph);
  queue->capture = graph;
  return Success;
}

DRAWLOOM_CUDA_API cuStreamEndCapture(void *stream, void **graph) {
  Call call;
  Stream *queue = call.driver.stream(stream);
  if (!queue)
    return InvalidHandle;
  if (!queue->capture)
    return CaptureUnmatched;
  Graph *made = queue->capture;
  for (Stream *other : call.driver.streams)
    if (other != queue && other->capture == queue->capture)
      other->capture = nullptr;
  for (Event *event : call.driver.events)
    if (event->capture == queue->capture)
      event->capture = nullptr;
  queue->capture = nullptr;
  if (made->invalid) {
    call.driver.graphs.erase(made);
    delete made;
    *graph = nullptr;
    return CaptureInvalidated;
  }
  *graph = made;
  return Success;
}

DRAWLOOM_CUDA_API cuStreamIsCapturing(void *stream, int *status) {
  Call call;
  Stream *queue = call.driver.stream(stream);
  if (!queue)
    return InvalidHandle;
  *status = !queue->capture ? 0 : queue->capture->invalid ? 2 : 1;
  return Success;
}

DRAWLOOM_CUDA_API cuStreamGetCaptureInfo(void *stream, int *status,
                                         uint64_t *id) {
  Call call;
  if (int error = cuStreamIsCapturing(stream, status))
    return error;
  if (id && *status)
    *id = call.driver.stream(stream)->capture->number;
  return Success;
}

DRAWLOOM_CUDA_API cuStreamGetCaptureInfo_v2(void *stream, int *status,
                                            uint64_t *id, void **graph,
                                            const void **dependencies,
                                            size_t *count) {
  // Where the nodes are, nobody asks.
  if (graph || dependencies || count)
    return NotSupported;
  return cuStreamGetCaptureInfo(stream, status, id);
}

DRAWLOOM_CUDA_API cuThreadExchangeStreamCaptureMode(int *mode) {
  if (!mode || *mode < 0 || *mode > 2)
    return InvalidValue;
  auto given = static_cast<CaptureMode>(*mode);
  *mode = static_cast<int>(captureMode());
  captureMode() = given;
  return Success;
}

static int copyGraph(void **made, void *handle) {
  Call call;
  auto *graph = static_cast<Graph *>(handle);
  if (!call.driver.graphs.count(graph))
    return InvalidHandle;
  auto *copy = new Graph(*graph);
  call.driver.graphs.insert(copy);
  *made = copy;
  return Success;
}

DRAWLOOM_CUDA_API cuGraphInstantiateWithFlags(void **executable, void *graph,
                                              unsigned long long flags) {
  return copyGraph(executable, graph);
}

DRAWLOOM_CUDA_API cuGraphInstantiate_v2(void **executable, void *graph,
                                        void **errorNode, char *log,
                                        size_t logBytes) {
  return copyGraph(executable, graph);
}

DRAWLOOM_CUDA_API cuGraphGetNodes(void *handle, void **nodes, size_t *count) {
  Call call;
  auto *graph = static_cast<Graph *>(handle);
  if (!call.driver.graphs.count(graph))
    return InvalidHandle;
  if (nodes)
    return NotSupported;
  *count = graph->operations.size();
  return Success;
}

DRAWLOOM_CUDA_API cuGraphLaunch(void *executable, void *stream) {
  Call call;
  auto *graph = static_cast<Graph *>(executable);
  Stream *queue = call.driver.stream(stream);
  if (!call.driver.graphs.count(graph) || !queue)
    return InvalidHandle;
  if (call.driver.failure)
    return call.driver.failure;
  for (const Operation &operation : graph->operations)
    if (Result result = call.driver.enqueue(*queue, operation))
      return result;
  return Success;
}

DRAWLOOM_CUDA_API cuGraphDestroy(void *handle) {
  Call call;
  auto *graph = static_cast<Graph *>(handle);
  if (!call.driver.graphs.erase(graph))
    return InvalidHandle;
  delete graph;
  return Success;
}

DRAWLOOM_CUDA_API cuGraphExecDestroy(void *handle) {
  return cuGraphDestroy(handle);
}
