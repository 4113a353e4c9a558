#include "store/trace_file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace pleat::store {
namespace {

// The parts of https://www.sqlite.org/fileformat2.html#the_database_header that say what a file is.
// The writer sets them before the file changes to WAL, so they are in the file itself.
constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
constexpr std::size_t kVersionOffset = 60;
constexpr std::size_t kApplicationOffset = 68;

struct Header {
    std::array<char, 72> bytes{};
    std::size_t size = 0;

    [[nodiscard]] bool isDatabase() const {
        return size == bytes.size() &&
               std::string_view(bytes.data(), kSqliteMagic.size()) == kSqliteMagic;
    }
    [[nodiscard]] std::uint32_t bigEndianAt(std::size_t offset) const {
        std::uint32_t value = 0;
        for (std::size_t i = offset; i < offset + 4; ++i)
            value = value << 8 | static_cast<unsigned char>(bytes[i]);
        return value;
    }
};

base::Error unusable(const std::filesystem::path& file, std::string_view why) {
    return {base::ErrorCode::Input, fmt::format("{}: {}", file.string(), why)};
}

base::Result<Header> readHeader(const std::filesystem::path& file) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return unusable(file, "no such file");
    if (std::filesystem::is_directory(file, ignored))
        return unusable(file, "is a directory, not a trace");
    if (!std::filesystem::is_regular_file(file, ignored))
        return unusable(file, "is not a regular file (it is a pipe or a device)");
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return unusable(file, fmt::format("cannot be read: {}", std::strerror(errno)));
    Header header;
    stream.read(header.bytes.data(), header.bytes.size());
    header.size = static_cast<std::size_t>(stream.gcount());
    return header;
}

base::Result<void> checkHeader(const std::filesystem::path& file) {
    const base::Result<Header> header = readHeader(file);
    if (!header) return header.error();
    if (header->size == 0) return unusable(file, "is empty");
    if (!header->isDatabase())
        return unusable(file, "is not a Pleat trace (*.pleat, a SQLite database)");
    if (header->bigEndianAt(kApplicationOffset) != kApplicationId)
        return unusable(file, "is a SQLite database, but not a Pleat trace");
    const std::uint32_t version = header->bigEndianAt(kVersionOffset);
    if (version > kSchemaVersion) {
        return unusable(
            file,
            fmt::format("has trace version {}, this Pleat reads version {}; use a newer Pleat",
                        version, kSchemaVersion));
    }
    if (version != kSchemaVersion) {
        return unusable(file, fmt::format("has trace version {}, which is not supported (this "
                                          "Pleat reads version {}); record or import it again",
                                          version, kSchemaVersion));
    }
    return {};
}

// The path as an SQLite URI that promises that nobody changes the file.
std::string immutableUri(const std::filesystem::path& file) {
    std::string uri = "file:";
    for (const char c : std::filesystem::absolute(file).string()) {
        if (c == '%' || c == '?' || c == '#') {
            uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
        } else {
            uri += c;
        }
    }
    return uri + "?immutable=1";
}

// An interrupted recording's file still asks for a write-ahead log. Where the log is gone (copied
// without it) and the folder cannot take a new one, the file alone is read.
bool mustReadAlone(const Database& database, const std::filesystem::path& file) {
    const int code = sqlite3_errcode(database.handle()) & 0xff;
    std::error_code ignored;
    return (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) &&
           !std::filesystem::exists(file.string() + "-wal", ignored);
}

}  // namespace

base::Result<Database> openTrace(const std::filesystem::path& file, Access access) {
    if (const auto checked = checkHeader(file); !checked) return checked.error();
    const bool reading = access == Access::Read;
    base::Result<Database> database =
        Database::open(file, reading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
    if (!database) return database;
    const auto probed = database->execute("select count(*) from sqlite_schema");
    if (!probed && reading && mustReadAlone(*database, file)) {
        return Database::open(immutableUri(file), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    }
    if (!probed) return probed.error();
    return database;
}

bool hasPleatHeader(const std::filesystem::path& file) {
    const base::Result<Header> header = readHeader(file);
    return header && header->isDatabase() &&
           header->bigEndianAt(kApplicationOffset) == kApplicationId;
}

}  // namespace pleat::store
