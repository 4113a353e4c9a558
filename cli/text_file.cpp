#include "cli/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace pleat::cli {

base::Result<std::string> readTextFile(const std::string& file) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) {
        return base::Error{base::ErrorCode::Io,
                           fmt::format("{}: is a directory, not a file", file)};
    }
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        return base::Error{base::ErrorCode::Io,
                           fmt::format("{}: cannot be read: {}", file, std::strerror(errno))};
    }
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

base::Result<void> writeText(std::string_view text, const std::string& file) {
    if (file.empty()) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return {};
    }
    std::ofstream stream(file, std::ios::binary | std::ios::trunc);
    stream << text;
    stream.close();
    if (!stream) {
        return base::Error{base::ErrorCode::Io,
                           fmt::format("{}: cannot be written: {}", file, std::strerror(errno))};
    }
    return {};
}

}  // namespace pleat::cli
