// Files of trace events, packed or not.
#include <filesystem>
#include <vector>

#include "fuzz/properties.h"
#include "importers/import.h"

namespace pleat::fuzz {

void traceEvents(Bytes bytes) {
    const std::filesystem::path file = scratchFile("trace.json");
    writeScratch(file, bytes);
    importers::ImportOptions options;
    options.threads = 1;
    const std::vector<std::filesystem::path> files{file};
    const auto trace = importers::importTraces(files, options);
    if (!trace) return checkError(trace.error());
    // Storing costs as much as all the rest, so not every time.
    annotateAndUse(*trace, bytes.size() % 8 == 0);
}

}  // namespace pleat::fuzz
