import numpy as np
from one_model import one_model

PLACE = np.arange(60)
FORECAST = (PLACE * 37 % 53 + 1) / 55  # seven forecasts stand twice
HARD = ((PLACE * 29) % 47 / 47 < FORECAST).astype(float)
SOFT = np.round((FORECAST + (PLACE * 17 % 31) / 31) / 2, 2)
TIMES = 2 + PLACE % 4  # How often each item stands where the reference weighs it by half of that


def two_labels(outcomes, times=1):
    """The forecasts above against sixty outcomes, hard or soft, each item so often."""
    return one_model(np.repeat(FORECAST, times), np.repeat(outcomes, times))


def simulated(seed=0, items=300, power=1.0, soft=False):
    """Forecasts that are calibrated at power 1, with one outcome or five votes for each."""
    rng = np.random.default_rng(seed)
    forecast = np.round(rng.beta(1, 1, items), 3)
    chance = forecast**power
    outcome = (rng.random(items) < chance).astype(float)
    if soft:
        outcome = rng.binomial(5, chance) / 5
    return one_model(forecast, outcome)
