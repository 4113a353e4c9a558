// The ring file: how events travel from a recorded program to the recorder.
// A shared mapping of one header page and a power of two of 32-byte records. One producer, one
// consumer, no locks: the producer publishes each event (its record and what continues it) with one
// release store of `written`, so that what was written before a SIGKILL is whole; the consumer
// gives room back by storing `drained`. This header is compiled into other people's programs: it
// uses nothing but the C++ library.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pleat::collector {

inline constexpr std::uint64_t kRingMagic = 0x474e'5254'4145'4c50;  // "PLEATRNG"
inline constexpr std::uint32_t kRingVersion = 2;
inline constexpr std::size_t kRingHeaderBytes = 4096;
inline constexpr std::size_t kRecordBytes = 32;
inline constexpr std::size_t kMaximumTextBytes = 4096;
inline constexpr std::size_t kMaximumPayloadBytes = 16384;

enum class RingKind : std::uint32_t {
    Thread = 1,   // events of one thread; drained as they come
    Process = 2,  // definitions of one process; never drained, so that it can be read again
};

enum class TickSource : std::uint32_t {
    Counter = 1,    // the processor's time-stamp counter
    Monotonic = 2,  // CLOCK_MONOTONIC in ns, where the counter cannot be trusted
};

// Stands before a rank number that every process beneath the launcher's own inherits.
inline constexpr char kOfLauncher = '~';

enum class RecordKind : std::uint8_t {
    Push = 1,
    Pop = 2,
    Start = 3,  // value: range id, unique in the process
    End = 4,    // value: range id
    Mark = 5,
    // In the process file; the text and payload hold what is defined.
    ProcessInfo = 16,    // text: program; value: parent's pid; payload: rank number as text, behind
                         // kOfLauncher where a launcher's variable says it
    String = 17,         // name: its id
    Domain = 18,         // domain: its id
    Schema = 19,         // domain, value: schema id; payload: payload_layout.h
    Category = 20,       // domain, category; text: its name
    ThreadName = 21,     // value: thread id
    Exit = 22,           // the program ended by itself
    DomainRefused = 24,  // more domains than can be numbered
};

// Continued by ceil((textBytes + payloadBytes) / 32) slots of raw bytes: text, then payload blocks.
struct Record {
    std::uint64_t ticks = 0;
    std::uint64_t value = 0;
    std::uint32_t name = 0;  // string id; 0: the inline text, if any
    std::uint32_t category = 0;
    std::uint16_t domain = 0;  // 0: the default domain
    RecordKind kind = RecordKind::Mark;
    std::uint8_t flags = 0;
    std::uint16_t textBytes = 0;
    std::uint16_t payloadBytes = 0;
};
static_assert(sizeof(Record) == kRecordBytes);

[[nodiscard]] constexpr std::uint64_t slotsOf(std::size_t textBytes, std::size_t payloadBytes) {
    return 1 + (textBytes + payloadBytes + kRecordBytes - 1) / kRecordBytes;
}

enum class PayloadType : std::uint32_t {
    Unsigned64 = 1,  // the numbers of nvtxPayloadType_t
    Signed64 = 2,
    Double = 3,
    Unsigned32 = 4,
    Signed32 = 5,
    Float = 6,
    Schema = 7,  // laid out by a registered schema, its C strings appended: 16-bit length, bytes
};

// In front of each payload of an event.
struct PayloadBlock {
    std::uint64_t schema = 0;
    PayloadType type = PayloadType::Unsigned64;
    std::uint32_t bytes = 0;  // that follow
};
static_assert(sizeof(PayloadBlock) == 16);

struct RingHeader {
    std::uint64_t magic;
    std::uint32_t version;
    RingKind kind;
    std::uint64_t capacity;  // records; a power of two
    TickSource tickSource;
    std::uint32_t threadNumber;  // names the thread in its process; thread ids are reused
    std::int64_t pid;
    std::int64_t tid;
    std::uint64_t image;  // when this program image began to record (CLOCK_MONOTONIC, ns): an exec
                          // keeps the pid
    char threadName[16];

