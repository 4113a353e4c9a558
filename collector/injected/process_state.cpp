#include "collector/injected/process_state.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "collector/injected/text_table.h"
#include "collector/ticks.h"

namespace pleat::collector {
namespace {

constexpr std::uint64_t kProcessSlots = 65'536;  // 2 MiB of definitions
constexpr std::uint64_t kFewestSlots = 512;
constexpr int kRangeIdBits = 42;  // of 64; above them the process id
constexpr std::uint64_t kFirstSchemaId = 1ULL << 33;

// In mapped memory, where no leak checker of the program looks. Zero is the initial value.
struct Interned {
    TextTable ids;
    std::uint32_t lastId;
    TextTable domains;
    std::uint16_t lastDomain;
    bool recorded[kMaximumDomains];
};

// Zero is a valid initial value of every member.
struct State {
    pthread_mutex_t lock;  // guards everything below but the atomics
    std::atomic<bool> ready;
    std::atomic<std::uint64_t> generation;  // the process id
    std::uint64_t image;                    // RingHeader::image
    std::atomic<std::uint32_t> threads;
    std::atomic<std::uint64_t> schemas, ranges;
    RingProducer definitions;
    Interned* interned;
};

State* mapState() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    static_assert(sizeof(State) <= 4096);
    (void)madvise(memory, page, MADV_WIPEONFORK);
    return static_cast<State*>(memory);
}

State* mapped() {
    static State* const state = mapState();
    return state;
}

class Locked {
  public:
    explicit Locked(State& state) : m_state(state) { pthread_mutex_lock(&m_state.lock); }
    ~Locked() { pthread_mutex_unlock(&m_state.lock); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

  private:
    State& m_state;
};

void define(State& state, Record record, std::string_view text, std::string_view payload = {}) {
    if (!state.definitions.attached()) return;
    text = text.substr(0, kMaximumTextBytes);
    payload = payload.substr(0, kMaximumPayloadBytes);
    if (!state.definitions.fits(slotsOf(text.size(), payload.size()))) {
        RingProducer::count(state.definitions.header().droppedEvents);
        return;
    }
    record.ticks = readTicks(state.definitions.header().tickSource);
    record.textBytes = static_cast<std::uint16_t>(text.size());
    record.payloadBytes = static_cast<std::uint16_t>(payload.size());
    state.definitions.write(record, text, payload);
}

TickSource tickSource() {
    const char* source = getenv("PLEAT_TICKS");
    return source != nullptr && std::strcmp(source, "counter") == 0 ? TickSource::Counter
                                                                    : TickSource::Monotonic;
}

bool domainWanted(std::string_view name) {
    const char* wanted = getenv("PLEAT_DOMAINS");
    if (wanted == nullptr) return true;
    for (std::string_view list = wanted;;) {
        const std::size_t comma = list.find(',');
        if (list.substr(0, comma) == name) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
}

// The process ring of whoever ran `introduce` last: after a fork the parent's, which the child
// still maps. What is published in it is whole, whatever the parent's threads were doing.
RingHeader* s_definitions = nullptr;

void adopt(State& state, const Record& record, std::string_view text) {
    Interned& interned = *state.interned;
    // Without memory a text gets another number when it is used again.
    if (record.kind == RecordKind::String) {
        (void)interned.ids.add(text, record.name);
        interned.lastId = std::max(interned.lastId, record.name);
    } else if (record.kind == RecordKind::Domain) {
        (void)interned.domains.add(text, record.domain);
        interned.lastDomain = std::max(interned.lastDomain, record.domain);
        interned.recorded[record.domain] = domainWanted(text);
    } else if (record.kind == RecordKind::Schema) {
        state.schemas.fetch_add(1, std::memory_order_relaxed);
    }
}

// Defines anew what the parent of a forked child had defined, under the same ids.
void copyDefinitions(State& state, RingHeader& parent) {
    RingProducer ring;
    ring.attach(&parent);
    const std::uint64_t end = parent.written.load(std::memory_order_acquire);
    for (std::uint64_t at = 0; at < end;) {
        Record record;
        std::memcpy(&record, ring.slot(at), sizeof record);
        // The process ring is never drained, so nothing in it wraps around.
        const auto* const bytes = reinterpret_cast<const char*>(ring.slot(at)) + kRecordBytes;
        const std::string_view text(bytes, record.textBytes);
        const std::string_view payload(bytes + record.textBytes, record.payloadBytes);
        at += slotsOf(record.textBytes, record.payloadBytes);
        if (record.kind != RecordKind::String && record.kind != RecordKind::Domain &&
            record.kind != RecordKind::Schema && record.kind != RecordKind::Category)
            continue;
        define(state, record, text, payload);
        adopt(state, record, text);
    }
}

// The rank that the environment says: torchrun gives each process its own RANK; what MPI and Slurm
// say also reaches what runs beneath the process they started, so it is marked (kOfLauncher).
template <std::size_t N>
void writeRank(char (&text)[N]) {
    if (const char* rank = getenv("RANK"); rank != nullptr) {
        snprintf(text, N, "%s", rank);
        return;
    }
    for (const char* name :
         {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"}) {
        const char* rank = getenv(name);
        if (rank == nullptr) continue;
        snprintf(text, N, "%c%s", kOfLauncher, rank);
        return;
    }
}

// False where there is not even memory for that.
bool introduce(State& state) {
    state.interned = static_cast<Interned*>(mapMemory(sizeof(Interned)));
    if (state.interned == nullptr) return false;
    state.interned->recorded[kDefaultDomain] = getenv("PLEAT_DOMAINS") == nullptr;
    RingHeader* const ring = makeRing(RingKind::Process, 0, kProcessSlots);
    if (ring != nullptr) state.definitions.attach(ring);
    char program[256] = {};
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char rank[32] = {};
    writeRank(rank);
    Record record;
    record.kind = RecordKind::ProcessInfo;
    record.value = static_cast<std::uint64_t>(getppid());
    define(state, record,
           std::string_view(program, length > 0 ? static_cast<std::size_t>(length) : 0), rank);
    RingHeader* const inherited = std::exchange(s_definitions, ring);
    if (inherited == nullptr) return true;
    copyDefinitions(state, *inherited);
    munmap(inherited, kRingHeaderBytes + inherited->capacity * kRecordBytes);
    return true;
}

// The state of this process, introduced to the recorder at its first use; also in a forked child.
State* ready() {
    State* state = mapped();
    if (state == nullptr) return nullptr;
    if (state->ready.load(std::memory_order_acquire)) return state;
    const Locked locked(*state);
    if (!state->ready.load(std::memory_order_relaxed)) {
        const auto pid = static_cast<std::uint64_t>(getpid());
        state->generation.store(pid, std::memory_order_relaxed);
        state->ranges.store(pid << kRangeIdBits, std::memory_order_relaxed);
        state->image = static_cast<std::uint64_t>(readClock(CLOCK_MONOTONIC));
        if (!introduce(*state)) return nullptr;
        state->ready.store(true, std::memory_order_release);
    }
    return state;
}

// For callers that hold no lock.
void defineNow(const Record& record, std::string_view text, std::string_view payload = {}) {
    State* state = ready();
    if (state == nullptr) return;
    const Locked locked(*state);
    define(*state, record, text, payload);
}

}  // namespace

bool recorderPresent() {
    static const bool present = getenv("PLEAT_RING_DIR") != nullptr;
    return present && mapped() != nullptr;
}

namespace {

// May a file of this process have so many bytes? Beyond its limit the kernel would kill the
// process.
bool withinFileLimit(std::size_t bytes) {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           bytes <= limit.rlim_cur;
}

// An empty file that tells the recorder what the process cannot tell through a ring.
void leaveMark(const char* folder, std::int64_t pid, std::uint32_t number, int error) {
    char path[512];
    std::snprintf(path, sizeof path, "%s/%lld-%u-%d.failed", folder, static_cast<long long>(pid),
                  number, error);
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
}

// Shared memory of a new file; null with errno.
void* mapRing(const char* path, std::size_t bytes) {
    if (!withinFileLimit(bytes)) return errno = EFBIG, nullptr;
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return nullptr;
    // Reserved first: on a full tmpfs a bare mapping would die of SIGBUS at its first touch.
    int error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
    void* memory = error == 0 ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_POPULATE, file, 0)
                              : MAP_FAILED;
    if (error == 0 && memory == MAP_FAILED) error = errno;
    close(file);
    if (memory != MAP_FAILED) return memory;
    unlink(path);
    errno = error;
    return nullptr;
}

}  // namespace

RingHeader* makeRing(RingKind kind, std::uint32_t number, std::uint64_t slots) {
    const char* folder = getenv("PLEAT_RING_DIR");
    if (folder == nullptr) return nullptr;
    const auto pid = static_cast<std::int64_t>(getpid());
    char path[512];
    const std::uint64_t image = mapped()->image;
    std::snprintf(path, sizeof path, "%s/%lld-%llu-%u.new", folder, static_cast<long long>(pid),
                  static_cast<unsigned long long>(image), number);
    void* memory = mapRing(path, kRingHeaderBytes + slots * kRecordBytes);
    while (memory == nullptr && slots / 8 >= kFewestSlots) {
        slots /= 8;
        memory = mapRing(path, kRingHeaderBytes + slots * kRecordBytes);
    }
    if (memory == nullptr) {
        leaveMark(folder, pid, number, errno);
        return nullptr;
    }
    auto* header = new (memory) RingHeader{};
    header->version = kRingVersion;
    header->kind = kind;
    header->capacity = slots;
    header->tickSource = tickSource();
    header->threadNumber = number;
    header->pid = pid;
    header->image = image;
    header->tid = syscall(SYS_gettid);
    pthread_getname_np(pthread_self(), header->threadName, sizeof header->threadName);
    header->magic = kRingMagic;
    // The recorder looks only at *.ring, so it never sees a header that is half written.
    char finished[sizeof path + 1];
    std::snprintf(finished, sizeof finished, "%.*s.ring", static_cast<int>(std::strlen(path)) - 4,
                  path);
    rename(path, finished);
    return header;
}

InternedText internText(std::string_view text, TextUse use) {
    State* state = ready();
    if (state == nullptr) return {};
    text = text.substr(0, kMaximumTextBytes);
    const Locked locked(*state);
    Interned& interned = *state->interned;
    if (const auto* known = interned.ids.find(text)) return {known->id, known->text};
    // Further names travel with their events; the last eighth is for schemas and the exit.
    const std::uint64_t capacity =
        state->definitions.attached() ? state->definitions.capacity() : 0;
    const std::uint64_t room = use == TextUse::Event ? capacity / 4 * 3 : capacity / 8 * 7;
    const bool fits = state->definitions.attached() &&
                      state->definitions.written() + slotsOf(text.size(), 0) <= room;
    const auto* entry = fits ? interned.ids.add(text, interned.lastId + 1) : nullptr;
    if (entry == nullptr) {
        if (use == TextUse::Handle && state->definitions.attached())
            RingProducer::count(state->definitions.header().droppedEvents);
        return {};
    }
    interned.lastId = entry->id;
    Record record;
    record.kind = RecordKind::String;
    record.name = entry->id;
    define(*state, record, text);
    return {entry->id, entry->text};
}

std::uint16_t defineDomain(std::string_view name) {
    State* state = ready();
    if (state == nullptr) return kIgnoredDomain;
    const Locked locked(*state);
    if (const auto* known = state->interned->domains.find(name))
        return static_cast<std::uint16_t>(known->id);
    const auto number = static_cast<std::uint16_t>(state->interned->lastDomain + 1);
    Record record;
    if (number >= kMaximumDomains) {
        record.kind = RecordKind::DomainRefused;
        define(*state, record, name);
        return kIgnoredDomain;
    }
    // Without memory the name is defined again when it is used again.
    (void)state->interned->domains.add(name, number);
    state->interned->lastDomain = number;
    state->interned->recorded[number] = domainWanted(name);
    record.kind = RecordKind::Domain;
    record.domain = number;
    define(*state, record, name);
    return number;
}

bool isRecorded(std::uint16_t domain) {
    State* state = ready();
    return state != nullptr && domain < kMaximumDomains && state->interned->recorded[domain];
}

void defineSchema(std::uint64_t id, std::string_view layout) {
    Record record;
    record.kind = RecordKind::Schema;
    record.value = id;
    defineNow(record, {}, layout);
}

void defineCategory(std::uint16_t domain, std::uint32_t category, std::string_view name) {
    Record record;
    record.kind = RecordKind::Category;
    record.domain = domain;
    record.category = category;
    defineNow(record, name);
}

void defineThreadName(std::int64_t threadId, std::string_view name) {
    Record record;
    record.kind = RecordKind::ThreadName;
    record.value = static_cast<std::uint64_t>(threadId);
    defineNow(record, name);
}

void sayGoodbye() {
    State* state = mapped();
    // Only a process that recorded something has anything to close.
    if (state == nullptr || !state->ready.load(std::memory_order_acquire)) return;
    const Locked locked(*state);
    Record record;
    record.kind = RecordKind::Exit;
    define(*state, record, {});
}

std::uint32_t nextThreadNumber() {
    return ready()->threads.fetch_add(1, std::memory_order_relaxed) + 1;
}
std::uint64_t nextSchemaId() {
    return kFirstSchemaId + ready()->schemas.fetch_add(1, std::memory_order_relaxed);
}
std::uint64_t nextRangeId() { return ready()->ranges.fetch_add(1, std::memory_order_relaxed) + 1; }

void countDroppedEvent() {
    State* state = ready();
    if (state == nullptr || !state->definitions.attached()) return;
    const Locked locked(*state);
    RingProducer::count(state->definitions.header().droppedEvents);
}

std::uint64_t generation() {
    State* state = ready();
    return state == nullptr ? 0 : state->generation.load(std::memory_order_relaxed);
}

}  // namespace pleat::collector
