#include "collector/ring.h"

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <vector>

#include "collector/ring_reader.h"

namespace pleat::collector {
namespace {

constexpr std::uint64_t kSlots = 16;

// A ring in plain memory instead of a file.
class RingMemory {
  public:
    RingMemory() {
        auto* header = new (m_bytes) RingHeader{};
        header->magic = kRingMagic;
        header->version = kRingVersion;
        header->kind = RingKind::Thread;
        header->capacity = kSlots;
        header->tickSource = TickSource::Monotonic;
    }
    [[nodiscard]] RingHeader* header() { return reinterpret_cast<RingHeader*>(m_bytes); }
    [[nodiscard]] std::span<std::byte> bytes(std::size_t length) {
        return std::span(m_bytes).first(length);
    }
    [[nodiscard]] std::span<std::byte> bytes() { return std::span(m_bytes); }

  private:
    alignas(4096) std::byte m_bytes[kRingHeaderBytes + kSlots * kRecordBytes] = {};
};

Record textRecord(std::uint64_t value, std::size_t textBytes) {
    Record record;
    record.kind = RecordKind::Mark;
    record.value = value;
    record.textBytes = static_cast<std::uint16_t>(textBytes);
    return record;
}

TEST(Ring, EventsComeOutInOrderAcrossTheWrap) {
    RingMemory memory;
    RingProducer producer;
    producer.attach(memory.header());
    auto reader = RingReader::open(memory.bytes());
    ASSERT_TRUE(reader.ok());
    const std::string text(70, 't');
    std::uint64_t read = 0;
    for (std::uint64_t written = 0; written < 100; ++written) {
        ASSERT_TRUE(producer.fits(slotsOf(text.size(), 0)));
        producer.write(textRecord(written, text.size()), text, {});
        reader->observe();
        while (const auto event = reader->next()) {
            EXPECT_EQ(event->record.value, read++);
            EXPECT_EQ(event->text, text);
        }
        reader->release();
    }
    EXPECT_EQ(read, 100U);
}

TEST(Ring, SaysWhenItIsFullAndHasRoomAgainOnceDrained) {
    RingMemory memory;
    RingProducer producer;
    producer.attach(memory.header());
    for (std::uint64_t i = 0; i < kSlots; ++i) {
        ASSERT_TRUE(producer.fits(1));
        producer.write(textRecord(i, 0));
    }
    EXPECT_FALSE(producer.fits(1));
    auto reader = RingReader::open(memory.bytes());
    reader->observe();
    while (reader->next()) {
    }
    reader->release();
    EXPECT_TRUE(producer.fits(kSlots));
}

TEST(Ring, EveryTruncationGivesTheWholeRecordsBeforeIt) {
    RingMemory memory;
    RingProducer producer;
    producer.attach(memory.header());
    for (std::uint64_t i = 0; i < 5; ++i)
        producer.write(textRecord(i, 40), std::string(40, 'x'), {});
    for (std::size_t length = 0; length <= memory.bytes().size(); ++length) {
        auto reader = RingReader::open(memory.bytes(length));
        if (!reader) {
            EXPECT_LT(length, kRingHeaderBytes);
            continue;
        }
        reader->observe();
        std::uint64_t events = 0;
        while (const auto event = reader->next()) EXPECT_EQ(event->record.value, events++);
        const std::uint64_t present =
            length < kRingHeaderBytes ? 0 : (length - kRingHeaderBytes) / kRecordBytes / 3;
        EXPECT_EQ(events, std::min<std::uint64_t>(present, 5)) << length;
    }
}

}  // namespace
}  // namespace pleat::collector
