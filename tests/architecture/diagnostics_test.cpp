// docs/diagnostics.md lists every diagnostic once, as the registry has it, and nothing says one
// that is not said anywhere.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "base/diagnostics.h"

namespace pleat::base {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string page() {
    std::string text =
        "# Diagnostics\n\n"
        "What was repaired, dropped, guessed or could not be answered: `pleat report` and `pleat "
        "info` list it under \"Notes on the data\", the viewer\non its page *Diagnostics*, each "
        "trace in its table `diagnostic`. Every code comes with a count and its first example. "
        "Severities:\n`info` (nothing is lost: something was chosen or repaired), `data_loss` "
        "(something recorded is missing), `error` (a part of the answer\ncannot be given, or "
        "figures may be wrong).\n";
    constexpr std::array kTitles = {
        std::pair{DiagnosticOrigin::Recording, "While recording"},
        std::pair{DiagnosticOrigin::Reading, "While reading files"},
        std::pair{DiagnosticOrigin::Annotation, "While finding out what events mean"},
        std::pair{DiagnosticOrigin::Analysis, "While analysing"},
        std::pair{DiagnosticOrigin::Export, "While exporting"}};
    for (const auto& [origin, title] : kTitles) {
        text += fmt::format("\n## {}\n\n| code | severity | meaning |\n|---|---|---|\n", title);
        for (const DiagnosticKind& kind : kDiagnosticKinds) {
            if (kind.origin != origin) continue;
            text += fmt::format("| `{}` | {} | {} |\n", kind.code, toString(kind.severity),
                                kind.meaning);
        }
    }
    return text;
}

TEST(DiagnosticCodes, AreDocumentedExactly) {
    const fs::path file = fs::path(PLEAT_SOURCE_DIR) / "docs/diagnostics.md";
    if (std::getenv("PLEAT_UPDATE_GOLDEN") != nullptr) std::ofstream(file) << page();
    EXPECT_EQ(contents(file), page()) << "PLEAT_UPDATE_GOLDEN=1 writes it anew";
}

TEST(DiagnosticCodes, HaveOneKindEachAndAreSaidSomewhere) {
    std::string sources;
    for (const char* folder : {"core", "analyzer", "collector"}) {
        for (const auto& entry :
             fs::recursive_directory_iterator(fs::path(PLEAT_SOURCE_DIR) / folder)) {
            if (entry.path().extension() == ".cpp") sources += contents(entry.path());
        }
    }
    std::set<std::string_view> seen;
    for (const DiagnosticKind& kind : kDiagnosticKinds) {
        EXPECT_TRUE(seen.insert(kind.code).second) << kind.code << " is there twice";
        EXPECT_NE(sources.find(fmt::format("\"{}\"", kind.code)), std::string::npos)
            << kind.code << " is said nowhere";
    }
}

}  // namespace
}  // namespace pleat::base
