// The bytes of a trace file, unpacked while they are read: plain, gzip or zstd, told apart by their
// first bytes. Memory does not depend on the size of the file. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pleat::importers {

class ByteSource {
  public:
    // Io error naming the file where it cannot be opened or is no file.
    [[nodiscard]] static base::Result<std::unique_ptr<ByteSource>> open(
        const std::filesystem::path& file);
    // What the file holds, by its first bytes: the file itself where it is not packed.
    [[nodiscard]] static std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> file,
                                                              std::string_view start);
    virtual ~ByteSource() = default;

    // Fills `buffer` as far as there are bytes and says how many; fewer than its size only at the
    // end. A file that cannot be read any further ends there, and so does a packed one that is cut
    // or damaged; damage() then says so.
    [[nodiscard]] virtual std::size_t read(std::span<char> buffer) = 0;
    [[nodiscard]] const std::string& damage() const { return m_damage; }
    // Bytes of the file itself, packed as they are, that were read so far.
    [[nodiscard]] std::uint64_t fileBytesRead() const { return m_fileBytesRead; }

  protected:
    std::string m_damage;
    std::uint64_t m_fileBytesRead = 0;
};

}  // namespace pleat::importers
