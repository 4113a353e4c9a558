#include "instrumented_runtime/transfer_thread.h"

#include <gtest/gtest.h>

#include "memory_transport.h"
#include "recording_markers.h"

namespace pleat::runtime {
namespace {

Buffer filled(std::size_t size, float value) {
    Buffer buffer = makeBuffer(size);
    std::fill_n(buffer.data, size, value);
    return buffer;
}

// The two ends of a link, each with its thread.
struct Link {
    explicit Link(LinkLimit limit = {})
        : sender(end(0, limit), markers, board), receiver(end(1, limit), markers, board) {}

    TransferThread::Setup end(std::int32_t rank, LinkLimit limit) {
        MemoryTransport transport(hub);
        return {"link", group, rank, std::move(*transport.join(group)), limit};
    }
    TransferJob job(TransferOperation operation, Buffer buffer) {
        return {
            markers.transferName(toString(operation)), operation, 0, 0, 0, 0, std::move(buffer)};
    }

    MemoryHub hub;
    Group group{5, GroupKind::ForwardLink, {0, 1}};
    RecordingMarkers markers;
    TransferBoard board;
    TransferThread sender, receiver;
};

TEST(LinkLimit, CostsBytesOverBandwidthPlusLatency) {
    EXPECT_EQ((LinkLimit{0, 0}).costNs(1000), 0);
    EXPECT_EQ((LinkLimit{0, 70}).costNs(1000), 70);
    EXPECT_EQ((LinkLimit{1e9, 70}).costNs(1000), 1070);
    EXPECT_EQ((LinkLimit{3e9, 0}).costNs(10), 4);  // 3.33 ns: never less than asked
}

TEST(TransferThread, CarriesMessagesInOrder) {
    Link link;
    std::vector<TransferHandle> received;
    for (int i = 0; i < 20; ++i) {
        received.push_back(link.receiver.post(link.job(TransferOperation::Receive, makeBuffer(3))));
    }
    for (int i = 0; i < 20; ++i) {
        link.sender.post(link.job(TransferOperation::Send, filled(3, static_cast<float>(i))));
    }
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(link.board.wait(*received[static_cast<std::size_t>(i)]));
        EXPECT_EQ(received[static_cast<std::size_t>(i)]->received.data[2], static_cast<float>(i));
    }
}

TEST(TransferThread, ARangeOnASlowLinkLastsItsCost) {
    const LinkLimit limit{1e6, 1'000'000};  // 4000 bytes: 4 ms + 1 ms
    auto link = std::make_unique<Link>(limit);
    const auto received =
        link->receiver.post(link->job(TransferOperation::Receive, makeBuffer(1000)));
    const auto sent = link->sender.post(link->job(TransferOperation::Send, filled(1000, 1)));
    ASSERT_TRUE(link->board.wait(*sent));
    ASSERT_TRUE(link->board.wait(*received));
    ASSERT_EQ(link->markers.transfers().size(), 2U);
    for (const RecordedTransfer& transfer : link->markers.transfers()) {
        if (transfer.name != "send") continue;
        EXPECT_GE(transfer.end - transfer.begin, std::chrono::milliseconds(5));
        EXPECT_EQ(transfer.transfer.bytes, 4000);
        EXPECT_EQ(transfer.transfer.group, 5);
        EXPECT_EQ(transfer.transfer.peer, 1);
    }
}

TEST(TransferThread, AnAllReduceOfTwoCostsItsBytesOnce) {
    // 2 (n - 1) / n = 1 for two members.
    MemoryHub hub;
    RecordingMarkers markers;
    TransferBoard board;
    const Group group{0, GroupKind::DataParallel, {0, 1}};
    MemoryTransport transport(hub);
    const auto setup = [&](std::int32_t rank) {
        return TransferThread::Setup{
            "sync", group, rank, std::move(*transport.join(group)), {1e6, 0}};
    };
    TransferThread first(setup(0), markers, board), second(setup(1), markers, board);
    const MarkerName name = markers.transferName("all_reduce");
    const Buffer one = filled(1000, 1), two = filled(1000, 2);
    const auto begin = std::chrono::steady_clock::now();
    const auto a = first.post({name, TransferOperation::AllReduce, 0, -1, -1, -1, one});
    const auto b = second.post({name, TransferOperation::AllReduce, 0, -1, -1, -1, two});
    ASSERT_TRUE(board.wait(*a));
    ASSERT_TRUE(board.wait(*b));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(4));
    EXPECT_EQ(one.data[999], 3);
    EXPECT_EQ(two.data[0], 3);
}

TEST(TransferBoard, AFailureEndsEveryWait) {
    TransferBoard board;
    Transfer never;
    board.fail({base::ErrorCode::Io, "first"});
    board.fail({base::ErrorCode::Io, "second"});
    const auto waited = board.wait(never);
    ASSERT_FALSE(waited);
    EXPECT_EQ(waited.error().message, "first");
}

}  // namespace
}  // namespace pleat::runtime
