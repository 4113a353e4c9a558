#include "importers/rank_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace pleat::importers {
namespace {

namespace fs = std::filesystem;
using trace::RankId;

base::Error refuse(const fs::path& file, std::string_view why) {
    return {base::ErrorCode::Input, fmt::format("{}: {}", file.string(), why)};
}

// Where a number from the person would help; `numbers` is an example of what to give the file.
base::Error askForNumbers(const fs::path& file, std::string message, std::string_view numbers) {
    return {base::ErrorCode::Input, std::move(message),
            base::Advice{base::Advice::Setting::RankNumbers,
                         fmt::format("{}={}", file.string(), numbers)}};
}

// One process that may be a rank, with the ranks that stand for its devices.
struct Process {
    std::vector<RankId> devices;
};

// The processes of a file that may be ranks, in local order.
struct Candidates {
    const ReadFile* file = nullptr;
    std::vector<Process> processes;
};

std::string listed(const std::vector<std::string>& items) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i)
        text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
    return text;
}

class Numbers {
  public:
    Numbers(std::span<const ReadFile> files, const GivenRanks& given, trace::TraceBuilder& builder)
        : m_files(files), m_given(given), m_builder(builder), m_hasLane(builder.ranks().size()) {
        for (const trace::Lane& lane : builder.lanes()) m_hasLane[lane.rank.index()] = true;
    }

    base::Result<void> run() {
        for (const ReadFile& file : m_files) m_candidates.push_back(candidatesOf(file));
        if (const auto taken = takeGiven(); !taken) return taken;
        takeCommunicators();
        if (const auto named = takeFileNames(); !named) return named;
        guessByOrder();
        for (const Candidates& of : m_candidates) placeByFileName(of);
        return checkTwice();
    }

  private:
    [[nodiscard]] trace::Rank& rank(RankId id) { return m_builder.ranks()[id]; }
    [[nodiscard]] std::int32_t numberOf(const Process& process) {
        return rank(process.devices.front()).number;
    }
    void number(const Process& process, std::int32_t number) {
        for (const RankId id : process.devices) rank(id).number = number;
    }

    // A file of one process is about that process, whatever it did. Of several those are ranks that
    // worked on a device or say that they are: others are launchers and helpers.
    Candidates candidatesOf(const ReadFile& file) {
        std::map<std::tuple<std::string, std::int64_t, std::int32_t>, Process> several;
        std::vector<Process> all;
        for (std::size_t i = file.firstRank; i < file.lastRank; ++i) {
            const trace::Rank& at = rank(RankId::at(i));
            if (at.oneOfSeveralDevices) {
                several[{at.host, at.pid, at.number}].devices.push_back(RankId::at(i));
            } else {
                all.push_back({{RankId::at(i)}});
            }
        }
        for (auto& [key, process] : several) all.push_back(std::move(process));
        Candidates candidates{&file, {}};
        for (Process& process : all) {
            const trace::Rank& first = rank(process.devices.front());
            if (all.size() == 1 || first.number >= 0 || first.device.starts_with("cuda:"))
                candidates.processes.push_back(std::move(process));
        }
        // What the caller numbers are ranks though they do not say so.
        if (candidates.processes.empty() && m_given.contains(file.path)) {
            for (Process& process : all)
                if (m_hasLane[process.devices.front().index()])
                    candidates.processes.push_back(std::move(process));
        }
        sortLocally(candidates.processes);
        return candidates;
    }

    static std::int32_t ordinalOf(const trace::Rank& rank) {
        std::int32_t ordinal = -1;
        if (rank.device.starts_with("cuda:"))
            std::from_chars(rank.device.data() + 5, rank.device.data() + rank.device.size(),
                            ordinal);
        return ordinal;
    }

    // By device where each has its own; where all see theirs as device 0, a launcher that starts
    // one after another gives them ascending ids.
    void sortLocally(std::vector<Process>& processes) {
        std::set<std::int32_t> ordinals;
        for (const Process& process : processes)
            ordinals.insert(ordinalOf(rank(process.devices.front())));
        const bool byDevice = ordinals.size() == processes.size();
        const auto keyOf = [&](const Process& process) -> std::int64_t {
            const trace::Rank& first = rank(process.devices.front());
            return byDevice ? ordinalOf(first) : first.pid;
        };
        std::stable_sort(processes.begin(), processes.end(),
                         [&](const Process& a, const Process& b) { return keyOf(a) < keyOf(b); });
    }

