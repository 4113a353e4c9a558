#include "collector/injected/thread_events.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "collector/injected/text_table.h"
#include "collector/ticks.h"

namespace pleat::collector {
namespace {

constexpr std::uint64_t kThreadSlots = 32'768;  // 1 MiB: 100 000 pairs a second never fill it
constexpr std::uint32_t kDeepest = 256;  // ranges inside each other that are recorded, per domain

struct OpenRanges {
    std::uint32_t depth;
    std::array<std::uint64_t, kDeepest / 64> dropped;  // bit d: the range at depth d found no room

    [[nodiscard]] bool isDropped(std::uint32_t level) const {
        return level >= kDeepest || (dropped[level / 64] >> (level % 64) & 1) != 0;
    }
    void setDropped(std::uint32_t level, bool value) {
        const std::uint64_t bit = 1ULL << (level % 64);
        dropped[level / 64] = value ? dropped[level / 64] | bit : dropped[level / 64] & ~bit;
    }
};

struct CachedName {
    const char* address;
    const char* contents;
    std::uint32_t id;
};

// Zero is the initial value of every member: no constructor runs in other people's threads.
struct ThreadState {
    std::uint64_t generation;  // of the process that opened the ring; a forked child opens its own
    bool failed;
    RingProducer ring;
    std::uint64_t reserved;  // slots kept free for the ends of recorded ranges
    std::array<OpenRanges, kMaximumDomains> open;
    std::array<CachedName, 256> names;
};

__attribute__((tls_model("initial-exec"))) thread_local ThreadState* t_state = nullptr;

// Marks the ring as complete, unless it is the parent's of a forked child.
void closeRing(ThreadState& thread) {
    if (!thread.ring.attached()) return;
    RingHeader& header = thread.ring.header();
    if (thread.generation == generation()) header.ended.store(1, std::memory_order_release);
    munmap(&header, kRingHeaderBytes + thread.ring.capacity() * kRecordBytes);
}

// An event of a later thread destructor opens a new ring.
void threadEnds(void* state) {
    auto* const thread = static_cast<ThreadState*>(state);
    t_state = nullptr;
    closeRing(*thread);
    unmapMemory(thread, sizeof *thread);
}

pthread_key_t endKey() {
    static const pthread_key_t key = [] {
        pthread_key_t made = 0;
        pthread_key_create(&made, threadEnds);
        return made;
    }();
    return key;
}

ThreadState* openThread(ThreadState* state) {
    if (state == nullptr) {
        state = static_cast<ThreadState*>(mapMemory(sizeof *state));
        if (state == nullptr) return nullptr;
    } else {
        closeRing(*state);
    }
    *state = {};
    state->generation = generation();
    t_state = state;
    pthread_setspecific(endKey(), state);
    if (RingHeader* ring = makeRing(RingKind::Thread, nextThreadNumber(), kThreadSlots)) {
        state->ring.attach(ring);
    } else {
        state->failed = true;
    }
    return state;
}

ThreadState* thread() {
    ThreadState* state = t_state;
    if (state == nullptr || state->generation != generation()) state = openThread(state);
    if (state == nullptr) countDroppedEvent();
    return state == nullptr || state->failed ? nullptr : state;
}

// Writes the event if it fits beside everything reserved and `extra` more slots.
bool write(ThreadState& state, RecordKind kind, const EventInput& event, std::uint64_t value,
           std::uint64_t extra) {
    const std::string_view text = event.name.id == 0 ? event.name.text : std::string_view();
    const std::string_view payload = event.payload;
    if (event.payloadCut) RingProducer::count(state.ring.header().droppedPayloads);
    if (!state.ring.fits(slotsOf(text.size(), payload.size()) + state.reserved + extra))
        return false;
    Record record;
    record.ticks = readTicks(state.ring.header().tickSource);
    record.value = value;
    record.name = event.name.id;
    record.category = event.category;
    record.domain = event.domain;
    record.kind = kind;
    record.textBytes = static_cast<std::uint16_t>(text.size());
    record.payloadBytes = static_cast<std::uint16_t>(payload.size());
    if (text.empty() && payload.empty()) {
        state.ring.write(record);
    } else {
        state.ring.write(record, text, payload);
    }
    return true;
}

bool writeOrCount(ThreadState& state, RecordKind kind, const EventInput& event, std::uint64_t value,
                  std::uint64_t extra) {
    const bool written = write(state, kind, event, value, extra);
    if (!written) RingProducer::count(state.ring.header().droppedEvents);
    return written;
}

}  // namespace

EventName nameOf(std::string_view text) {
    text = text.substr(0, kMaximumTextBytes);
    return {internText(text, TextUse::Event).id, text};
}

EventName nameOf(const char* text) {
    ThreadState* state = text == nullptr ? nullptr : thread();
    if (state == nullptr) return {};
    const auto hash = (reinterpret_cast<std::uintptr_t>(text) >> 3) & (state->names.size() - 1);
    CachedName& cached = state->names[hash];
    if (cached.address == text && std::strcmp(cached.contents, text) == 0) return {cached.id, {}};
    const std::string_view whole(text, strnlen(text, kMaximumTextBytes));
    if (whole.size() == kMaximumTextBytes) RingProducer::count(state->ring.header().cutTexts);
    const InternedText interned = internText(whole, TextUse::Event);
    if (interned.id == 0) return {0, whole};
    cached = {text, interned.copy, interned.id};
    return {interned.id, {}};
}

int push(const EventInput& event) {
    ThreadState* state = event.domain < kMaximumDomains ? thread() : nullptr;
    if (state == nullptr) return 0;
    OpenRanges& open = state->open[event.domain];
    const std::uint32_t level = open.depth++;
    if (level >= kDeepest) {
        RingProducer::count(state->ring.header().tooDeep);
        return static_cast<int>(level);
    }
    const bool written = writeOrCount(*state, RecordKind::Push, event, 0, 1);
    open.setDropped(level, !written);
    if (written) ++state->reserved;
    return static_cast<int>(level);
}

int pop(const EventInput& end) {
    ThreadState* state = end.domain < kMaximumDomains ? thread() : nullptr;
    if (state == nullptr) return -1;
    OpenRanges& open = state->open[end.domain];
    if (open.depth == 0) {
        RingProducer::count(state->ring.header().unmatchedPops);
        return -1;
    }
    const std::uint32_t level = --open.depth;
    if (open.isDropped(level)) return static_cast<int>(level);
    --state->reserved;
    // The room kept for it is one slot: where its payload does not fit as well, only that is lost.
    if (write(*state, RecordKind::Pop, end, 0, 0)) return static_cast<int>(level);
    EventInput bare;
    bare.domain = end.domain;
    bare.payloadCut = true;
    write(*state, RecordKind::Pop, bare, 0, 0);
    return static_cast<int>(level);
}

std::uint64_t start(const EventInput& event) {
    ThreadState* state = event.domain < kMaximumDomains ? thread() : nullptr;
    if (state == nullptr) return 0;
    const std::uint64_t id = nextRangeId();
    return writeOrCount(*state, RecordKind::Start, event, id, 0) ? id : 0;
}

void end(std::uint64_t range, const EventInput& more) {
    ThreadState* state = range == 0 ? nullptr : thread();
    if (state == nullptr) return;
    // May end on another thread than it began on, so no room could be kept for it.
    if (!write(*state, RecordKind::End, more, range, 0))
        RingProducer::count(state->ring.header().droppedEnds);
}

void mark(const EventInput& event) {
    ThreadState* state = event.domain < kMaximumDomains ? thread() : nullptr;
    if (state != nullptr) writeOrCount(*state, RecordKind::Mark, event, 0, 0);
}

}  // namespace pleat::collector
