#include "models/cited_places.h"

#include <gtest/gtest.h>

#include "gui/gui_support.h"
#include "unit/timeline/made_trace.h"

namespace pleat::models {
namespace {

using timeline::MadeTrace;

Place placeOf(const trace::Trace& trace, const std::string& example) {
    const base::Diagnostic diagnostic{base::Severity::Info, "code", 1, example};
    return citedPlaces(trace, {&diagnostic, 1}).front();
}

class CitedPlaces : public ::testing::Test {
  protected:
    CitedPlaces() {
        MadeTrace made;
        made.addLane(made.addRank(2), {{100, 200, "gemm"}, {300, 400, "gemm"}, {500, 600, "1F0"}});
        made.addLane(made.addRank(5), {{100, 200, "gemm"}, {700, 800, "all \"reduce\""}});
        trace = made.build();
    }
    std::pair<std::int32_t, std::int64_t> rankAndStart(const std::string& example) {
        const Place place = placeOf(*trace, example);
        EXPECT_TRUE(place.event.valid()) << example;
        if (!place.event.valid()) return {-1, -1};
        return {place.rank, trace->event(place.event).span.begin.ns};
    }
    std::shared_ptr<const trace::Trace> trace;
};

TEST_F(CitedPlaces, AnEventIsFoundByItsName) {
    EXPECT_EQ(rankAndStart("\"gemm\" lasts too long"), (std::pair{2, std::int64_t{100}}));
    EXPECT_EQ(rankAndStart("the task \"1F0\" has no stage"), (std::pair{2, std::int64_t{500}}));
}

TEST_F(CitedPlaces, OfSeveralTheOneThatStartsThenOrIsOfThatRank) {
    EXPECT_EQ(rankAndStart("\"gemm\" at 300 ns lasts"), (std::pair{2, std::int64_t{300}}));
    EXPECT_EQ(rankAndStart("\"gemm\" of rank 5: twice"), (std::pair{5, std::int64_t{100}}));
    EXPECT_EQ(rankAndStart("\"gemm\" of rank 5, from 300 to 400 ns"),
              (std::pair{2, std::int64_t{300}}));
}

TEST_F(CitedPlaces, ANameThatWasCutIsFoundByItsBegin) {
    EXPECT_EQ(rankAndStart("\"all…\" of rank 5 has no partner"), (std::pair{5, std::int64_t{700}}));
    EXPECT_TRUE(placeOf(*trace, "\"xyz…\" has no partner").empty());
}

TEST_F(CitedPlaces, WithoutAnEventARankIsShown) {
    const Place place = placeOf(*trace, "rank 5 shares no collective with rank 2");
    EXPECT_FALSE(place.event.valid());
    EXPECT_EQ(place.rank, 5);
    EXPECT_TRUE(placeOf(*trace, "rank 77 is not there").empty());
}

TEST_F(CitedPlaces, AnIterationOnlyWhereItIsInTheTrace) {
    const trace::Trace folded = testing::foldedTrace();
    EXPECT_EQ(placeOf(folded, "iteration 1 has no optimizer").iteration, 1);
    EXPECT_EQ(placeOf(folded, "iteration 99 has none").iteration, -1);
}

TEST_F(CitedPlaces, OtherWordsLeadNowhere) {
    for (const char* example :
         {"", "\"", "\"no such event\"", "rank", "rank x", "iteration 99999999999999999999 of rank",
          "file.json: byte 100 is no JSON"})
        EXPECT_TRUE(placeOf(*trace, example).empty()) << example;
}

}  // namespace
}  // namespace pleat::models