    // Written by the producer alone. `written` is published with release: the records before it
    // are complete. The counts are relaxed: they are only summed.
    alignas(64) std::atomic<std::uint64_t> written;  // records ever
    std::atomic<std::uint64_t> droppedEvents;        // ranges and marks that found no room
    std::atomic<std::uint64_t> droppedEnds;          // ends whose start was recorded
    std::atomic<std::uint64_t> unmatchedPops;
    std::atomic<std::uint64_t> tooDeep;          // ranges inside too many others
    std::atomic<std::uint64_t> droppedPayloads;  // the event is there, its payload is not
    std::atomic<std::uint64_t> cutTexts;         // names longer than kMaximumTextBytes
    std::atomic<std::uint32_t> ended;            // the thread is gone

    // Written by the consumer alone, with release: it no longer reads the records before it.
    alignas(64) std::atomic<std::uint64_t> drained;
};
static_assert(sizeof(RingHeader) <= kRingHeaderBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// The producer's end. Plain data, usable in zeroed memory; one thread at a time.
class RingProducer {
  public:
    void attach(RingHeader* header) {
        m_header = header;
        m_slots = reinterpret_cast<std::byte*>(header) + kRingHeaderBytes;
        m_capacity = header->capacity;
        m_written = header->written.load(std::memory_order_relaxed);
        m_drained = header->drained.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool attached() const { return m_header != nullptr; }
    [[nodiscard]] RingHeader& header() const { return *m_header; }
    [[nodiscard]] std::uint64_t capacity() const { return m_capacity; }
    [[nodiscard]] std::uint64_t written() const { return m_written; }
    [[nodiscard]] const std::byte* slot(std::uint64_t position) const {
        return m_slots + (position & (m_capacity - 1)) * kRecordBytes;
    }

    // Is there room for `slots` now? The consumer's position is looked up only when the last one
    // known does not suffice: it lies on a cache line the consumer writes.
    [[nodiscard]] bool fits(std::uint64_t slots) {
        if (m_written + slots <= m_drained + m_capacity) return true;
        m_drained = m_header->drained.load(std::memory_order_acquire);
        return m_written + slots <= m_drained + m_capacity;
    }

    // Appends one event; fits() must have said yes.
    void write(const Record& record) {
        std::memcpy(slotAt(m_written), &record, kRecordBytes);
        publish(1);
    }
    void write(const Record& record, std::string_view text, std::string_view payload) {
        std::memcpy(slotAt(m_written), &record, kRecordBytes);
        const std::uint64_t offset = (m_written + 1) * kRecordBytes;
        copyIn(offset, text);
        copyIn(offset + text.size(), payload);
        publish(slotsOf(text.size(), payload.size()));
    }

    // The single producer may add without an atomic read-modify-write.
    static void count(std::atomic<std::uint64_t>& counter) {
        counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

  private:
    [[nodiscard]] std::byte* slotAt(std::uint64_t position) const {
        return m_slots + (position & (m_capacity - 1)) * kRecordBytes;
    }
    void copyIn(std::uint64_t offset, std::string_view bytes) {
        const std::uint64_t ringBytes = m_capacity * kRecordBytes;
        const std::uint64_t start = offset & (ringBytes - 1);
        const std::size_t first = bytes.size() < ringBytes - start
                                      ? bytes.size()
                                      : static_cast<std::size_t>(ringBytes - start);
        if (first != 0) std::memcpy(m_slots + start, bytes.data(), first);
        if (first < bytes.size()) {
            std::memcpy(m_slots, bytes.data() + first, bytes.size() - first);
        }
    }
    void publish(std::uint64_t slots) {
        m_written += slots;
        m_header->written.store(m_written, std::memory_order_release);
    }

    RingHeader* m_header = nullptr;
    std::byte* m_slots = nullptr;
    std::uint64_t m_capacity = 0;
    std::uint64_t m_written = 0;
    std::uint64_t m_drained = 0;
};

}  // namespace pleat::collector
