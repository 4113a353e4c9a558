// The layering of the project, checked on the sources themselves: who may include whom, which
// third-party names may stand where, and the size of files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pleat {
namespace {

namespace fs = std::filesystem;

struct Layer {
    std::string folder;                // below the source tree
    std::set<std::string> mayInclude;  // first part of an include path, its own apart
    std::set<std::string> thirdParty;  // first part or whole name of an include in angle brackets
};

// One row per part, lowest first. fmt and the standard library are allowed in every source file.
const std::map<std::string, Layer> kLayers = {
    {"base", {"core/base", {}, {}}},
    {"schedule", {"core/schedule", {"base"}, {}}},
    {"trace", {"core/trace", {"base", "schedule"}, {"nlohmann"}}},
    {"store", {"core/store", {"base", "schedule", "trace"}, {"sqlite3.h"}}},
    {"importers",
     {"analyzer/importers",
      {"base", "schedule", "trace", "store"},
      {"nlohmann", "simdjson.h", "sqlite3.h", "zlib.h", "zstd.h"}}},
    {"annotate", {"analyzer/annotate", {"base", "schedule", "trace"}, {"nlohmann", "pcre2.h"}}},
    {"opening",
     {"analyzer/opening", {"base", "schedule", "trace", "store", "importers", "annotate"}, {}}},
    {"graph", {"analyzer/graph", {"base", "schedule", "trace"}, {}}},
    {"analysis", {"analyzer/analysis", {"base", "schedule", "trace", "annotate", "graph"}, {}}},
    {"advise", {"analyzer/advise", {"base", "schedule"}, {}}},
    {"report",
     {"analyzer/report",
      {"base", "schedule", "trace", "annotate", "graph", "analysis"},
      {"nlohmann"}}},
    {"collector", {"collector", {"base", "trace", "store"}, {"nvtx3"}}},
    {"runtime",
     {"instrumented_runtime",
      {"base", "schedule"},
      {"nvtx3", "torch", "c10", "ATen", "gloo", "CLI"}}},
    {"cli",
     {"cli",
      {"base", "schedule", "trace", "store", "opening", "annotate", "graph", "analysis", "report",
       "collector"},
      {"CLI", "nlohmann"}}},
    {"timeline", {"gui/timeline", {"base", "schedule", "trace"}, {"pcre2.h"}}},
    {"models",
     {"gui/models",
      {"base", "schedule", "trace", "store", "annotate", "opening", "graph", "analysis", "report",
       "timeline"},
      {"Q"}}},
    {"widgets",
     {"gui/widgets",
      {"base", "schedule", "trace", "annotate", "graph", "analysis", "report", "opening",
       "timeline", "models"},
      {"Q"}}},
};

// Of these parts a part may include these headers only (docs/decisions.md, 39).
const std::map<std::pair<std::string, std::string>, std::set<std::string>> kOnly = {
    {{"models", "report"},
     {"report/diff_report.h", "report/headline.h", "report/text_report.h", "report/text_writer.h",
      "report/units.h"}},
};

const std::set<std::string> kThirdParty = {
    "sqlite3.h",  "nlohmann", "nvtx3", "torch", "c10",     "ATen",   "gloo",   "CLI",
    "simdjson.h", "pcre2.h",  "fmt",   "Q",     "cupti.h", "nccl.h", "zlib.h", "zstd.h"};

std::vector<fs::path> sources(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const std::string extension = entry.path().extension();
        if (extension == ".h" || extension == ".cpp" || extension == ".c")
            files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::string> lines(const fs::path& file) {
    std::ifstream stream(file);
    std::vector<std::string> result;
    for (std::string line; std::getline(stream, line);) result.push_back(line);
    return result;
}

// Installed with the library: listed as HEADERS in its CMakeLists.txt; the others are internal.
bool isPublicHeader(const fs::path& file) {
    std::string headers;
    bool listed = false;
    for (const std::string& line : lines(file.parent_path() / "CMakeLists.txt")) {
        if (line.find("HEADERS ") != std::string::npos) listed = true;
        if (line.find("SOURCES ") != std::string::npos) listed = false;
        if (listed) headers += " " + line + " ";
    }
    return headers.find(" " + file.filename().string() + " ") != std::string::npos;
}

std::string firstPart(const std::string& path) { return path.substr(0, path.find('/')); }

// The library an include in the list of third parties belongs to; Qt's headers are named by class.
std::string libraryOf(const std::string& include) {
    static const std::regex qt("^Q[A-Zt]");
    return std::regex_search(include, qt) ? "Q" : firstPart(include);
}

fs::path root() { return PLEAT_SOURCE_DIR; }

TEST(Architecture, APartIncludesOnlyThePartsBelowIt) {
    const std::regex include(R"re(^\s*#include "([^"]+)")re");
    for (const auto& [name, layer] : kLayers) {
        for (const fs::path& file : sources(root() / layer.folder)) {
            for (const std::string& line : lines(file)) {
                std::smatch match;
                if (!std::regex_search(line, match, include)) continue;
                const std::string part = firstPart(match[1]);
                if (!kLayers.contains(part) || part == name) continue;
                EXPECT_TRUE(layer.mayInclude.contains(part))
                    << file << " must not include " << match[1];
                const auto only = kOnly.find({name, part});
                EXPECT_TRUE(only == kOnly.end() || only->second.contains(match[1]))
                    << file << " must not include " << match[1];
            }
        }
    }
}

TEST(Architecture, ThirdPartyNamesStandOnlyWhereTheyBelong) {
    const std::regex include(R"re(^\s*#include [<"]([^>"]+)[>"])re");
    for (const auto& [name, layer] : kLayers) {
        for (const fs::path& file : sources(root() / layer.folder)) {
            const bool publicCoreHeader = layer.folder.starts_with("core/") && isPublicHeader(file);
            for (const std::string& line : lines(file)) {
                std::smatch match;
                if (!std::regex_search(line, match, include)) continue;
                const std::string library = libraryOf(match[1]);
                if (!kThirdParty.contains(library)) continue;
                const bool allowed =
                    !publicCoreHeader && (library == "fmt" || layer.thirdParty.contains(library));
                EXPECT_TRUE(allowed) << file << " must not include " << match[1];
            }
        }
    }
}

TEST(Architecture, DocumentsThatAreNamedExist) {
    const std::regex document(R"((?:docs|schemas)/[a-z_]+\.(?:md|json|sql))");
    for (const std::string folder :
         {"core", "collector", "instrumented_runtime", "analyzer", "gui", "cli", "tests"}) {
        for (const fs::path& file : sources(root() / folder)) {
            for (const std::string& line : lines(file)) {
                std::smatch match;
                if (!std::regex_search(line, match, document)) continue;
                EXPECT_TRUE(fs::exists(root() / match.str())) << file << ": " << match.str();
            }
        }
    }
}

TEST(Architecture, FilesStayShortAndHeadersAreGuarded) {
    for (const std::string folder :
         {"core", "collector", "instrumented_runtime", "analyzer", "gui", "cli", "tests"}) {
        for (const fs::path& file : sources(root() / folder)) {
            const std::vector<std::string> text = lines(file);
            EXPECT_LT(text.size(), 600U) << file << " holds more than one idea";
            if (file.extension() != ".h") continue;
            EXPECT_NE(std::find(text.begin(), text.end(), "#pragma once"), text.end()) << file;
        }
    }
}

std::set<std::string> matches(const std::string& text, const std::regex& pattern, int group) {
    std::set<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
        found.insert((*at)[static_cast<std::size_t>(group)]);
    return found;
}

// Libraries serve the viewer as well, and each program has its own way to a setting (base::Advice).
// The text reports are written for the command line.
TEST(Architecture, NoLibraryNamesAnOptionOfTheCommandLine) {
    const std::regex option(R"re("(?:-o,)?(--[a-z-]+)")re"), literal(R"re("(?:[^"\\]|\\.)*")re"),
        word(R"re((--[a-z][a-z-]*)(?![a-z=-]))re");
    std::set<std::string> options;
    for (const fs::path& file : sources(root() / "cli"))
        for (const std::string& line : lines(file)) options.merge(matches(line, option, 1));
    ASSERT_TRUE(options.contains("--rank") && options.contains("--max-size"));
    for (const std::string folder :
         {"core", "collector", "analyzer/importers", "analyzer/annotate", "analyzer/opening",
          "analyzer/graph", "analyzer/analysis", "analyzer/advise"}) {
        for (const fs::path& file : sources(root() / folder)) {
            for (const std::string& line : lines(file)) {
                for (const std::string& text : matches(line, literal, 0))
                    for (const std::string& name : matches(text, word, 1))
                        EXPECT_FALSE(options.contains(name)) << file << ": " << text;
            }
        }
    }
}

TEST(Architecture, NoFolderIsAGrabBag) {
    for (const std::string folder :
         {"core", "collector", "instrumented_runtime", "analyzer", "gui", "cli"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
            const std::string name = entry.path().stem();
            for (const std::string_view forbidden :
                 {"utils", "util", "common", "misc", "helpers"}) {
                EXPECT_NE(name, forbidden) << entry.path();
            }
        }
    }
}

}  // namespace
}  // namespace pleat
