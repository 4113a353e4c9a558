#include "cli/help.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

namespace pleat::cli {
namespace {

constexpr std::size_t kUsualWidth = 80, kNarrowest = 40, kWidestNames = 30;

std::size_t terminalWidth() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return std::max<std::size_t>(size.ws_col, kNarrowest);
    std::size_t columns = kUsualWidth;
    if (const char* const given = std::getenv("COLUMNS"))
        std::from_chars(given, given + std::strlen(given), columns);
    return std::max(columns, kNarrowest);
}

// Words of `text` in lines of at most `width`, each after the first behind `indent` spaces; the
// first begins at column `at`. A word that is too long has a line to itself. Ends the line.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t at) {
    std::istringstream words{std::string(text)};
    std::string result;
    bool first = true;
    for (std::string word; words >> word; first = false) {
        if (!first && at + 1 + word.size() > width) {
            result += "\n" + std::string(indent, ' ');
            at = indent;
        } else if (!first) {
            result += ' ';
            ++at;
        }
        result += word;
        at += word.size();
    }
    return result + "\n";
}

std::string paragraphs(const std::string& text) {
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);)
        result += line.starts_with("Example:") ? line + "\n" : wrapped(line, terminalWidth(), 0, 0);
    return result;
}

class Help : public CLI::Formatter {
  public:
    Help() {
        label("Positionals", "Arguments");
        label("SUBCOMMAND", "COMMAND");
    }

    std::string make_option(const CLI::Option* option, bool positional) const override {
        return entry(make_option_name(option, positional) + make_option_opts(option),
                     option->get_description());
    }
    std::string make_option_opts(const CLI::Option* option) const override {
        if (option->get_type_size() == 0) return "";  // a flag
        const std::string type = option->get_type_name();
        const bool required = option->get_required() && option->nonpositional();
        return (type.empty() ? "" : " " + type) + (required ? " (required)" : "");
    }
    std::string make_subcommand(const CLI::App* command) const override {
        return entry(command->get_name(), command->get_description());
    }
    std::string make_description(const CLI::App* app) const override {
        return paragraphs(app->get_description());
    }
    std::string make_footer(const CLI::App* app) const override {
        return paragraphs(app->get_footer());
    }

  private:
    // A name on the left, what it does on the right, below the name where that is long.
    static std::string entry(const std::string& name, const std::string& text) {
        const std::size_t width = terminalWidth();
        const std::size_t column = std::min(kWidestNames, width / 3);
        std::string line = "  " + name;
        if (line.size() + 2 > column)
            line += "\n" + std::string(column, ' ');
        else
            line.resize(column, ' ');
        return line + wrapped(text, width, column, column);
    }
};

}  // namespace

void useHelp(CLI::App& app) {
    app.formatter(std::make_shared<Help>());
    app.group("Commands");
}

}  // namespace pleat::cli
