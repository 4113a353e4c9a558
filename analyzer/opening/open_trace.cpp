#include "opening/open_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "annotate/annotate.h"
#include "annotate/rules.h"
#include "base/text_file.h"
#include "importers/import.h"
#include "store/reader.h"

namespace pleat::opening {
namespace {

namespace fs = std::filesystem;

base::Result<annotate::Rules> rulesOf(const OpenRequest& request) {
    if (request.rules.empty()) return annotate::Rules();
    const base::Result<std::string> text = base::readTextFile(request.rules);
    if (!text) return text.error();
    return annotate::Rules::parse(*text, request.rules);
}

base::Result<OpenedTrace> openRecording(const fs::path& file, const OpenRequest& request,
                                        const base::Progress& progress) {
    base::Result<store::LoadedTrace> loaded = store::load(file, progress);
    if (!loaded) return loaded.error();
    // Rules may say more than the recorder knew.
    if (loaded->annotated && request.rules.empty())
        return OpenedTrace{std::move(loaded->trace), file, loaded->finished};
    const auto rules = rulesOf(request);
    if (!rules) return rules.error();
    base::Result<trace::Trace> annotated = annotate::annotate(loaded->trace, *rules);
    if (!annotated) return annotated.error();
    return OpenedTrace{std::move(*annotated), file, loaded->finished};
}

base::Result<OpenedTrace> importFiles(std::span<const fs::path> files, const OpenRequest& request,
                                      const base::Progress& progress) {
    const auto rules = rulesOf(request);
    if (!rules) return rules.error();
    importers::ImportOptions options;
    options.ranks = request.ranks;
    options.progress = progress;
    base::Result<trace::Trace> imported = importers::importTraces(files, options);
    if (!imported) return imported.error();
    base::Result<trace::Trace> annotated =
        files.size() > 1 ? annotate::annotateOnOneClock(std::move(*imported), *rules)
                         : annotate::annotate(*imported, *rules);
    if (!annotated) return annotated.error();
    return OpenedTrace{std::move(*annotated), {}, true};
}

bool contains(const std::vector<fs::path>& files, const fs::path& file) {
    return std::find(files.begin(), files.end(), file) != files.end();
}

base::Error notAmongTheFiles(const fs::path& file) {
    return {base::ErrorCode::Usage,
            fmt::format("{}: a rank is given for it, but it is not among the files to read",
                        file.string())};
}

}  // namespace

base::Result<void> OpenRequest::addRank(std::string_view given) {
    const std::size_t equals = given.rfind('=');
    std::string_view digits =
        equals == std::string_view::npos ? std::string_view() : given.substr(equals + 1);
    std::vector<std::int32_t> numbers;
    for (bool more = true; more;) {
        std::int32_t number = -1;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), number);
        more = end != digits.data() + digits.size();
        if (error != std::errc() || number < 0 || (more && *end != ',')) {
            return base::Error{
                base::ErrorCode::Usage,
                fmt::format("{}: expected FILE=N, e.g. trace.json=3, or FILE=N,N,... "
                            "for a file of several ranks",
                            given)};
        }
        numbers.push_back(number);
        digits.remove_prefix(static_cast<std::size_t>(end - digits.data()) + (more ? 1 : 0));
    }
    ranks[given.substr(0, equals)] = std::move(numbers);
    return {};
}

base::Result<void> OpenRequest::mayWriteTo(const fs::path& output) const {
    const auto isOutput = [&](const fs::path& file) {
        std::error_code ignored;
        return fs::equivalent(file, output, ignored);
    };
    const auto read = importers::traceFiles(files);
    const bool isTrace = read && std::any_of(read->begin(), read->end(), isOutput);
    if (!isTrace && (rules.empty() || !isOutput(rules))) return {};
    return base::Error{base::ErrorCode::Usage,
                       fmt::format("{}: is {}; give the output another name", output.string(),
                                   isTrace ? "the trace itself" : "the rules file")};
}

std::string OpenRequest::name() const {
    if (files.empty()) return {};
    if (files.size() == 1) return files.front().string();
    return fmt::format("{} and {} more", files.front().string(), files.size() - 1);
}

base::Result<void> shareRanks(const OpenRequest& given, std::span<OpenRequest* const> runs) {
    for (const auto& [file, numbers] : given.ranks) {
        bool taken = false;
        for (OpenRequest* const run : runs) {
            const auto files = importers::traceFiles(run->files);
            if (!files) return files.error();
            if (!contains(*files, file)) continue;
            run->ranks[file] = numbers;
            taken = true;
        }
        if (!taken) return notAmongTheFiles(file);
    }
    return {};
}

base::Result<OpenedTrace> openTrace(const OpenRequest& request, const base::Progress& progress) {
    const auto files = importers::traceFiles(request.files);
    if (!files) return files.error();
    for (const auto& [file, numbers] : request.ranks)
        if (!contains(*files, file)) return notAmongTheFiles(file);
    const auto isRecording = [](const fs::path& file) { return store::isPleatFile(file); };
    const auto recordings = std::count_if(files->begin(), files->end(), isRecording);
    if (recordings > 0 && recordings < static_cast<std::ptrdiff_t>(files->size())) {
        const auto other = std::find_if_not(files->begin(), files->end(), isRecording);
        const auto recording = std::find_if(files->begin(), files->end(), isRecording);
        return base::Error{
            base::ErrorCode::Input,
            fmt::format("{}: is a *.pleat file and {} is not, so they cannot be read as one run; "
                        "use files of one kind, or import the others to *.pleat first",
                        recording->string(), other->string())};
    }
    const bool ours =
        files->size() == 1 && (recordings == 1 || files->front().extension() == ".pleat");
    return ours ? openRecording(files->front(), request, progress)
                : importFiles(*files, request, progress);
}

}  // namespace pleat::opening
