"""Golden cases of what is composed, written as a function, or follows a metric."""

import math

from torch.optim import lr_scheduler as lrs

from reference import STEPS, case_of, optimizer_of, timm_case, timm_module


def warmup():
    timm_step, timm_poly = timm_module("step_lr").StepLRScheduler, timm_module("poly_lr").PolyLRScheduler

    def steps(name, base, warm, start, every, gamma):
        def make(optimizer):
            return timm_step(optimizer, every, gamma, warm, start, warmup_prefix=True, t_in_epochs=False)

        return timm_case(
            name, base, make, warmup=warm, start_value=start, then="step", every=every, gamma=gamma
        )

    def poly(name, base, warm, start, length, power):
        def make(optimizer):
            return timm_poly(
                optimizer,
                length,
                power,
                warmup_t=warm,
                warmup_lr_init=start,
                warmup_prefix=True,
                t_in_epochs=False,
            )

        return timm_case(
            name, base, make, warmup=warm, start_value=start, then="polynomial", length=length, power=power
        )

    return [
        steps("Step", 0.1, 50, 0.001, 90, 0.1),
        steps("LongStep", 3e-3, 333, 0.0, 50, 0.5),
        steps("OneStep", 1.0, 1, 0.5, 100, 0.3),
        poly("Poly", 0.05, 100, 0.01, 400, 2.0),
        poly("ShortPoly", 1e-4, 20, 1e-6, 300, 0.5),
    ]


def _composed(make):
    """Each part as (torch's, settings); both compositions take these."""
    return {
        "linear": lambda o: lrs.LinearLR(o, 0.1, 1.0, 100),
        "constant": lambda o: lrs.ConstantLR(o, 0.5, 40),
        "exponential": lambda o: lrs.ExponentialLR(o, 0.99),
        "step": lambda o: lrs.StepLR(o, 60, 0.5),
        "multi_step": lambda o: lrs.MultiStepLR(o, [50, 120], 0.3),
        "polynomial": lambda o: lrs.PolynomialLR(o, 140, 2.0),
        "cosine": lambda o: lrs.CosineAnnealingLR(o, 550),
    }[make]


def sequential():
    def case(name, base, parts, milestones):
        def make(optimizer):
            return lrs.SequentialLR(optimizer, [_composed(part)(optimizer) for part in parts], milestones)

        return case_of(name, base, make, parts=",".join(parts), milestones=",".join(map(str, milestones)))

    return [
        case("WarmThenFall", 0.1, ["linear", "exponential"], [100]),
        case("Three", 3e-3, ["constant", "linear", "step"], [50, 180]),
        case("Cosine", 1.0, ["linear", "cosine"], [100]),
        case("Four", 0.05, ["multi_step", "constant", "polynomial", "exponential"], [150, 200, 350]),
        case("Short", 1e-4, ["exponential", "step"], [1]),
    ]


def chained():
    def case(name, base, parts):
        def make(optimizer):
            return lrs.ChainedScheduler([_composed(part)(optimizer) for part in parts])

        return case_of(name, base, make, parts=",".join(parts))

    return [
        case("Two", 0.1, ["constant", "exponential"]),
        case("Three", 3e-3, ["linear", "step", "exponential"]),
        case("Steps", 1.0, ["step", "multi_step"]),
        case("Cosine", 0.05, ["linear", "cosine"]),
        case("Five", 1e-4, ["linear", "constant", "multi_step", "exponential", "step"]),
    ]


def lambda_():
    shapes = {
        "root": lambda n: 1 / math.sqrt(1 + n // 20),
        "fraction": lambda n: 1 / (1 + 0.1 * (n // 25)),
        "power": lambda n: 0.95 ** (n // 10),
        "wave": lambda n: 1 + 0.5 * math.sin(n // 5),
        "line": lambda n: 2 - n / 400,
    }
    return [
        case_of(name.capitalize(), 0.1 * (i + 1), lambda o, f=f: lrs.LambdaLR(o, f), shape=name)
        for i, (name, f) in enumerate(shapes.items())
    ]


def plateau():
    def metric(kind, i):
        noise = ((i * 7919 + 104729) % 1000) / 1000
        return round(
            {
                "falls": 2 * math.exp(-i / 60) + 0.3 * noise,
                "rises": 1 - math.exp(-i / 80) + 0.05 * noise,
                "flat": 1 + 0.001 * noise,
                "jumps": 3.0 - i // 90 + 0.5 * noise,
                "negative": -1 - 0.001 * i + 0.1 * noise,
            }[kind],
            4,
        )

    def case(
        name,
        base,
        kind,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        least=0.0,
        eps=1e-8,
    ):
        optimizer = optimizer_of(base)
        scheduler = lrs.ReduceLROnPlateau(
            optimizer, mode, factor, patience, threshold, threshold_mode, cooldown, least, eps
        )
        metrics = [metric(kind, i) for i in range(STEPS)]
        values = []
        for value in metrics:
            scheduler.step(value)
            values.append(optimizer.param_groups[0]["lr"])
        settings = dict(
            base=base,
            better={"min": "lower", "max": "higher"}[mode],
            factor=factor,
            patience=patience,
            threshold=threshold,
            threshold_mode=threshold_mode,
            cooldown=cooldown,
            min_value=least,
            epsilon=eps,
        )
        return name, settings, {"metrics": metrics, "values": values}

    return [
        case("Usual", 0.1, "falls"),
        case("Higher", 3e-3, "rises", "max", 0.5, 4),
        case("Absolute", 1.0, "flat", "min", 0.7, 3, 0.01, "abs", 5),
        case("Floor", 0.05, "jumps", "min", 0.3, 2, 0.05, "rel", 3, 1e-3),
        case("HigherAbsolute", 1e-4, "rises", "max", 0.8, 0, 0.02, "abs", 1, 0.0, 1e-6),
        case("Negative", 0.2, "negative", "min", 0.9, 1),
    ]