    base::Result<void> takeGiven() {
        for (const Candidates& of : m_candidates) {
            const auto given = m_given.find(of.file->path);
            if (given == m_given.end()) continue;
            const std::vector<std::int32_t>& numbers = given->second;
            const std::size_t count = of.processes.size();
            if (count == 0)
                return refuse(of.file->path,
                              "has no process that could be a rank, so it cannot be numbered");
            if (numbers.size() > 1 && numbers.size() != count) {
                return refuse(of.file->path,
                              fmt::format("has {} rank{}, but {} numbers are given for it", count,
                                          count == 1 ? "" : "s", numbers.size()));
            }
            for (std::size_t i = 0; i < count; ++i)
                number(of.processes[i], numbers.size() > 1
                                            ? numbers[i]
                                            : numbers.front() + static_cast<std::int32_t>(i));
        }
        return {};
    }

    // Where all that lack a number are members of one communicator, it is that of the run.
    void takeCommunicators() {
        std::vector<std::pair<const Process*, std::int32_t>> places;
        std::set<std::string> communicators;
        std::set<std::int32_t> taken;
        for (const Candidates& of : m_candidates) {
            for (const Process& process : of.processes) {
                if (numberOf(process) >= 0) {
                    taken.insert(numberOf(process));
                    continue;
                }
                const auto place = of.file->facts.communicators.find(process.devices.front());
                if (place == of.file->facts.communicators.end()) return;
                communicators.insert(place->second.id);
                if (place->second.rank < 0 || place->second.rank >= place->second.size) return;
                places.emplace_back(&process, static_cast<std::int32_t>(place->second.rank));
            }
        }
        if (communicators.size() != 1) return;
        for (const auto& [process, place] : places)
            if (!taken.insert(place).second) return;
        for (const auto& [process, place] : places) {
            number(*process, place);
            m_builder.diagnostics().add(
                "rank_of_communicator",
                fmt::format("process {} does not give its rank; it is rank {} of the communicator "
                            "that all processes share",
                            rank(process->devices.front()).pid, place));
        }
    }

    // Of files of one rank; all that do not say theirs are named in one line.
    base::Result<void> takeFileNames() {
        std::vector<std::string> unknown;
        for (const Candidates& of : m_candidates) {
            if (of.processes.size() != 1 || numberOf(of.processes.front()) >= 0) continue;
            const bool alone = m_files.size() == 1;
            const std::int32_t named =
                numberInFileName(of.file->path, "rank").value_or(alone ? 0 : -1);
            if (named < 0) {
                unknown.push_back(of.file->path.string());
                continue;
            }
            number(of.processes.front(), named);
            m_builder.diagnostics().add("rank_guessed",
                                        fmt::format("{} does not give its rank; taken as {}",
                                                    of.file->path.string(), named));
        }
        if (unknown.empty()) return {};
        if (unknown.size() == 1) {
            return askForNumbers(unknown.front(),
                                 fmt::format("{}: neither the file nor its name gives its rank; "
                                             "number it",
                                             unknown.front()),
                                 "N");
        }
        return askForNumbers(unknown.front(),
                             fmt::format("{}: neither the files nor their names give their ranks; "
                                         "number each",
                                         listed(unknown)),
                             "0");
    }

    // Files of several ranks in the order of their nodes, where all tell it, else as given.
    [[nodiscard]] std::vector<Candidates*> inOrderOfNodes() {
        std::vector<Candidates*> order;
        std::map<std::int32_t, Candidates*> byNode;
        for (Candidates& of : m_candidates) {
            const bool lacks = std::any_of(of.processes.begin(), of.processes.end(),
                                           [&](const Process& p) { return numberOf(p) < 0; });
            if (!lacks) continue;
            order.push_back(&of);
            const auto node =
                of.file->facts.node ? of.file->facts.node : numberInFileName(of.file->path, "node");
            if (node) byNode.try_emplace(*node, &of);
        }
        if (byNode.size() != order.size()) return order;
        order.clear();
        for (const auto& [node, of] : byNode) order.push_back(of);
        return order;
    }

