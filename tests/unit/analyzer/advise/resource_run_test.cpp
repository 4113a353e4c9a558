// Every expected time is computed by hand from the model stated in resource_run.h.
#include "advise/resource_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace pleat::advise {
namespace {

// Two devices with a way out and a way in each.
struct Pair {
    Workload workload;
    std::array<DeviceId, 2> device;
    std::array<QueueId, 2> compute;
    std::array<PortId, 2> out, in;

    explicit Pair(double bytesPerNs, double slowdown = 0) {
        for (std::size_t i = 0; i < 2; ++i) {
            device[i] = workload.addDevice();
            compute[i] = workload.addCompute(device[i]);
            out[i] = workload.addPort({device[i], bytesPerNs, slowdown});
            in[i] = workload.addPort({device[i], bytesPerNs, slowdown});
        }
    }
    // From the first device to the second.
    QueueId stream(double latency = 0) { return workload.addStream(latency, {out[0], in[1]}); }
    base::Interval of(OperationId id) const {
        const auto times = run(workload);
        return times ? (*times)[id] : base::Interval{};
    }
};

base::Interval span(std::int64_t begin, std::int64_t end) { return {{begin}, {end}}; }

TEST(ResourceRun, AMessageTakesItsLatencyAndItsBytes) {
    Pair pair(2);
    const OperationId forward = pair.workload.add(pair.compute[0], 100);
    const OperationId message = pair.workload.add(pair.stream(7), 60);
    const OperationId next = pair.workload.add(pair.compute[1], 50);
    pair.workload.addDependency(forward, message);
    pair.workload.addDependency(message, next);
    EXPECT_EQ(pair.of(message), span(100, 137));
    EXPECT_EQ(pair.of(next), span(137, 187));
}

TEST(ResourceRun, TransfersAtOnceShareTheLink) {
    Pair pair(1);
    const OperationId first = pair.workload.add(pair.stream(), 100);
    const OperationId delay = pair.workload.add(pair.compute[0], 50);
    const OperationId second = pair.workload.add(pair.stream(), 20);
    pair.workload.addDependency(delay, second);
    // 50 bytes alone until 50; then half each, 20 bytes until 90; the first's last 30 alone again.
    EXPECT_EQ(pair.of(second), span(50, 90));
    EXPECT_EQ(pair.of(first), span(0, 120));
}

TEST(ResourceRun, LatencyUsesNoBandwidth) {
    Pair pair(1);
    const OperationId first = pair.workload.add(pair.stream(), 100);
    const OperationId second = pair.workload.add(pair.stream(100), 10);
    EXPECT_EQ(pair.of(first), span(0, 100));
    EXPECT_EQ(pair.of(second), span(0, 110));
}

TEST(ResourceRun, ATransferMovesAtTheSmallestShareOfItsPorts) {
    Pair pair(4);
    const PortId slow = pair.workload.addPort({pair.device[1], 1, 0});
    const OperationId limited =
        pair.workload.add(pair.workload.addStream(0, {pair.out[0], slow}), 100);
    const OperationId other = pair.workload.add(pair.stream(), 100);
    EXPECT_EQ(pair.of(limited), span(0, 100));
    EXPECT_EQ(pair.of(other), span(0, 50)) << "half of 4, equal shares";
}

TEST(ResourceRun, AStreamRunsOneAtATimeByPriorityAndThenInOrderOfReadiness) {
    Pair pair(1);
    const QueueId stream = pair.stream();
    const OperationId now = pair.workload.add(stream, 10);
    const OperationId later = pair.workload.add(stream, 10, 5);
    const OperationId urgent = pair.workload.add(stream, 10, 1);
    const OperationId alsoLater = pair.workload.add(stream, 10, 5);
    EXPECT_EQ(pair.of(now), span(0, 10));
    EXPECT_EQ(pair.of(urgent), span(10, 20));
    EXPECT_EQ(pair.of(later), span(20, 30));
    EXPECT_EQ(pair.of(alsoLater), span(30, 40));
}

TEST(ResourceRun, ComputeIsSlowedWhileDataMovesThroughItsDevice) {
    Pair pair(1, 0.25);
    const OperationId compute = pair.workload.add(pair.compute[0], 100);
    const OperationId message = pair.workload.add(pair.stream(), 50);
    // 50 ns at 1 / 1.25 do 40 of 100; the last 60 at full speed.
    EXPECT_EQ(pair.of(message), span(0, 50));
    EXPECT_EQ(pair.of(compute), span(0, 110));
}

TEST(ResourceRun, ComputeRunsInTheOrderGivenHoweverEarlyTheRestIsReady) {
    Pair pair(1);
    const OperationId message = pair.workload.add(pair.stream(), 30);
    const OperationId first = pair.workload.add(pair.compute[1], 5);
    const OperationId second = pair.workload.add(pair.compute[1], 5);
    pair.workload.addDependency(message, first);
    EXPECT_EQ(pair.of(first), span(30, 35));
    EXPECT_EQ(pair.of(second), span(35, 40));
}

TEST(ResourceRun, ADeadlockIsAnError) {
    Pair pair(1);
    const OperationId first = pair.workload.add(pair.compute[0], 5);
    const OperationId second = pair.workload.add(pair.compute[0], 5);
    pair.workload.addDependency(second, first);
    const auto times = run(pair.workload);
    ASSERT_FALSE(times);
    EXPECT_NE(times.error().message.find("2 of 2 operations can never start"), std::string::npos);
}

TEST(ResourceRun, UnlimitedLinksTakeOnlyLatencyAndNothingIsNothing) {
    Pair pair(kUnlimited);
    const OperationId message = pair.workload.add(pair.stream(3), 1e12);
    const OperationId empty = pair.workload.add(pair.compute[0], 0);
    EXPECT_EQ(pair.of(message), span(0, 3));
    EXPECT_EQ(pair.of(empty), span(0, 0));
}

// Whatever is shared, a link moves no more than its bandwidth and is not idle while one waits.
TEST(ResourceRun, ALinkIsBusyAsLongAsItsBytesTake) {
    std::mt19937_64 generator(3);
    for (int round = 0; round < 200; ++round) {
        Pair pair(1);
        double bytes = 0;
        std::vector<OperationId> all;
        for (int i = 0; i < 8; ++i) {
            const auto size = static_cast<double>(1 + generator() % 1000);
            bytes += size;
            all.push_back(pair.workload.add(pair.stream(), size));
        }
        const auto times = run(pair.workload);
        ASSERT_TRUE(times);
        std::int64_t last = 0;
        for (const OperationId id : all) last = std::max(last, (*times)[id].end.ns);
        EXPECT_NEAR(static_cast<double>(last), bytes, 1);
    }
}

}  // namespace
}  // namespace pleat::advise
