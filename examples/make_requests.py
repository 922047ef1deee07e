"""Writes ``requests.csv``: an hour of requests to a chat service that looks like the real thing and is nobody's.

Arrivals follow a Poisson process whose rate swells and falls over the hour; token counts come from mixtures whose
means and quantiles are those of published chat traces (prompts: short questions, conversations near a thousand
tokens, long documents up to a context limit; answers: short ones and ones near a length limit). Run it again with the
same seed and the file is the same to the byte:

    python examples/make_requests.py
"""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

SEED = 2027
START = datetime(2026, 11, 12, 17, 0, tzinfo=UTC)
SECONDS = 3600
#: Mean requests per second, and how far the rate swells in the middle of the hour.
RATE, SWELL = 5.4, 0.30
#: Weight, median and spread (of the logarithm) of the parts of prompts, and of answers.
PROMPTS = ((0.45, 330.0, 0.55), (0.37, 1090.0, 0.10), (0.10, 2100.0, 0.35), (0.08, 4085.0, 0.03))
ANSWERS = ((0.63, 92.0, 0.50), (0.36, 405.0, 0.10), (0.01, 700.0, 0.20))
LONGEST_PROMPT, LONGEST_ANSWER = 14_000, 1_000


def mixture(parts: tuple[tuple[float, float, float], ...], count: int, generator: np.random.Generator) -> np.ndarray:
    """Draw from a mixture of log-normal parts."""
    weights = np.array([part[0] for part in parts])
    which = generator.choice(len(parts), size=count, p=weights / weights.sum())
    medians, spreads = (np.array([part[index] for part in parts])[which] for index in (1, 2))
    return medians * np.exp(spreads * generator.standard_normal(count))


def arrivals(generator: np.random.Generator) -> np.ndarray:
    """Arrival times in seconds, by thinning a faster process."""
    highest = RATE * (1 + SWELL)
    count = generator.poisson(highest * SECONDS)
    times = np.sort(generator.uniform(0.0, SECONDS, count))
    rate = RATE * (1 + SWELL * np.sin(np.pi * (times / SECONDS * 2 - 0.5)))
    return times[generator.uniform(0.0, highest, count) < rate]


def main() -> None:
    """Write the file."""
    generator = np.random.default_rng(SEED)
    times = arrivals(generator)
    prompts = np.clip(mixture(PROMPTS, len(times), generator), 2, LONGEST_PROMPT).round().astype(int)
    answers = np.clip(mixture(ANSWERS, len(times), generator), 7, LONGEST_ANSWER).round().astype(int)
    path = Path(__file__).with_name("requests.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("TIMESTAMP", "ContextTokens", "GeneratedTokens"))
        for time, prompt, answer in zip(times, prompts, answers, strict=True):
            moment = START + timedelta(seconds=round(float(time), 3))
            writer.writerow((moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3], prompt, answer))


if __name__ == "__main__":
    main()
