#include "models/text.h"

#include <string>

#include "base/say.h"

namespace pleat::models {

QString shownText(std::string_view text, std::size_t mostBytes) {
    return QString::fromStdString(base::printable(text, mostBytes));
}

QString shownError(const base::Error& error) {
    constexpr std::size_t kMostErrorBytes = 4'000;
    std::string text = error.message;
    if (error.advice && error.advice->setting == base::Advice::Setting::RankNumbers)
        text += " (pleat view --rank " + error.advice->value + ")";
    return shownText(text, kMostErrorBytes);
}

}  // namespace pleat::models
