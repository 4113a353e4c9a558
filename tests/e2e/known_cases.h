// The runs of known duration that the analysis is tried on: for each a base run, what is made slow
// in it, which answers name that, and the question whose answer is the base run's time.
#pragma once

#include <string>
#include <vector>

namespace pleat::test {

struct KnownCase {
    std::string name;
    std::vector<std::string> base;       // arguments of known_run
    std::vector<std::string> injection;  // added to them
    std::vector<std::string> culprits;   // keys of which one must stand first
    std::vector<std::string> removal;  // options of `pleat whatif` on the run with the injection…
    std::vector<std::string> removed;  // …that predict known_run with `base` and these
    std::vector<std::string> addition;  // on the base run: predict the injected; empty: no key can
    bool inShortSet = false;
};

[[nodiscard]] std::vector<KnownCase> knownCases();

}  // namespace pleat::test
