#include "collector/injected/thread_events.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "collector/ticks.h"

namespace pleat::collector {
namespace {

constexpr std::uint64_t kThreadSlots = 32'768;  // 1 MiB: 100 000 pairs a second never fill it
constexpr std::uint32_t kDeepest = 64;  // ranges inside each other that are recorded, per domain

struct OpenRanges {
    std::uint32_t depth;
    std::uint64_t dropped;  // bit d: the range at depth d found no room
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

void threadEnds(void* state) {
    auto* const thread = static_cast<ThreadState*>(state);
    if (thread->ring.attached() && thread->generation == generation()) {
        thread->ring.header().ended.store(1, std::memory_order_release);
    }
}

pthread_key_t endKey() {
    static const pthread_key_t key = [] {
        pthread_key_t made = 0;
        pthread_key_create(&made, threadEnds);
        return made;
    }();
    return key;
}

// Not freed at the thread's end: an event may still come from a later thread destructor.
ThreadState* openThread(ThreadState* state) {
    if (state == nullptr) state = new ThreadState;
    *state = {};
    state->generation = generation();
    t_state = state;
    if (RingHeader* ring = makeRing(RingKind::Thread, nextThreadNumber(), kThreadSlots)) {
        state->ring.attach(ring);
        pthread_setspecific(endKey(), state);
    } else {
        state->failed = true;
        reportRingFailure(syscall(SYS_gettid), errno);
    }
    return state;
}

ThreadState* thread() {
    ThreadState* state = t_state;
    if (state == nullptr || state->generation != generation()) state = openThread(state);
    return state->failed ? nullptr : state;
}

// Writes the event if it fits beside everything reserved and `extra` more slots.
bool write(ThreadState& state, RecordKind kind, const EventInput& event, std::uint64_t value,
           std::uint64_t extra) {
    std::string_view payload = event.payload;
    if (payload.size() > kMaximumPayloadBytes) {
        payload = {};
        RingProducer::count(state.ring.header().droppedPayloads);
    }
    if (!state.ring.fits(slotsOf(0, payload.size()) + state.reserved + extra)) {
        RingProducer::count(state.ring.header().droppedEvents);
        return false;
    }
    Record record;
    record.ticks = readTicks(state.ring.header().tickSource);
    record.value = value;
    record.name = event.name;
    record.category = event.category;
    record.domain = event.domain;
    record.kind = kind;
    record.payloadBytes = static_cast<std::uint16_t>(payload.size());
    if (payload.empty()) {
        state.ring.write(record);
    } else {
        state.ring.write(record, {}, payload);
    }
    return true;
}

}  // namespace

std::uint32_t nameOf(const char* text) {
    if (text == nullptr) return internText("");
    ThreadState* state = thread();
    if (state == nullptr) return 0;
    const auto hash = (reinterpret_cast<std::uintptr_t>(text) >> 3) & (state->names.size() - 1);
    CachedName& cached = state->names[hash];
    if (cached.address == text && std::strcmp(cached.contents, text) == 0) return cached.id;
    const std::string_view whole(text, strnlen(text, kMaximumTextBytes));
    cached.id = internText(whole, &cached.contents);
    cached.address = text;
    return cached.id;
}

int push(const EventInput& event) {
    ThreadState* state = event.domain < kMaximumDomains ? thread() : nullptr;
    if (state == nullptr) return 0;
    OpenRanges& open = state->open[event.domain];
    const std::uint32_t level = open.depth++;
    if (level >= kDeepest) {
        RingProducer::count(state->ring.header().droppedEvents);
        return static_cast<int>(level);
    }
    const std::uint64_t bit = 1ULL << level;
    if (write(*state, RecordKind::Push, event, 0, 1)) {
        open.dropped &= ~bit;
        ++state->reserved;
    } else {
        open.dropped |= bit;
    }
    return static_cast<int>(level);
}

int pop(std::uint16_t domain) {
    ThreadState* state = domain < kMaximumDomains ? thread() : nullptr;
    if (state == nullptr) return -1;
    OpenRanges& open = state->open[domain];
    if (open.depth == 0) {
        RingProducer::count(state->ring.header().unmatchedPops);
        return -1;
    }
    const std::uint32_t level = --open.depth;
    if (level < kDeepest && (open.dropped & (1ULL << level)) == 0) {
        --state->reserved;
        write(*state, RecordKind::Pop, {domain, 0, 0, {}}, 0, 0);
    }
    return static_cast<int>(level);
}

std::uint64_t start(const EventInput& event) {
    ThreadState* state = event.domain < kMaximumDomains ? thread() : nullptr;
    if (state == nullptr) return 0;
    const std::uint64_t id = nextRangeId();
    return write(*state, RecordKind::Start, event, id, 0) ? id : 0;
}

void end(std::uint64_t range) {
    ThreadState* state = range == 0 ? nullptr : thread();
    if (state == nullptr) return;
    // May end on another thread than it began on, so no room could be kept for it.
    if (!write(*state, RecordKind::End, {}, range, 0))
        RingProducer::count(state->ring.header().droppedEnds);
}

void mark(const EventInput& event) {
    ThreadState* state = event.domain < kMaximumDomains ? thread() : nullptr;
    if (state != nullptr) write(*state, RecordKind::Mark, event, 0, 0);
}

}  // namespace pleat::collector
