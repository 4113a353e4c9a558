#!/usr/bin/env python3
"""Writes workshop.txt: a text of small sentences about a workshop, made from the lists below by a fixed seed.

It has structure on several scales (spelling, grammar, who does what), so a small model's loss falls visibly within a
few steps, and it is ours to ship. Usage: make_text.py > workshop.txt
"""
import random

PEOPLE = ["Ada", "Bruno", "Chiara", "Dmitri", "Edith", "Farid", "Greta", "Hugo"]
THINGS = ["the lathe", "the long bench", "a brass hinge", "the folding screen", "a cedar box", "the loom",
          "an iron frame", "the paper press", "a clock without hands", "the blue ladder"]
DEEDS = ["measures", "sands", "folds", "paints", "turns", "mends", "weighs", "carries", "polishes", "sketches"]
PLACES = ["by the window", "under the lamp", "near the stove", "in the yard", "on the upper floor",
          "behind the curtain", "at the end of the hall"]
TIMES = ["Before breakfast", "At noon", "When the rain stops", "After the bell", "Late in the evening",
         "On the first day of the week"]
JOINTS = ["and then", "while", "because", "until", "so that", "although"]
REMARKS = ["Nothing is thrown away.", "The work is passed from hand to hand.", "Nobody hurries.",
           "Each waits only for the piece it needs.", "The last one sweeps the floor.", "The door stays open."]


def clause(choose):
    return f"{choose(PEOPLE)} {choose(DEEDS)} {choose(THINGS)}"


def sentence(choose, number):
    if number % 7 == 6:
        return choose(REMARKS)
    if number % 3 == 0:
        return f"{choose(TIMES)} {clause(choose)} {choose(PLACES)}."
    return f"{clause(choose)} {choose(PLACES)} {choose(JOINTS)} {clause(choose)}."


def main():
    choose = random.Random(2023).choice
    size = 0
    number = 0
    while size < 60_000:
        line = " ".join(sentence(choose, number + k) for k in range(5))
        number += 5
        size += len(line) + 2
        print(line + "\n")


if __name__ == "__main__":
    main()
