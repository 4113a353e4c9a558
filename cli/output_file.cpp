#include "cli/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace pleat::cli {
namespace {

namespace fs = std::filesystem;

base::Error cannotWrite(const std::string& file, const char* why) {
    return {base::ErrorCode::Io, fmt::format("{}: cannot be written: {}", file, why)};
}

}  // namespace

base::Result<OutputFile> OutputFile::open(const std::string& file) {
    if (file.empty() || file == "-") return OutputFile(stdout, "standard output", "");
    std::error_code ignored;
    const fs::file_status status = fs::status(file, ignored);
    if (fs::is_directory(status)) return cannotWrite(file, "it is a directory");
    if (fs::exists(status) && access(file.c_str(), W_OK) != 0)
        return cannotWrite(file, std::strerror(errno));
    // A device or a pipe takes the pieces as they come.
    const bool direct = fs::exists(status) && !fs::is_regular_file(status);
    // A link stays a link: the file it leads to is replaced.
    const bool link = !direct && fs::is_symlink(file, ignored);
    const std::string place = link ? fs::weakly_canonical(file, ignored).string() : file;
    const std::string partial = direct ? "" : fmt::format("{}.{}.partial", place, getpid());
    std::FILE* stream = std::fopen(direct ? place.c_str() : partial.c_str(), "wb");
    if (stream == nullptr) return cannotWrite(file, std::strerror(errno));
    return OutputFile(stream, place, partial);
}

OutputFile::~OutputFile() {
    if (m_stream != nullptr) (void)abandon(0);
}

base::Result<void> OutputFile::write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), m_stream.get()) != text.size())
        return cannotWrite(m_file, std::strerror(errno));
    return {};
}

base::Result<void> OutputFile::finish() {
    if (std::fflush(m_stream.get()) != 0) return cannotWrite(m_file, std::strerror(errno));
    if (m_stream.get() == stdout) return {};
    // Some file systems say only now that they could not keep it.
    if (std::fclose(m_stream.release()) != 0) return abandon(errno);
    if (!m_partial.empty() && std::rename(m_partial.c_str(), m_file.c_str()) != 0)
        return abandon(errno);
    return {};
}

base::Error OutputFile::abandon(int reason) const {
    std::error_code ignored;
    if (!m_partial.empty()) fs::remove(m_partial, ignored);
    return cannotWrite(m_file, std::strerror(reason));
}

base::Result<void> writeText(std::string_view text, const std::string& file) {
    base::Result<OutputFile> output = OutputFile::open(file);
    if (!output) return output.error();
    if (const auto written = output->write(text); !written) return written;
    return output->finish();
}

}  // namespace pleat::cli
