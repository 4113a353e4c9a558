#include "models/text.h"

#include "base/say.h"

namespace pleat::models {

QString shownText(std::string_view text, std::size_t mostBytes) {
    return QString::fromStdString(base::printable(text, mostBytes));
}

}  // namespace pleat::models
