#include "cli/exit_status.h"

#include <fmt/format.h>

#include "base/exceptions.h"
#include "base/say.h"

namespace pleat::cli {
namespace {

const char* optionOf(base::Advice::Setting setting) {
    switch (setting) {
        case base::Advice::Setting::RankNumbers:
            return "--rank";
        case base::Advice::Setting::Rank:
            return "--of-rank";
    }
    return "";
}

}  // namespace

int fail(const base::Error& error) noexcept {
    const base::Result<void> said = base::contained([&] {
        std::string message = "pleat: " + error.message;
        if (error.advice) {
            message +=
                fmt::format(" ({} {})", optionOf(error.advice->setting), error.advice->value);
        }
        base::say(message);
    });
    if (!said) base::say("pleat: out of memory");
    return error.code == base::ErrorCode::Usage ? kWrongUsage : kUnusableInput;
}

int finish(const base::Result<void>& done) { return done ? kDone : fail(done.error()); }

}  // namespace pleat::cli
