#include "support/kineto_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <ostream>
#include <string_view>

namespace pleat::testing {
namespace {

constexpr std::int64_t kBaseNs = 1'711'964'646'000'000'000;
constexpr std::int64_t kFirstNs = 4'458'676'522'690'655;
constexpr std::int64_t kComputeStream = 7, kCopyStream = 16, kWorldStream = 40, kPairStream = 44;
constexpr std::size_t kFlushBytes = 1 << 20;

constexpr std::array<std::string_view, 12> kOperators = {"linear",
                                                         "matmul",
                                                         "_scaled_dot_product_flash_attention",
                                                         "native_layer_norm",
                                                         "gelu",
                                                         "add",
                                                         "mul",
                                                         "transpose_",
                                                         "view",
                                                         "_softmax",
                                                         "copy_",
                                                         "cat"};
constexpr std::array<std::string_view, 6> kInner = {
    "aten::t", "aten::as_strided", "aten::empty", "aten::addmm", "aten::resize_", "aten::to"};
constexpr std::array<std::string_view, 4> kCallsWithoutWork = {
    "cudaStreamIsCapturing", "cudaEventRecord", "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaEventQuery"};
constexpr std::array<std::string_view, 5> kFunctors = {
    "CUDAFunctor_add<float>", "BinaryFunctor<float, float, float, MulFunctor<float> >",
    "FillFunctor<float>", "GeluCUDAKernelImpl(at::TensorIteratorBase&)::{lambda()#1}",
    "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}"};

// Equal on every platform, unlike the standard's distributions.
class Random {
  public:
    explicit Random(std::uint64_t seed) : m_state(seed) {}
    std::int64_t below(std::int64_t limit) {
        m_state += 0x9e37'79b9'7f4a'7c15;
        std::uint64_t mixed = (m_state ^ (m_state >> 30)) * 0xbf58'476d'1ce4'e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11eb;
        return static_cast<std::int64_t>((mixed ^ (mixed >> 31)) %
                                         static_cast<std::uint64_t>(limit));
    }
    std::int64_t between(std::int64_t least, std::int64_t most) {
        return least + below(most - least + 1);
    }

