#include "cli/text_file.h"

#include "cli/output_file.h"

namespace pleat::cli {

base::Result<void> writeText(std::string_view text, const std::string& file) {
    base::Result<OutputFile> output = OutputFile::open(file);
    if (!output) return output.error();
    if (const auto written = output->write(text); !written) return written;
    return output->finish();
}

}  // namespace pleat::cli
