// Whole SQLite files: a recording of Pleat's where the header says so, else an export of Nsight
// Systems.
#include <filesystem>
#include <utility>
#include <vector>

#include "fuzz/database.h"
#include "fuzz/properties.h"
#include "importers/import.h"
#include "store/reader.h"

namespace pleat::fuzz {

void useDatabase(const std::filesystem::path& file) {
    if (!store::isPleatFile(file)) {
        importers::ImportOptions options;
        options.threads = 1;
        const std::vector<std::filesystem::path> files{file};
        const auto trace = importers::importTraces(files, options);
        return trace ? annotateAndUse(*trace, false) : checkError(trace.error());
    }
    const auto loaded = store::load(file);
    if (!loaded) return checkError(loaded.error());
    if (loaded->annotated) useTrace(loaded->trace, false);
    annotateAndUse(loaded->trace, false);
}

void databaseFile(Bytes bytes) {
    const std::filesystem::path file = scratchFile("database");
    writeScratch(file, bytes);
    useDatabase(file);
}

}  // namespace pleat::fuzz