  private:
    std::uint64_t m_state;
};

enum class HostKind : std::uint8_t { Operator, Annotation, Function };

struct HostEvent {
    std::int64_t startNs, endNs;
    std::string name;
    std::uint32_t external = 0;
    HostKind kind = HostKind::Operator;
    bool backward = false;  // on the thread of the backward pass
    std::string more;       // further arguments, with a comma before
};

struct Call {
    std::int64_t startNs, endNs;
    std::string_view name;
    std::uint32_t external, correlation;
    bool backward, launches;
};

struct Work {
    std::int64_t startNs, endNs;
    std::string_view category;
    std::string name;
    std::int64_t stream;
    std::uint32_t external, correlation;
    std::string more;
};

class RankFile {
  public:
    RankFile(const KinetoOptions& options, std::int32_t rank, std::ostream& out)
        : m_options(options),
          m_rank(rank),
          m_pid(2'910'249 + rank),
          m_out(out),
          m_random(options.seed * 1'000 + static_cast<std::uint64_t>(rank)) {}

    KinetoTruth write() && {
        writeHead();
        const std::int32_t perBlock =
            m_options.iterationsPerBlock > 0 ? m_options.iterationsPerBlock : m_options.iterations;
        for (std::int32_t i = 0; i < m_options.iterations; ++i) {
            iteration(i);
            if ((i + 1) % perBlock == 0 || i + 1 == m_options.iterations) writeBlock();
        }
        writeEnd();
        flush();
        std::sort(m_truth.collectives.begin(), m_truth.collectives.end());
        m_truth.span = {{kBaseNs + kFirstNs}, {kBaseNs + m_lastNs}};
        return std::move(m_truth);
    }

  private:
    // What happened.

    void iteration(std::int32_t number) {
        const std::int64_t start = m_now;
        const std::uint32_t external = m_external++;
        const std::size_t step = m_host.size();
        m_host.push_back({start,
                          start,
                          fmt::format("ProfilerStep#{}", number),
                          external,
                          HostKind::Annotation,
                          false,
                          {}});
        m_now += 2'000;
        for (std::int32_t i = 0; i < m_options.operationsPerIteration; ++i) {
            const bool backward = i >= m_options.operationsPerIteration / 2;
            operation(i, backward);
            if (i % 24 == 11) copy(i, backward);
            if (i % 16 == 15) collective(i % 32 == 15, backward);
        }
        m_now += 3'000;
        m_host[step].endNs = m_now;
        m_now += m_random.between(1'000, 9'000);
        ++m_truth.iterations;
    }

    // A function, an operator in it, those that it calls, and the kernel they launch.
    void operation(std::int32_t i, bool backward) {
        const std::int64_t start = m_now;
        const std::uint32_t external = m_external;
        m_external += 3;
        const std::string_view name = kOperators[static_cast<std::size_t>(i) % kOperators.size()];
        const std::int64_t layer = i / 12 % 24;
        const std::int64_t outerEnd = start + m_random.between(40'000, 90'000);
        if (i % 2 == 0) {
            m_host.push_back(
                {start, outerEnd + 3'000,
                 fmt::format("nn.Module: {}_{}", backward ? "Backward" : "TransformerLayer", layer),
                 external, HostKind::Function, backward,
                 fmt::format(R"("Python id": {}, "Python parent id": {}, "Python module id": {})",
                             external, external / 2, layer)});
        }
        m_host.push_back(
            {start + 700, outerEnd,
             backward
                 ? fmt::format("autograd::engine::evaluate_function: {}Backward{}", name, i % 3)
                 : fmt::format("aten::{}", name),
             external, HostKind::Operator, backward, dimensions(i)});
        m_host.push_back({start + 1'900,
                          start + 4'100,
                          std::string(kInner[static_cast<std::size_t>(i + layer) % kInner.size()]),
                          external + 1,
                          HostKind::Operator,
                          backward,
                          {}});
        m_host.push_back({start + 5'000, outerEnd - 1'000, std::string(kInner[3]), external + 2,
                          HostKind::Operator, backward, dimensions(i + 1)});
        std::int64_t at = start + 6'000;
        if (i % 2 == 1) {
            call(at, kCallsWithoutWork[static_cast<std::size_t>(i / 2) % kCallsWithoutWork.size()],
                 external + 2, backward, false);
            at += 3'000;
        }
        const Call& launch = call(at, "cudaLaunchKernel", external + 2, backward, true);
        work(launch, "kernel", kernelName(i), kComputeStream, m_random.between(5'000, 60'000),
             R"(, "registers per thread": 96,
      "shared memory": 87568,
      "blocks per SM": 0.074074,
      "grid": [8, 1, 1],
      "block": [544, 1, 1],
      "est. achieved occupancy %": 31)");
        m_now = outerEnd + 4'000 + m_random.below(2'000);
    }

    void copy(std::int32_t i, bool backward) {
        const bool set = i % 48 == 11;
        const Call& launch =
            call(m_now, set ? "cudaMemsetAsync" : "cudaMemcpyAsync", m_external++, backward, true);
        const std::int64_t bytes = 4'096 * (1 + i);
        work(launch, set ? "gpu_memset" : "gpu_memcpy",
             set ? "Memset (Device)" : "Memcpy HtoD (Pinned -> Device)", kCopyStream,
             m_random.between(2'000, 30'000),
             fmt::format(",\n      \"bytes\": {}, \"memory bandwidth (GB/s)\": 339.2088056083339",
                         bytes));
        m_now += 20'000;
    }

