// Text for programs, written piece by piece to a sink, so that an export needs no memory of its
// own: a buffer of about 64 KiB and the rules of JSON and CSV for text that may hold any bytes.
// After the sink refuses once nothing more is passed on; flush() hands back that error. One thread
// at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pleat::report {

using TextSink = std::function<base::Result<void>(std::string_view)>;

class TextWriter {
  public:
    explicit TextWriter(const TextSink& sink);  // the sink must outlive the writer

    TextWriter& raw(std::string_view text);
    TextWriter& number(std::int64_t value);
    // With quotes. Bytes that are not UTF-8 are replaced (U+FFFD).
    TextWriter& json(std::string_view text);
    // RFC 4180: quoted where it has to be. Bytes that are not UTF-8 are replaced.
    TextWriter& csv(std::string_view text);
    // Nanoseconds as microseconds with three decimals.
    TextWriter& microseconds(std::uint64_t ns);

    [[nodiscard]] bool failed() const { return !m_result.ok(); }
    [[nodiscard]] base::Result<void> flush();

  private:
    const TextSink& m_sink;
    std::string m_buffer;
    base::Result<void> m_result;
};

}  // namespace pleat::report
