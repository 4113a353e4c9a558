#include "instrumented_runtime/environment.h"

#include <gtest/gtest.h>

#include <map>

namespace pleat::runtime {
namespace {

base::Result<std::optional<RankEnvironment>> read(std::map<std::string, std::string> variables) {
    return readEnvironment(
        [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
        });
}

TEST(Environment, NothingMeansNoLauncher) {
    const auto environment = read({{"HOME", "/root"}});
    ASSERT_TRUE(environment);
    EXPECT_FALSE(environment->has_value());
}

TEST(Environment, TorchrunsNamesAreRead) {
    const auto environment = read(
        {{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "10.0.0.7"}, {"MASTER_PORT", "1234"}});
    ASSERT_TRUE(environment && *environment);
    EXPECT_EQ((*environment)->rank, 3);
    EXPECT_EQ((*environment)->worldSize, 8);
    EXPECT_EQ((*environment)->masterAddress, "10.0.0.7");
    EXPECT_EQ((*environment)->masterPort, 1234);
}

TEST(Environment, OneRankOfOneIsARankWhenSaidSo) {
    const auto environment = read({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
    ASSERT_TRUE(environment && *environment);
    EXPECT_EQ((*environment)->worldSize, 1);
}

TEST(Environment, MpirunAndSrunNamesAreRead) {
    for (const auto& [rank, size] :
         std::map<std::string, std::string>{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                            {"PMI_RANK", "PMI_SIZE"},
                                            {"SLURM_PROCID", "SLURM_NTASKS"},
                                            {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}) {
        const auto environment = read({{rank, "1"}, {size, "2"}});
        ASSERT_TRUE(environment && *environment) << rank;
        EXPECT_EQ((*environment)->rank, 1);
        EXPECT_EQ((*environment)->worldSize, 2);
        EXPECT_EQ((*environment)->masterAddress, "127.0.0.1");
    }
}

TEST(Environment, ABatchScriptsShellIsNoRank) {
    const auto environment =
        read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_NUM_TASKS", "1"}});
    ASSERT_TRUE(environment);
    EXPECT_FALSE(environment->has_value());
}

TEST(Environment, TorchrunsNamesComeBeforeSlurms) {
    const auto environment =
        read({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}});
    ASSERT_TRUE(environment && *environment);
    EXPECT_EQ((*environment)->worldSize, 2);
}

TEST(Environment, NonsenseIsNamed) {
    const std::map<std::string, std::string> cases[] = {{{"RANK", "two"}, {"WORLD_SIZE", "4"}},
                                                        {{"RANK", "4"}, {"WORLD_SIZE", "4"}},
                                                        {{"RANK", "-1"}, {"WORLD_SIZE", "4"}},
                                                        {{"RANK", ""}, {"WORLD_SIZE", "4"}},
                                                        {{"RANK", "1x"}, {"WORLD_SIZE", "4"}}};
    for (const auto& variables : cases) {
        const auto environment = read(variables);
        ASSERT_FALSE(environment);
        EXPECT_EQ(environment.error().code, base::ErrorCode::Usage);
        EXPECT_NE(environment.error().message.find("RANK is '" + variables.at("RANK") + "'"),
                  std::string::npos);
    }
    EXPECT_FALSE(read({{"RANK", "0"}}));
    EXPECT_FALSE(read({{"RANK", "0"}, {"WORLD_SIZE", "0"}}));
    EXPECT_FALSE(read({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "70000"}}));
}

}  // namespace
}  // namespace pleat::runtime
