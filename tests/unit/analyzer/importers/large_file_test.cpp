// A file beyond what 32 bits count, made while it is read: places in it are right and memory stays
// what it was.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "importers/event_stream.h"

namespace pleat::importers {
namespace {

constexpr std::uint64_t kBlocks = 70;
constexpr std::size_t kBlockBytes = std::size_t{64} << 20;  // together 4.4 GiB

// "[", blocks of events with long arguments, one damaged event behind them all, one whole, "]".
class LongSource : public ByteSource {
  public:
    LongSource() {
        const std::string event =
            R"({"ph":"X","name":"long","pid":1,"tid":1,"ts":1,"dur":1,"args":{"text":")" +
            std::string(60'000, 'x') + "\"}},\n";
        while (m_block.size() + event.size() < kBlockBytes) m_block += event;
        m_block.append(kBlockBytes - m_block.size(), ' ');
    }
    std::size_t read(std::span<char> buffer) override {
        std::size_t filled = 0;
        while (filled < buffer.size()) {
            const std::string_view part = partAt(m_at);
            if (part.empty()) break;
            const std::size_t count = std::min(part.size(), buffer.size() - filled);
            std::memcpy(buffer.data() + filled, part.data(), count);
            filled += count;
            m_at += count;
        }
        return filled;
    }
    static std::uint64_t damagedAt() { return 1 + kBlocks * kBlockBytes; }
    [[nodiscard]] std::size_t eventsPerBlock() const {
        return static_cast<std::size_t>(std::count(m_block.begin(), m_block.end(), '\n'));
    }

  private:
    [[nodiscard]] std::string_view partAt(std::uint64_t at) const {
        if (at == 0) return "[";
        if (at < damagedAt()) return std::string_view(m_block).substr((at - 1) % kBlockBytes);
        const std::string_view end =
            R"({"ph":"X","name":"od"d","ts":1},{"ph":"X","name":"z","pid":1,"tid":1,"ts":1,"dur":1}])";
        return end.substr(std::min<std::uint64_t>(at - damagedAt(), end.size()));
    }

    std::string m_block;
    std::uint64_t m_at = 0;
};

long peakMiB() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss / 1'024;
}

// bad-inputs 51
TEST(LargeFile, PlacesBeyondFourGibibytesAreRightAndMemoryIsBounded) {
    DecoderPool pool(2);
    auto source = std::make_unique<LongSource>();
    const std::size_t eventsPerBlock = source->eventsPerBlock();
    EventStream file(std::move(source), pool);
    base::Diagnostics diagnostics;
    std::size_t events = 0;
    const long before = peakMiB();
    const auto read = file.run([&](const EventBatch& batch) {
        events += batch.events.size();
        diagnostics.add(batch.diagnostics);
    });
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->listEnded);
    EXPECT_GT(read->bytes, std::uint64_t{1} << 32);
    EXPECT_EQ(events, kBlocks * eventsPerBlock + 1);
    const base::Diagnostic* damaged = diagnostics.find("damaged_event");
    ASSERT_NE(damaged, nullptr);
    EXPECT_EQ(damaged->count, 1);
    EXPECT_NE(damaged->example.find("byte " + std::to_string(LongSource::damagedAt())),
              std::string::npos)
        << damaged->example;
    EXPECT_LE(peakMiB() - before, 64);
}

}  // namespace
}  // namespace pleat::importers