    void collective(bool world, bool backward) {
        const std::int32_t firstOfPair = m_rank / 2 * 2;
        const std::string group = world ? "0" : fmt::format("{}", 1 + m_rank / 2);
        std::int64_t& sequence = world ? m_worldSequence : m_pairSequence;
        std::string members = fmt::format("{}, {}", firstOfPair, firstOfPair + 1);
        if (world) {
            members = "0";
            for (std::int32_t i = 1; i < m_options.ranks; ++i) members += fmt::format(", {}", i);
        }
        const std::string described = fmt::format(
            R"("Collective name": "{}", "In msg nelems": 6637568, "Out msg nelems": 6637568, "Group size": {}, "dtype": "Float", "In split size": "[]", "Out split size": "[]", "Process Group Name": "{}", "Process Group Description": "{}", "Process Group Ranks": "[{}]", "Seq": {})",
            world ? "allreduce" : "_allgather_base", world ? m_options.ranks : 2, group,
            world ? "default_pg" : "TENSOR_MODEL_PARALLEL_GROUP", members, sequence);
        const std::uint32_t external = m_external;
        m_external += 2;
        m_host.push_back({m_now,
                          m_now + 40'000,
                          world ? "nccl:all_reduce" : "nccl:_all_gather_base",
                          external,
                          HostKind::Annotation,
                          backward,
                          {}});
        m_host.push_back({m_now + 1'000, m_now + 39'000, "record_param_comms", external + 1,
                          HostKind::Operator, backward, ", " + described});
        const Call& launch =
            call(m_now + 5'000, "cudaLaunchKernelExC", external + 1, backward, true);
        work(launch, "kernel",
             world
                 ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"
                 : "ncclDevKernel_AllGather_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
             world ? kWorldStream : kPairStream, m_random.between(100'000, 400'000),
             ", \"grid\": [8, 1, 1],\n      \"block\": [544, 1, 1], " + described);
        m_truth.collectives.push_back({group, sequence++});
        m_now += 45'000;
    }

    const Call& call(std::int64_t startNs, std::string_view name, std::uint32_t external,
                     bool backward, bool launches) {
        return m_calls.emplace_back(Call{startNs, startNs + m_random.between(1'500, 2'500), name,
                                         external, m_correlation++, backward, launches});
    }

    void work(const Call& launch, std::string_view category, std::string name, std::int64_t stream,
              std::int64_t durationNs, std::string more) {
        std::int64_t& free = m_streamFree[stream];
        const std::int64_t start = std::max(free + 500, launch.endNs + 1'200);
        free = start + durationNs;
        m_work.push_back({start, free, category, std::move(name), stream, launch.external,
                          launch.correlation, std::move(more)});
        ++m_truth.launches;
        if (category == "kernel") ++m_truth.kernels[stream];
        m_lastNs = std::max(m_lastNs, free);
    }

    static std::string dimensions(std::int32_t i) {
        if (i % 6 != 0)
            return fmt::format(R"(, "Sequence number": {}, "Fwd thread id": 0)", 1'000 + i);
        return fmt::format(
            R"(, "Input Dims": [[{}, 4096], [4096, 1024], []], "Input type": ["float", "float", "Scalar"])",
            64 * (1 + i % 5));
    }

    static std::string kernelName(std::int32_t i) {
        if (i % 4 == 0) {
            return fmt::format("ampere_sgemm_{}x64_{}", 32 << (i / 4 % 3),
                               i % 8 == 0 ? "tn" : "nn");
        }
        const std::string_view functor = kFunctors[static_cast<std::size_t>(i) % kFunctors.size()];
        return fmt::format(
            "void at::native::vectorized_elementwise_kernel<{0}, at::native::{1}, "
            "at::detail::Array<char*, {2}> >(int, at::native::{1}, at::detail::Array<char*, {2}>)",
            2 << (i % 2), functor, 1 + i % 3);
    }

    // How it is written.

    void writeBlock() {
        const auto rank = [](const HostEvent& event) {
            return std::pair(event.kind == HostKind::Function, event.backward);
        };
        std::stable_sort(m_host.begin(), m_host.end(),
                         [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
        for (const HostEvent& event : m_host) writeHost(event);
        // The driver hands work over somewhat later than the calls, and not in order.
        std::vector<std::pair<std::int64_t, std::int64_t>> order;  // place, work or -1 - call
        std::size_t nextWork = 0;
        for (std::size_t i = 0; i < m_calls.size(); ++i) {
            order.emplace_back(i, -1 - static_cast<std::int64_t>(i));
            if (m_calls[i].launches) {
                order.emplace_back(static_cast<std::int64_t>(i) + m_random.between(-2, 12),
                                   nextWork);
                ++nextWork;
            }
        }
        std::stable_sort(order.begin(), order.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [place, what] : order) {
            if (what < 0) {
                writeCall(m_calls[static_cast<std::size_t>(-1 - what)]);
            } else {
                writeWork(m_work[static_cast<std::size_t>(what)]);
            }
        }
        m_host.clear();
        m_calls.clear();
        m_work.clear();
    }

    // Up to the arguments, exclusively.
    void beginEvent(std::string_view category, std::string_view name, std::int64_t pid,
                    std::int64_t tid, std::int64_t startNs, std::int64_t endNs) {
        beginObject();
        put(R"(    "ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {},
    "ts": {}.{:03}, "dur": {}.{:03},
    "args": {{
      )",
            category, name, pid, tid, startNs / 1'000, startNs % 1'000, (endNs - startNs) / 1'000,
            (endNs - startNs) % 1'000);
        count(category, endNs - startNs);
    }
    void count(std::string_view category, std::int64_t durationNs) {
        ++m_truth.events[std::string(category)];
        m_truth.time[std::string(category)] += base::Duration{durationNs};
    }
    void endEvent() { put("\n    }}\n  }}"); }

    void writeHost(const HostEvent& event) {
        static constexpr std::array<std::string_view, 3> kCategories = {"cpu_op", "user_annotation",
                                                                        "python_function"};
        beginEvent(kCategories[static_cast<std::size_t>(event.kind)], event.name, m_pid,
                   thread(event.backward), event.startNs, event.endNs);
        if (event.kind == HostKind::Function) {
            put("{}, \"Ev Idx\": {}", event.more, m_eventIndex++);
        } else {
            put("\"External id\": {},\"Record function id\": {}{}, \"Ev Idx\": {}", event.external,
                event.external / 2, event.more, m_eventIndex++);
        }
        endEvent();
        m_lastNs = std::max(m_lastNs, event.endNs);
    }

    void writeCall(const Call& call) {
        beginEvent("cuda_runtime", call.name, m_pid, thread(call.backward), call.startNs,
                   call.endNs);
        put("\"External id\": {},\n      \"cbid\": 211, \"correlation\": {}", call.external,
            call.correlation);
        endEvent();
        writeFlow(call.launches ? 's' : 'f', call.correlation, m_pid, thread(call.backward),
                  call.startNs);
    }

    void writeWork(const Work& work) {
        beginEvent(work.category, work.name, m_rank, work.stream, work.startNs, work.endNs);
        put(R"("External id": {},
      "queued": 0, "device": {}, "context": 1,
      "stream": {}, "correlation": {}{})",
            work.external, m_rank, work.stream, work.correlation, work.more);
        endEvent();
        writeFlow('f', work.correlation, m_rank, work.stream, work.startNs);
    }

    void writeFlow(char phase, std::uint32_t id, std::int64_t pid, std::int64_t tid,
                   std::int64_t atNs) {
        beginObject();
        put(R"(    "ph": "{}", "id": {}, "pid": {}, "tid": {}, "ts": {}.{:03},
    "cat": "ac2g", "name": "ac2g"{}
  }})",
            phase, id, pid, tid, atNs / 1'000, atNs % 1'000, phase == 'f' ? R"(, "bp": "e")" : "");
    }

    void writeHead() {
        put("{{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
        for (std::int32_t i = 0; i < m_options.ranks; ++i) {
            put(R"({}
    {{
      "id": {}, "name": "NVIDIA A100-PG509-200", "totalGlobalMem": 42297524224,
      "computeMajor": 8, "computeMinor": 0,
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
      "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 108
    }})",
                i == 0 ? "" : ",", i);
        }
        put("\n  ],\n  \"record_shapes\": 1,\n  \"displayTimeUnit\": \"ms\",\n"
            "  \"baseTimeNanoseconds\": {},\n  \"traceEvents\": [",
            kBaseNs);
    }

    void writeEnd() {
        writeName("process_name", m_pid, 0, "python3");
        writeName("process_name", m_rank, 0, "python3");
        writeName("thread_name", m_pid, m_pid, fmt::format("thread {} (python3)", m_pid));
        writeName("thread_name", m_pid, thread(true),
                  fmt::format("thread {} (pt_autograd_0)", thread(true)));
        for (const auto& [stream, free] : m_streamFree)
            writeName("thread_name", m_rank, stream, fmt::format("stream {} ", stream));
        beginObject();
        put(R"(    "ph": "X", "cat": "Trace", "ts": {}.{:03}, "dur": {}.{:03},
    "pid": "Spans", "tid": "PyTorch Profiler",
    "name": "PyTorch Profiler {}",
    "args": {{
      "Op count": 0
    }}
  }})",
            kFirstNs / 1'000, kFirstNs % 1'000, (m_lastNs - kFirstNs) / 1'000,
            (m_lastNs - kFirstNs) % 1'000, "(0)");
        count("Trace", m_lastNs - kFirstNs);
        writeMark("Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler",
                  kFirstNs);
        writeMark("Record Window End", "", "", m_lastNs);
        std::string groups = R"({"pg_name": "0", "pg_desc": "default_pg", "pg_size": )" +
                             fmt::format("{}}}", m_options.ranks);
        put(R"(
  ],
  "distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": {}, "pg_count": 1, "pg_config": [{}], "nccl_version": "2.21.5"}},
  "traceName": "/tmp/rank{}.json"
}}
)",
            m_rank, m_options.ranks, groups, m_rank);
    }

    void writeName(std::string_view what, std::int64_t pid, std::int64_t tid,
                   std::string_view name) {
        beginObject();
        put(R"(    "name": "{}", "ph": "M", "ts": {}.{:03}, "pid": {}, "tid": {},
    "args": {{
      "name": "{}"
    }}
  }})",
            what, kFirstNs / 1'000, kFirstNs % 1'000, pid, tid, name);
    }

    void writeMark(std::string_view name, std::string_view pid, std::string_view tid,
                   std::int64_t atNs) {
        beginObject();
        put(R"(    "name": "{}", "ph": "i", "s": "g",
    "pid": "{}", "tid": "{}", "ts": {}.{:03}
  }})",
            name, pid, tid, atNs / 1'000, atNs % 1'000);
        count("", 0);
    }

    void beginObject() {
        put("{}", m_truth.objects++ == 0 ? "\n  {\n" : ",\n  {\n");
        if (m_text.size() > kFlushBytes) flush();
    }
    template <class... Values>
    void put(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(m_text), format, std::forward<Values>(values)...);
    }
    void flush() {
        m_out.write(m_text.data(), static_cast<std::streamsize>(m_text.size()));
        m_text.clear();
    }
    [[nodiscard]] std::int64_t thread(bool backward) const {
        return backward ? m_pid + 9'503 : m_pid;
    }

    const KinetoOptions& m_options;
    const std::int32_t m_rank;
    const std::int64_t m_pid;
    std::ostream& m_out;
    Random m_random;
    fmt::memory_buffer m_text;
    std::string m_key;
    KinetoTruth m_truth;
    std::vector<HostEvent> m_host;
    std::vector<Call> m_calls;
    std::vector<Work> m_work;
    std::map<std::int64_t, std::int64_t> m_streamFree;
    std::int64_t m_now = kFirstNs + 100'000, m_lastNs = kFirstNs;
    std::int64_t m_worldSequence = 0, m_pairSequence = 0;
    std::uint32_t m_external = 1, m_correlation = 60'047;
    std::int64_t m_eventIndex = 0;
};

}  // namespace

KinetoTruth writeKinetoTrace(const KinetoOptions& options, std::int32_t rank, std::ostream& out) {
    assert(options.ranks % 2 == 0);
    return RankFile(options, rank, out).write();
}

std::size_t matchedCollectives(const std::vector<std::vector<KinetoCollective>>& ofRanks) {
    std::map<KinetoCollective, std::size_t> parts;
    for (const auto& collectives : ofRanks) {
        for (const KinetoCollective& collective : collectives) ++parts[collective];
    }
    const auto isWhole = [&](const auto& part) {
        return part.second == (part.first.group == "0" ? ofRanks.size() : 2);
    };
    return static_cast<std::size_t>(std::count_if(parts.begin(), parts.end(), isWhole));
}

}  // namespace pleat::testing
