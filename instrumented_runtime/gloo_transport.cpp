#include "instrumented_runtime/gloo_transport.h"

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <utility>

namespace pleat::runtime {
namespace {

constexpr std::chrono::milliseconds kRendezvousTimeout{60'000};
// A peer that is gone is noticed at once by its closed connection; this bounds only one that hangs.
constexpr std::chrono::milliseconds kTransferTimeout{600'000};
constexpr std::chrono::milliseconds kLeaveTimeout{10'000};
constexpr std::chrono::milliseconds kLeavePoll{5};

// The first sentence of a library's message: without source positions in front, stack traces and
// further lines.
std::string firstSentence(std::string text) {
    text = text.substr(0, text.find('\n'));
    if (text.starts_with('[')) {
        const std::size_t end = text.find("] ");
        if (end != std::string::npos) text = text.substr(end + 2);
    }
    return text;
}

template <class Function>
auto guarded(const std::string& what, Function&& function) -> decltype(function()) {
    try {
        return function();
    } catch (const c10::Error& error) {
        return base::Error{base::ErrorCode::Io,
                           what + ": " + firstSentence(error.what_without_backtrace())};
    } catch (const std::exception& error) {
        return base::Error{base::ErrorCode::Io, what + ": " + firstSentence(error.what())};
    }
}

std::string membersText(const Group& group, std::int32_t except) {
    std::string text;
    for (const std::int32_t member : group.members) {
        if (member != except) text += (text.empty() ? "" : ", ") + std::to_string(member);
    }
    return (group.members.size() > 2 ? "ranks " : "rank ") + text;
}

class GlooChannel final : public Channel {
  public:
    GlooChannel(c10::intrusive_ptr<c10d::ProcessGroupGloo> group, const Group& described,
                std::int32_t rank)
        : m_group(std::move(group)), m_peers(membersText(described, rank)) {}

    [[nodiscard]] base::Result<void> send(const Buffer& buffer) override {
        return guarded("sending to " + m_peers, [&]() -> base::Result<void> {
            std::vector<at::Tensor> tensors{view(buffer)};
            m_group->send(tensors, 1, 0)->wait(kTransferTimeout);
            return {};
        });
    }
    [[nodiscard]] base::Result<void> receive(const Buffer& buffer) override {
        return guarded("receiving from " + m_peers, [&]() -> base::Result<void> {
            std::vector<at::Tensor> tensors{view(buffer)};
            m_group->recv(tensors, 0, 0)->wait(kTransferTimeout);
            return {};
        });
    }
    [[nodiscard]] base::Result<void> allReduceSum(const Buffer& buffer) override {
        return guarded("all-reduce with " + m_peers, [&]() -> base::Result<void> {
            std::vector<at::Tensor> tensors{view(buffer)};
            m_group->allreduce(tensors)->wait(kTransferTimeout);
            return {};
        });
    }

  private:
    static at::Tensor view(const Buffer& buffer) {
        return at::from_blob(
            buffer.data, {static_cast<std::int64_t>(buffer.size)}, [owner = buffer.owner](void*) {},
            at::kFloat);
    }

    c10::intrusive_ptr<c10d::ProcessGroupGloo> m_group;
    std::string m_peers;
};

std::shared_ptr<::gloo::transport::Device> makeDevice(const RankEnvironment& environment) {
    if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
        interface != nullptr && *interface != '\0') {
        return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
    }
    // Ranks that meet at the loopback address are on one machine; its host name need not resolve.
    if (environment.masterAddress == "localhost" || environment.masterAddress.starts_with("127.")) {
        return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
    }
    return c10d::ProcessGroupGloo::createDefaultDevice();
}

class GlooTransport final : public Transport {
  public:
    explicit GlooTransport(const RankEnvironment& environment) : m_environment(environment) {
        c10d::TCPStoreOptions options;
        options.port = environment.masterPort;
        options.isServer = environment.rank == 0;
        options.numWorkers = static_cast<std::size_t>(environment.worldSize);
        options.waitWorkers = false;  // join() waits for those it needs
        options.timeout = kRendezvousTimeout;
        m_store = c10::make_intrusive<c10d::TCPStore>(environment.masterAddress, options);
        m_device = makeDevice(environment);
    }

    [[nodiscard]] base::Result<std::unique_ptr<Channel>> join(const Group& group) override {
        return guarded("joining " + membersText(group, m_environment.rank),
                       [&]() -> base::Result<std::unique_ptr<Channel>> {
                           auto options =
                               c10d::ProcessGroupGloo::Options::create(kRendezvousTimeout);
                           options->devices = {m_device};
                           options->threads = 1;
                           auto store = c10::make_intrusive<c10d::PrefixStore>(
                               "group" + std::to_string(group.id), m_store);
                           auto joined = c10::make_intrusive<c10d::ProcessGroupGloo>(
                               store, group.indexOf(m_environment.rank).value(),
                               static_cast<int>(group.members.size()), options);
                           return std::unique_ptr<Channel>(std::make_unique<GlooChannel>(
                               std::move(joined), group, m_environment.rank));
                       });
    }

    // Rank 0 serves the store, so it goes last; the others may go once all have come this far.
    [[nodiscard]] base::Result<void> leave() override {
        return guarded("waiting for the other ranks to finish", [&]() -> base::Result<void> {
            m_store->add("finished", 1);
            if (!reached("finished", kTransferTimeout)) {
                return base::Error{base::ErrorCode::Io, "not all ranks finished"};
            }
            m_store->add("left", 1);
            if (m_environment.rank == 0) (void)reached("left", kLeaveTimeout);
            return {};
        });
    }

  private:
    // Whether all ranks have counted under `key` before the timeout.
    bool reached(const char* key, std::chrono::milliseconds timeout) {
        const auto end = std::chrono::steady_clock::now() + timeout;
        while (m_store->add(key, 0) < m_environment.worldSize) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::sleep_for(kLeavePoll);
        }
        return true;
    }

    RankEnvironment m_environment;
    c10::intrusive_ptr<c10d::TCPStore> m_store;
    std::shared_ptr<::gloo::transport::Device> m_device;
};

}  // namespace

base::Result<std::unique_ptr<Transport>> connectGloo(const RankEnvironment& environment) {
    return guarded(
        "meeting the other ranks at " + environment.masterAddress + ":" +
            std::to_string(environment.masterPort),
        [&]() -> base::Result<std::unique_ptr<Transport>> {
            return std::unique_ptr<Transport>(std::make_unique<GlooTransport>(environment));
        });
}

}  // namespace pleat::runtime