    void guessByOrder() {
        std::set<std::int32_t> taken;
        for (const Candidates& of : m_candidates)
            for (const Process& process : of.processes) taken.insert(numberOf(process));
        const std::vector<Candidates*> order = inOrderOfNodes();
        const bool byDevice = m_files.size() == 1 && taken.size() == 1;
        std::int32_t next = 0;
        for (Candidates* of : order) {
            for (const Process& process : of->processes) {
                if (numberOf(process) >= 0) continue;
                const std::int32_t ordinal = ordinalOf(rank(process.devices.front()));
                const bool ofDevice = byDevice && ordinal >= 0 && !taken.contains(ordinal);
                while (!ofDevice && taken.contains(next)) ++next;
                const std::int32_t guess = ofDevice ? ordinal : next;
                taken.insert(guess);
                number(process, guess);
                m_builder.diagnostics().add(
                    "rank_guessed",
                    fmt::format("process {} of {} does not give its rank; taken as {}, {}",
                                rank(process.devices.front()).pid, of->file->path.string(), guess,
                                ofDevice ? "its device's number"
                                         : "by the order of the files and of their devices or "
                                           "processes (docs/importing.md: how to number them)"));
            }
        }
    }

    // Some programs write a file per rank and name it by where the rank lies: run-dp0-pp1.json.
    void placeByFileName(const Candidates& of) {
        if (of.processes.size() != 1) return;
        for (const RankId id : of.processes.front().devices) {
            trace::Coordinates& at = rank(id).coordinates;
            const std::pair<const char*, std::int32_t&> places[] = {
                {"dp", at.dp}, {"pp", at.pp}, {"tp", at.tp}, {"ep", at.ep}, {"cp", at.cp}};
            for (const auto& [name, coordinate] : places) {
                const auto number = numberInFileName(of.file->path, name);
                if (coordinate >= 0 || !number) continue;
                coordinate = *number;
                m_builder.diagnostics().add(
                    "coordinates_guessed",
                    fmt::format(
                        "{} does not give its rank's position; taken as {} {} from its name",
                        of.file->path.string(), name, *number));
            }
        }
    }

    base::Result<void> checkTwice() {
        std::map<std::int32_t, const Candidates*> ofNumber;
        for (const Candidates& of : m_candidates) {
            for (const Process& process : of.processes) {
                const std::int32_t number = numberOf(process);
                if (number < 0) continue;
                const auto [other, isNew] = ofNumber.try_emplace(number, &of);
                if (isNew) continue;
                const fs::path& file = of.file->path;
                if (other->second == &of) {
                    return askForNumbers(file,
                                         fmt::format("{}: two of its processes claim to be rank "
                                                     "{}; number each",
                                                     file.string(), number),
                                         "0,1,...");
                }
                const bool several = of.processes.size() > 1;
                return askForNumbers(
                    file,
                    fmt::format("{}: holds rank {}, and so does {}; renumber one of them{}",
                                file.string(), number, other->second->file->path.string(),
                                several ? ", by its first rank (N) or by all (4,5,6,7)" : ""),
                    "N");
            }
        }
        return {};
    }

    const std::span<const ReadFile> m_files;
    const GivenRanks& m_given;
    trace::TraceBuilder& m_builder;
    std::vector<bool> m_hasLane;  // by RankId: something of it was recorded
    std::vector<Candidates> m_candidates;
};

}  // namespace

base::Result<void> numberRanks(std::span<const ReadFile> files, const GivenRanks& given,
                               trace::TraceBuilder& builder) {
    return Numbers(files, given, builder).run();
}

std::optional<std::int32_t> numberInFileName(const fs::path& file, std::string_view word) {
    std::string name = file.filename().string();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (std::size_t at = name.rfind(word); at != std::string::npos;
         at = at == 0 ? std::string::npos : name.rfind(word, at - 1)) {
        if (at > 0 && std::isalpha(static_cast<unsigned char>(name[at - 1])) != 0 &&
            word.size() < 4)
            continue;  // "temp3" is no "mp3"; a word as long as "rank" may end another
        std::size_t digit = at + word.size();
        while (digit < name.size() && (name[digit] == '_' || name[digit] == '-')) ++digit;
        std::int32_t number = 0;
        const auto [end, error] =
            std::from_chars(name.data() + digit, name.data() + name.size(), number);
        if (error == std::errc() && end != name.data() + digit) return number;
    }
    return std::nullopt;
}

}  // namespace pleat::importers
