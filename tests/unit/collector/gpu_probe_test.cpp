// The probe with a CUPTI that answers what a test wants, in this process and in the child; and once
// with what this machine has.
#include "collector/gpu_probe.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pleat::collector {
namespace {

// Counts who holds the subscriber.
struct MadeCupti {
    int subscribeResult = 0;
    int versionResult = 0;
    int subscribed = 0;
    int unsubscribed = 0;
    void* given = nullptr;

    CuptiFunctions functions() {
        return {[this](std::uint32_t* version) {
                    *version = 120'400;
                    return versionResult;
                },
                [this](void** subscriber) {
                    if (subscribeResult != 0) return subscribeResult;
                    ++subscribed;
                    *subscriber = this;
                    return 0;
                },
                [this](void* subscriber) {
                    ++unsubscribed;
                    given = subscriber;
                    return 0;
                }};
    }
};

GpuFacts ask(MadeCupti& cupti, bool driver) {
    GpuFacts facts;
    facts.driver = driver;
    facts.cupti = true;
    askCupti(cupti.functions(), facts, [](const GpuFacts&) {});
    return facts;
}

GpuAvailability availabilityOf(int subscribeResult, bool driver, const char* otherTool = nullptr) {
    MadeCupti cupti;
    cupti.subscribeResult = subscribeResult;
    return gpuAvailability(ask(cupti, driver), otherTool);
}

bool says(const GpuAvailability& gpu, const std::string& words) {
    return gpu.words.find(words) != std::string::npos;
}

TEST(GpuProbe, ASubscriberIsGivenBackOnceAndNeverHeld) {
    MadeCupti cupti;
    const GpuFacts facts = ask(cupti, true);
    EXPECT_EQ(facts.subscribed, 0);
    EXPECT_EQ(cupti.subscribed, 1);
    EXPECT_EQ(cupti.unsubscribed, 1);
    EXPECT_EQ(cupti.given, &cupti);

    MadeCupti refuses;
    refuses.subscribeResult = 39;
    EXPECT_EQ(ask(refuses, true).subscribed, 39);
    EXPECT_EQ(refuses.unsubscribed, 0);
}

// bad-inputs 54
TEST(GpuProbe, AnotherSubscriberIsNamedWithWhatToDo) {
    for (const int result : {39, 12}) {
        const GpuAvailability gpu = availabilityOf(result, false, "/opt/nsys/libinjection.so");
        EXPECT_EQ(gpu.state, "unavailable:" + std::to_string(result));
        EXPECT_TRUE(gpu.notable);
        for (const char* words : {"another tool", "nsys, ncu or torch.profiler", "can be imported",
                                  "CUDA_INJECTION64_PATH is /opt/nsys/libinjection.so"})
            EXPECT_TRUE(says(gpu, words)) << words << ": " << gpu.words;
    }
    EXPECT_FALSE(says(availabilityOf(39, true), "CUDA_INJECTION64_PATH"));
}

// bad-inputs 59
TEST(GpuProbe, TheVersionIsKnownWhetherOrNotSubscribingWorks) {
    for (const int result : {0, 39, 999}) {
        MadeCupti cupti;
        cupti.subscribeResult = result;
        EXPECT_EQ(ask(cupti, true).cuptiVersion, 120'400U) << result;
    }
    MadeCupti unknown;
    unknown.versionResult = 1;
    EXPECT_EQ(ask(unknown, true).cuptiVersion, std::nullopt);
}

TEST(GpuProbe, EveryAnswerHasAStateAndOneLineOfWords) {
    struct Case {
        int result;
        const char *state, *words;
    };
    const Case cases[] = {{0, "available:not_recorded", "import a trace"},
                          {2, "unavailable:2", "LD_LIBRARY_PATH"},
                          {15, "unavailable:15", "nvidia-smi"},
                          {35, "unavailable:35", "NVreg_RestrictProfilingToAdminUsers=0"},
                          {40, "unavailable:40", "hypervisor"},
                          {41, "unavailable:41", "confidential"},
                          {43, "unavailable:43", "MIG"},
                          {999, "unavailable:999", "the NVIDIA driver does not respond"},
                          {7, "unavailable:7", "CUPTI error 7: see cupti_result.h"}};
    for (const Case& expected : cases) {
        const GpuAvailability gpu = availabilityOf(expected.result, true);
        EXPECT_EQ(gpu.state, expected.state);
        EXPECT_TRUE(says(gpu, expected.words)) << gpu.words;
        EXPECT_EQ(std::count(gpu.words.begin(), gpu.words.end(), '\n'), 0);
    }
}

TEST(GpuProbe, AMachineWithoutDriverOrToolHasNothingToMiss) {
    EXPECT_TRUE(availabilityOf(999, true).notable);
    EXPECT_FALSE(availabilityOf(999, false).notable);
    GpuFacts none;
    none.cupti = false;
    EXPECT_EQ(gpuAvailability(none, nullptr).state, "unavailable:no_cupti");
    EXPECT_FALSE(gpuAvailability(none, nullptr).notable);
    none.driver = true;
    EXPECT_TRUE(gpuAvailability(none, nullptr).notable);
    EXPECT_TRUE(says(gpuAvailability(none, nullptr), "set CUDA_HOME"));
}

TEST(GpuProbe, TheChildsAnswersArriveThroughThePipe) {
    GpuProbe probe([](const GpuFactsSink& publish) {
        MadeCupti cupti;
        GpuFacts facts;
        facts.driver = true;
        facts.cupti = true;
        askCupti(cupti.functions(), facts, publish);
    });
    const GpuFacts facts = probe.facts();
    EXPECT_TRUE(facts.driver);
    EXPECT_EQ(facts.cuptiVersion, 120'400U);
    EXPECT_EQ(facts.subscribed, 0);
}

TEST(GpuProbe, ACrashCostsOnlyWhatWasNotYetKnown) {
    GpuProbe probe([](const GpuFactsSink& publish) {
        GpuFacts facts;
        facts.driver = true;
        publish(facts);
        kill(getpid(), SIGKILL);
    });
    const GpuFacts facts = probe.facts();
    EXPECT_TRUE(facts.driver);
    EXPECT_EQ(facts.subscribed, std::nullopt);
    EXPECT_EQ(gpuAvailability(facts, nullptr).state, "unavailable:no_answer");
    EXPECT_TRUE(gpuAvailability(facts, nullptr).notable);
}

TEST(GpuProbe, AHangEndsAtTheLimit) {
    GpuProbe probe(
        [](const GpuFactsSink&) {
            for (;;) pause();
        },
        std::chrono::seconds(1));
    EXPECT_EQ(gpuAvailability(probe.facts(), nullptr).state, "unavailable:no_answer");
}

TEST(GpuProbe, AnExceptionEndsInTheChild) {
    GpuProbe probe([](const GpuFactsSink&) { throw 1; });
    EXPECT_EQ(probe.facts().subscribed, std::nullopt);
}

TEST(GpuProbe, ThisMachineGivesAnAnswer) {
    GpuProbe probe;
    const GpuFacts facts = probe.facts();
    if (facts.driver) GTEST_SKIP() << "a GPU driver is here; what it answers is not known";
    ASSERT_TRUE(facts.cupti.has_value());
    EXPECT_EQ(gpuAvailability(facts, nullptr).state,
              *facts.cupti ? "unavailable:999" : "unavailable:no_cupti");
    EXPECT_EQ(facts.cuptiVersion.has_value(), *facts.cupti);
}

}  // namespace
}  // namespace pleat::collector
