#include "base/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace pleat::base {
namespace {

constexpr std::size_t kMostTextBytes = 64 << 20;

}  // namespace

Result<std::string> readTextFile(const std::string& file) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) {
        return Error{ErrorCode::Io, fmt::format("{}: is a directory, not a file", file)};
    }
    if (std::filesystem::is_fifo(file, ignored) || std::filesystem::is_socket(file, ignored)) {
        return Error{
            ErrorCode::Io,
            fmt::format("{}: is a pipe, but a regular file is needed, because it is read twice",
                        file)};
    }
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        return Error{ErrorCode::Io,
                     fmt::format("{}: cannot be read: {}", file, std::strerror(errno))};
    }
    std::string text(kMostTextBytes + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kMostTextBytes) {
        return Error{ErrorCode::Input, fmt::format("{}: exceeds the {} MiB limit for such files",
                                                   file, kMostTextBytes >> 20)};
    }
    return text;
}

}  // namespace pleat::base
