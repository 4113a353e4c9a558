#include "cli/trace_input.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "annotate/annotate.h"
#include "store/reader.h"

namespace pleat::cli {

base::Result<trace::Trace> openTrace(const std::filesystem::path& file) {
    base::Result<store::LoadedTrace> loaded = store::load(file);
    if (!loaded) return loaded.error();
    if (!loaded->finished) {
        fmt::print(stderr,
                   "pleat: {}: the recording is still running or was interrupted; this is what it "
                   "holds now\n",
                   file.string());
    }
    if (loaded->annotated) return std::move(loaded->trace);
    return annotate::annotate(loaded->trace);
}

}  // namespace pleat::cli
