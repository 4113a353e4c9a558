// Output that comes in pieces, to a file or to standard output. A file appears under its name, and
// replaces what stood there, only when all of it is written; until then it lies beside it. What is
// not finished is removed again. One-line errors. One thread at a time.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace pleat::cli {

class OutputFile {
  public:
    // Standard output for "" and "-".
    [[nodiscard]] static base::Result<OutputFile> open(const std::string& file);
    OutputFile(OutputFile&&) = default;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    [[nodiscard]] base::Result<void> write(std::string_view text);
    [[nodiscard]] base::Result<void> finish();

  private:
    struct Close {
        void operator()(std::FILE* stream) const {
            if (stream != stdout) std::fclose(stream);
        }
    };
    OutputFile(std::FILE* stream, std::string file, std::string partial)
        : m_stream(stream), m_file(std::move(file)), m_partial(std::move(partial)) {}
    // Removes what was written; `reason` is an errno.
    [[nodiscard]] base::Error abandon(int reason) const;

    std::unique_ptr<std::FILE, Close> m_stream;  // null once finished
    std::string m_file;
    std::string m_partial;  // empty where pieces go straight to their place
};

// A whole text, to `file` or, where that is empty or "-", to standard output.
[[nodiscard]] base::Result<void> writeText(std::string_view text, const std::string& file);

}  // namespace pleat::cli
