// What kind of thing an imported event is: the domain of events that come from a profiler of host
// calls and device work. The names are those of PyTorch's profiler (Kineto); other importers use
// them for the same things, so that analyses know one vocabulary. NVTX ranges keep their NVTX
// domain instead.
#pragma once

#include <string_view>

namespace pleat::trace::categories {

// On device streams.
inline constexpr std::string_view kKernel = "kernel";
inline constexpr std::string_view kCopy = "gpu_memcpy";
inline constexpr std::string_view kSet = "gpu_memset";
inline constexpr std::string_view kGraph = "gpu_graph";  // a CUDA graph recorded as one whole
inline constexpr std::string_view kDeviceAnnotation =
    "gpu_user_annotation";                                    // covers work, is none
inline constexpr std::string_view kDeviceSync = "cuda_sync";  // a stream waits: no work either

// On host threads.
inline constexpr std::string_view kRuntimeCall = "cuda_runtime";
inline constexpr std::string_view kDriverCall = "cuda_driver";
inline constexpr std::string_view kOperator = "cpu_op";
inline constexpr std::string_view kAnnotation = "user_annotation";

// Does a device stream work while such an event lasts?
[[nodiscard]] constexpr bool isDeviceWork(std::string_view category) {
    return category == kKernel || category == kCopy || category == kSet || category == kGraph;
}

// Does a host call of this name wait for device work, or let a stream wait for it? A query never
// waits.
[[nodiscard]] constexpr bool isWaitingCall(std::string_view name) {
    return name.find("Synchronize") != std::string_view::npos ||
           name.find("WaitEvent") != std::string_view::npos;
}

// Does the name of a device kernel say that it is communication between devices? The short form of
// communication_kernels.h, which also says which. Whether an event is communication, which a rule
// may say too, is device_work.h's to tell.
[[nodiscard]] bool isCommunicationKernel(std::string_view name);

}  // namespace pleat::trace::categories
