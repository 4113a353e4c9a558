#include "importers/byte_source.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace pleat::importers {
namespace {

constexpr std::size_t kPackedBytes = 256 * 1024;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

class PlainSource : public ByteSource {
  public:
    explicit PlainSource(File file) : m_file(std::move(file)) {}

    std::size_t read(std::span<char> buffer) override {
        const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), m_file.get());
        if (count < buffer.size() && std::ferror(m_file.get()) != 0)
            m_damage = fmt::format("reading failed: {}", std::strerror(errno));
        m_fileBytesRead += count;
        return count;
    }

  private:
    File m_file;
};

// What the two unpackers share: the packed bytes that are next.
class PackedSource : public ByteSource {
  public:
    explicit PackedSource(std::unique_ptr<ByteSource> file)
        : m_file(std::move(file)), m_packed(kPackedBytes) {}

    std::size_t read(std::span<char> buffer) override {
        std::size_t filled = 0;
        while (filled < buffer.size() && !m_ended) {
            if (m_begin == m_end) {
                m_begin = 0;
                m_end = m_file->read(m_packed);
                m_fileBytesRead += m_end;
            }
            if (exhausted() && !m_file->damage().empty()) {
                stop(m_file->damage());
            } else {
                filled += unpack(buffer.subspan(filled));
            }
        }
        return filled;
    }

  protected:
    // Unpacks what is there into `room`, says how many bytes came out; sets m_ended and m_damage.
    virtual std::size_t unpack(std::span<char> room) = 0;
    void stop(std::string damage) {
        m_ended = true;
        m_damage = std::move(damage);
    }
    [[nodiscard]] bool exhausted() const { return m_begin == m_end; }

    std::unique_ptr<ByteSource> m_file;
    std::vector<char> m_packed;
    std::size_t m_begin = 0, m_end = 0;
    bool m_ended = false;
};

class GzipSource : public PackedSource {
  public:
    explicit GzipSource(std::unique_ptr<ByteSource> file) : PackedSource(std::move(file)) {
        constexpr int kGzipOrZlib = 15 + 32;
        m_ready = inflateInit2(&m_stream, kGzipOrZlib) == Z_OK;
    }
    ~GzipSource() override { inflateEnd(&m_stream); }
    GzipSource(const GzipSource&) = delete;
    GzipSource& operator=(const GzipSource&) = delete;

  private:
    std::size_t unpack(std::span<char> room) override {
        if (!m_ready) return stop("not enough memory to unpack gzip"), 0;
        if (exhausted()) {
            if (!m_betweenMembers) return stop("the gzip data is cut off"), 0;
            return m_ended = true, 0;
        }
        m_stream.next_in = reinterpret_cast<Bytef*>(m_packed.data() + m_begin);
        m_stream.avail_in = static_cast<uInt>(m_end - m_begin);
        m_stream.next_out = reinterpret_cast<Bytef*>(room.data());
        m_stream.avail_out = static_cast<uInt>(std::min<std::size_t>(room.size(), 1U << 30));
        const uInt before = m_stream.avail_out;
        const int code = inflate(&m_stream, Z_NO_FLUSH);
        m_begin = m_end - m_stream.avail_in;
        m_betweenMembers = code == Z_STREAM_END;
        if (m_betweenMembers) {
            inflateReset(&m_stream);  // another member may follow
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            stop(fmt::format("the gzip data is damaged ({})",
                             m_stream.msg == nullptr ? "no reason given" : m_stream.msg));
        }
        return before - m_stream.avail_out;
    }

    z_stream m_stream{};
    bool m_ready = false;
    bool m_betweenMembers = false;
};

class ZstdSource : public PackedSource {
  public:
    explicit ZstdSource(std::unique_ptr<ByteSource> file)
        : PackedSource(std::move(file)), m_stream(ZSTD_createDStream()) {}
    ~ZstdSource() override { ZSTD_freeDStream(m_stream); }
    ZstdSource(const ZstdSource&) = delete;
    ZstdSource& operator=(const ZstdSource&) = delete;

  private:
    std::size_t unpack(std::span<char> room) override {
        if (exhausted()) {
            if (!m_betweenFrames) return stop("the zstd data is cut off"), 0;
            return m_ended = true, 0;
        }
        ZSTD_inBuffer in{m_packed.data() + m_begin, m_end - m_begin, 0};
        ZSTD_outBuffer out{room.data(), room.size(), 0};
        const std::size_t code = ZSTD_decompressStream(m_stream, &out, &in);
        m_begin += in.pos;
        if (ZSTD_isError(code) != 0)
            stop(fmt::format("the zstd data is damaged ({})", ZSTD_getErrorName(code)));
        m_betweenFrames = code == 0;
        return out.pos;
    }

    ZSTD_DStream* m_stream;
    bool m_betweenFrames = false;
};

}  // namespace

base::Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::filesystem::path& file) {
    std::error_code failed;
    const auto refuse = [&](std::string_view why) {
        return base::Error{base::ErrorCode::Io, fmt::format("{}: {}", file.string(), why)};
    };
    if (std::filesystem::is_directory(file, failed)) return refuse("is a folder, not a file");
    if (std::filesystem::exists(file, failed) && !std::filesystem::is_regular_file(file, failed))
        return refuse("is not a regular file (it is a pipe or a device)");
    File handle(std::fopen(file.c_str(), "rb"));
    if (handle == nullptr) return refuse(fmt::format("cannot be opened: {}", std::strerror(errno)));
    char magic[4] = {};
    const std::size_t count = std::fread(magic, 1, sizeof magic, handle.get());
    std::rewind(handle.get());
    return unpacked(std::make_unique<PlainSource>(std::move(handle)), {magic, count});
}

std::unique_ptr<ByteSource> ByteSource::unpacked(std::unique_ptr<ByteSource> file,
                                                 std::string_view start) {
    if (start.starts_with("\x1f\x8b")) return std::make_unique<GzipSource>(std::move(file));
    if (start.starts_with("\x28\xb5\x2f\xfd")) return std::make_unique<ZstdSource>(std::move(file));
    return file;
}

}  // namespace pleat::importers
