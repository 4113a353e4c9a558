// The consumer's end of a ring (ring.h): events in the order they were written, for as far as they
// are whole. It trusts nothing it reads, because the mapping lies in another program's memory and
// the file may be cut: a cut tail ends the reading (it is not corruption), a record that cannot be
// is corruption and ends it too. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collector/ring.h"

namespace pleat::collector {

struct RingEvent {
    Record record;
    std::string_view text;     // valid until the next call and until release()
    std::string_view payload;  // blocks
};

class RingReader {
  public:
    // `file` is the whole file (mapped or read), or what is left of it; it must outlive the reader.
    [[nodiscard]] static base::Result<RingReader> open(std::span<std::byte> file);

    [[nodiscard]] const RingHeader& header() const { return *m_header; }
    // Lets next() read up to what is published now; events published later wait for the next call.
    void observe();
    // The next whole event up to the observed end; nothing at the end.
    [[nodiscard]] std::optional<RingEvent> next();
    // Gives the room of everything read so far back to the producer.
    void release();

    [[nodiscard]] bool corrupt() const { return m_corrupt; }
    // Records that are said to be written and cannot be read: behind a cut or a corrupt record.
    [[nodiscard]] std::uint64_t unreadableRecords() const { return m_end - m_position; }

  private:
    RingReader(std::span<std::byte> file);
    [[nodiscard]] bool present(std::uint64_t position, std::uint64_t slots) const;
    [[nodiscard]] std::string_view bytesAt(std::uint64_t position, std::size_t count);

    RingHeader* m_header;
    std::byte* m_slots;
    std::uint64_t m_capacity;
    std::uint64_t m_presentSlots;  // fewer than the capacity in a cut file
    std::uint64_t m_position;      // of the next record
    std::uint64_t m_end;           // observed
    bool m_corrupt = false;
    std::vector<char> m_joined;  // text and payload of an event that wraps around
};

// A ring file mapped for reading (and for giving room back). Owns the mapping; keeps it when the
// file is unlinked or its program dies.
class MappedRing {
  public:
    [[nodiscard]] static base::Result<MappedRing> open(const std::filesystem::path& file);
    MappedRing(MappedRing&& other) noexcept;
    MappedRing& operator=(MappedRing&& other) noexcept;
    ~MappedRing();
    [[nodiscard]] std::span<std::byte> bytes() const { return m_bytes; }

  private:
    explicit MappedRing(std::span<std::byte> bytes) : m_bytes(bytes) {}
    std::span<std::byte> m_bytes;
};

}  // namespace pleat::collector
