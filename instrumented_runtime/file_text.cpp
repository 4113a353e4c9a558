#include "instrumented_runtime/file_text.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace pleat::runtime {

base::Result<std::string> readFileOf(const std::string& option, const std::string& file) {
    const auto failure = [&](int reason) {
        return base::Error{base::ErrorCode::Usage, fmt::format("{} {}: cannot be read: {}", option,
                                                               file, std::strerror(reason))};
    };
    // C's files give errno for a folder; the stream library throws.
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"),
                                                                 &std::fclose);
    if (!stream) return failure(errno);
    std::string text;
    std::array<char, 65536> part{};
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), stream.get())) {
        text.append(part.data(), count);
    }
    if (std::ferror(stream.get()) != 0) return failure(errno);
    return text;
}

}  // namespace pleat::runtime
