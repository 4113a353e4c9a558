#include "base/say.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace pleat::base {
namespace {

TEST(Printable, TextOfAFileCannotMoveTheTerminal) {
    EXPECT_EQ(printable("rank 3 \u00e4\u4e16"), "rank 3 \u00e4\u4e16");
    EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a\\nb\\x1b[31m\\x7f");
    EXPECT_EQ(printable("\xff cut \xe4\xb8"), "\\xff cut \\xe4\\xb8");
    EXPECT_EQ(printable("\xed\xa0\x80 \xc0\x80"), "\\xed\\xa0\\x80 \\xc0\\x80");
    EXPECT_EQ(printable("a\u202ebc\u2066d\u2010"), "a\\u202ebc\\u2066d\u2010");
    EXPECT_EQ(printable(std::string(100, 'x'), 14), "xxxxxxxxx…");
}

TEST(Utf8, CharactersAndTheExtentOfWhatIsNone) {
    const auto expect = [](std::string_view text, std::size_t length, std::size_t invalid) {
        const Utf8Prefix prefix = utf8Prefix(text);
        EXPECT_EQ(prefix.length, length) << text;
        if (length == 0) {
            EXPECT_EQ(prefix.invalid, invalid) << text;
        }
    };
    expect("a", 1, 0);
    expect("\xc3\xa4", 2, 0);
    expect("\xf4\x8f\xbf\xbf", 4, 0);
    expect("\xf4\x90\x80\x80", 0, 1);  // above U+10FFFF
    expect("\xe0\x80\x80", 0, 1);      // overlong
    expect("\xe4\xb8x", 0, 2);         // cut after two bytes
    expect("\x80", 0, 1);
}

}  // namespace
}  // namespace pleat::base
