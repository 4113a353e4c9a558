#include "collector/ring_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pleat::collector {

namespace {

bool known(RecordKind kind) {
    return (kind >= RecordKind::Push && kind <= RecordKind::Mark) ||
           (kind >= RecordKind::ProcessInfo && kind <= RecordKind::DomainRefused);
}

}  // namespace

base::Result<RingReader> RingReader::open(std::span<std::byte> file) {
    using base::Error;
    using base::ErrorCode;
    if (file.size() < kRingHeaderBytes) {
        return Error{ErrorCode::Input,
                     fmt::format("ring file of {} bytes: too short for its header of {} bytes",
                                 file.size(), kRingHeaderBytes)};
    }
    const auto* header = reinterpret_cast<const RingHeader*>(file.data());
    if (header->magic != kRingMagic) return Error{ErrorCode::Input, "not a Pleat ring file"};
    if (header->version != kRingVersion) {
        return Error{
            ErrorCode::Input,
            fmt::format("ring format {}, but this program reads {}; record and read with the "
                        "same version of Pleat",
                        header->version, kRingVersion)};
    }
    if (!std::has_single_bit(header->capacity) || header->capacity > (std::uint64_t{1} << 40)) {
        return Error{ErrorCode::Input,
                     fmt::format("ring file with an impossible capacity of {}", header->capacity)};
    }
    return RingReader(file);
}

RingReader::RingReader(std::span<std::byte> file)
    : m_header(reinterpret_cast<RingHeader*>(file.data())),
      m_slots(file.data() + kRingHeaderBytes),
      m_capacity(m_header->capacity),
      m_presentSlots(
          std::min<std::uint64_t>(m_capacity, (file.size() - kRingHeaderBytes) / kRecordBytes)),
      m_position(m_header->drained.load(std::memory_order_relaxed)),
      m_end(m_position) {}

void RingReader::observe() {
    // Acquire pairs with the producer's release: every record before `written` is complete.
    const std::uint64_t written = m_header->written.load(std::memory_order_acquire);
    if (m_corrupt) return;
    if (written < m_position || written - m_position > m_capacity) {
        m_corrupt = true;
        return;
    }
    m_end = written;
}

bool RingReader::present(std::uint64_t position, std::uint64_t slots) const {
    const std::uint64_t first = position & (m_capacity - 1);
    if (first + slots <= m_presentSlots) return true;
    return m_presentSlots == m_capacity;
}

std::optional<RingEvent> RingReader::next() {
    if (m_corrupt || m_position >= m_end || !present(m_position, 1)) return std::nullopt;
    RingEvent event;
    std::memcpy(&event.record, m_slots + (m_position & (m_capacity - 1)) * kRecordBytes,
                kRecordBytes);
    const std::uint64_t slots = slotsOf(event.record.textBytes, event.record.payloadBytes);
    if (!known(event.record.kind) || slots > m_end - m_position) {
        m_corrupt = true;
        return std::nullopt;
    }
    if (!present(m_position, slots)) return std::nullopt;
    const std::size_t count =
        static_cast<std::size_t>(event.record.textBytes) + event.record.payloadBytes;
    const std::string_view bytes = count == 0 ? std::string_view() : bytesAt(m_position + 1, count);
    event.text = bytes.substr(0, event.record.textBytes);
    event.payload = bytes.substr(event.record.textBytes);
    m_position += slots;
    return event;
}

std::string_view RingReader::bytesAt(std::uint64_t position, std::size_t count) {
    const std::size_t ringBytes = static_cast<std::size_t>(m_capacity * kRecordBytes);
    const std::size_t start =
        static_cast<std::size_t>((position & (m_capacity - 1)) * kRecordBytes);
    const char* base = reinterpret_cast<const char*>(m_slots);
    if (start + count <= ringBytes) return {base + start, count};
    m_joined.resize(count);
    const std::size_t first = ringBytes - start;
    std::memcpy(m_joined.data(), base + start, first);
    std::memcpy(m_joined.data() + first, base, count - first);
    return {m_joined.data(), count};
}

void RingReader::release() {
    // Release: the producer may overwrite what we have finished reading.
    m_header->drained.store(m_position, std::memory_order_release);
}

base::Result<MappedRing> MappedRing::open(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) {
        return base::Error{base::ErrorCode::Io, fmt::format("cannot open ring {}: {}",
                                                            file.string(), std::strerror(errno))};
    }
    struct stat status = {};
    void* address = MAP_FAILED;
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
        address = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE,
                       MAP_SHARED, descriptor, 0);
    }
    const int error = errno;
    ::close(descriptor);
    if (address == MAP_FAILED) {
        return base::Error{base::ErrorCode::Io,
                           status.st_size == 0 ? fmt::format("ring {} is empty", file.string())
                                               : fmt::format("cannot map ring {}: {}",
                                                             file.string(), std::strerror(error))};
    }
    return MappedRing({static_cast<std::byte*>(address), static_cast<std::size_t>(status.st_size)});
}

MappedRing::MappedRing(MappedRing&& other) noexcept : m_bytes(std::exchange(other.m_bytes, {})) {}

MappedRing& MappedRing::operator=(MappedRing&& other) noexcept {
    std::swap(m_bytes, other.m_bytes);
    return *this;
}

MappedRing::~MappedRing() {
    if (!m_bytes.empty()) munmap(m_bytes.data(), m_bytes.size());
}

}  // namespace pleat::collector
