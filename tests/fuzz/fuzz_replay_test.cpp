// Every file of the fuzzers' corpora through the function it was made for: the seeds, and what was
// found with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/fuzz_targets.h"
#include "support/temporary_folder.h"

namespace pleat::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> corpusOf(const Target& target) {
    std::vector<fs::path> files;
    const fs::path folder = fs::path(PLEAT_SOURCE_DIR) / "tests/fuzz/corpus" / target.name;
    for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

class FuzzReplay : public ::testing::TestWithParam<Target> {};

TEST_P(FuzzReplay, TheCorpusBreaksNothing) {
    const std::vector<fs::path> files = corpusOf(GetParam());
    EXPECT_FALSE(files.empty());
    for (const fs::path& file : files) {
        SCOPED_TRACE(file.string());
        const std::string bytes = test::readBytes(file);
        EXPECT_NO_THROW(
            GetParam().run({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}));
    }
    EXPECT_NO_THROW(GetParam().run({}));
}

INSTANTIATE_TEST_SUITE_P(All, FuzzReplay, ::testing::ValuesIn(kTargets),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace pleat::fuzz
