#include "collector/payload_layout.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pleat::collector {
namespace {

TEST(PayloadLayout, BecomesAFlatJsonObject) {
    struct {
        std::int32_t a = -2;
        std::uint16_t b = 65535;
        char c[6] = {'x', '"', '\n', 0, 'y', 0};
        double d = 0.25;
    } payload;
    const auto fields = parsePayloadLayout("i 0 4 a\nu 4 2 b\nt 6 6 c name\nf 16 8 d\n");
    ASSERT_EQ(fields.size(), 4U);
    std::string json = "{";
    appendPayloadMembers(json, fields, {reinterpret_cast<const char*>(&payload), sizeof payload});
    EXPECT_EQ(json, "{\"a\":-2,\"b\":65535,\"c name\":\"x\\\"\\u000a\",\"d\":0.25");
}

TEST(PayloadLayout, LinesThatDoNotFitAndFieldsBeyondTheEndAreLeftOut) {
    EXPECT_TRUE(parsePayloadLayout("").empty());
    EXPECT_TRUE(
        parsePayloadLayout("x 0 4 a\ni 0\ni 0 3 odd\nf 0 2 half\nt 0 0 none\ni 0 4\n").empty());
    std::string json = "{";
    appendPayloadMembers(json, parsePayloadLayout("i 0 4 a\ni 4 8 b\nt 18446744073709551615 4 c\n"),
                         "1234567");
    EXPECT_EQ(json, "{\"a\":875770417");
}

}  // namespace
}  // namespace pleat::collector
