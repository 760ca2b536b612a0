"""Golden cases of the schedules that rise or fall once."""

from torch.optim import lr_scheduler as lrs

from reference import case_of, timm_case, timm_module


def constant():
    def case(name, base, ratio, length):
        return case_of(name, base, lambda o: lrs.ConstantLR(o, ratio, length), ratio=ratio, length=length)

    return [
        case("Third", 0.3, 1 / 3, 5),
        case("Half", 3e-3, 0.5, 100),
        case("Long", 1.0, 0.07, 499),
        case("Tenth", 0.9, 0.1, 250),
        case("Whole", 1e-4, 1.0, 10),
    ]


def linear():
    def case(name, base, start, end, length):
        return case_of(
            name,
            base,
            lambda o: lrs.LinearLR(o, start, end, length),
            start_ratio=start,
            end_ratio=end,
            length=length,
        )

    return [
        case("Up", 0.3, 1 / 3, 1.0, 5),
        case("LongUp", 3e-3, 0.01, 1.0, 450),
        case("Down", 1.0, 1.0, 0.1, 500),
        case("DownToZero", 0.05, 1.0, 0.0, 400),
        case("Middle", 1e-4, 0.8, 0.3, 123),
    ]


def step():
    def case(name, base, every, gamma):
        return case_of(name, base, lambda o: lrs.StepLR(o, every, gamma), every=every, gamma=gamma)

    return [
        case("Tenth", 0.1, 100, 0.1),
        case("Half", 3e-3, 7, 0.5),
        case("Every", 1.0, 1, 0.97),
        case("Never", 0.05, 1000, 0.1),
        case("Up", 1e-4, 30, 1.3),
    ]


def multi_step():
    def case(name, base, at, gamma):
        return case_of(
            name, base, lambda o: lrs.MultiStepLR(o, at, gamma), at=",".join(map(str, at)), gamma=gamma
        )

    return [
        case("Three", 0.1, [30, 80, 200], 0.1),
        case("One", 3e-3, [250], 0.5),
        case("Twice", 1.0, [100, 100, 300], 0.3),
        case("First", 0.05, [1, 2, 3, 499], 0.9),
        case("Dense", 1e-4, list(range(10, 480, 10)), 0.95),
    ]


def exponential():
    def case(name, base, gamma):
        return case_of(name, base, lambda o: lrs.ExponentialLR(o, gamma), gamma=gamma)

    return [
        case("Slow", 0.1, 0.999),
        case("Usual", 3e-3, 0.99),
        case("Fast", 1.0, 0.9),
        case("Half", 0.05, 0.9986),
        case("Up", 1e-4, 1.01),
    ]


def polynomial():
    poly = timm_module("poly_lr").PolyLRScheduler

    def case(name, base, power, length):
        return case_of(name, base, lambda o: lrs.PolynomialLR(o, length, power), power=power, length=length)

    def floored(name, base, power, length, least):
        return timm_case(
            name,
            base,
            lambda o: poly(o, length, power, least, t_in_epochs=False),
            power=power,
            length=length,
            min_value=least,
        )

    return [
        case("Square", 3e-3, 2.0, 400),
        case("Root", 1.0, 0.5, 500),
        case("Short", 0.05, 0.9, 37),
        floored("Floor", 0.2, 2.0, 350, 0.01),
        floored("RootFloor", 1e-4, 0.5, 300, 1e-6),
    ]


def inverse_sqrt():
    from transformers.optimization import get_inverse_sqrt_schedule

    def case(name, base, warmup, timescale):
        return case_of(
            name,
            base,
            lambda o: get_inverse_sqrt_schedule(o, warmup, timescale),
            warmup=warmup,
            timescale=timescale,
        )

    return [
        case("Usual", 0.1, 100, 100),
        case("Quick", 3e-3, 10, 10),
        case("Slow", 1.0, 50, 1000),
        case("NoWarmup", 0.05, 0, 64),
        case("Whole", 1e-4, 499, 7),
    ]


def noam():
    def case(name, base, width, warmup):
        def factor(n):
            return width**-0.5 * min((n + 1) ** -0.5, (n + 1) * warmup**-1.5)

        return case_of(name, base, lambda o: lrs.LambdaLR(o, factor), d_model=width, warmup=warmup)

    return [
        case("Paper", 1.0, 512, 400),
        case("Two", 2.0, 256, 100),
        case("Short", 1.0, 768, 1),
        case("Odd", 0.5, 1000, 77),
        case("Whole", 1.0, 64, 500),
    ]


def warmup_stable_decay():
    from transformers.optimization import get_wsd_schedule

    def case(name, base, warmup, decay, total, shape, least):
        def make(optimizer):
            return get_wsd_schedule(optimizer, warmup, decay, total, decay_type=shape, min_lr_ratio=least)

        return case_of(
            name,
            base,
            make,
            warmup=warmup,
            warmup_start_ratio=least,
            decay=decay,
            total=total,
            shape=shape,
            min_ratio=least,
        )

    return [
        case("Linear", 0.1, 50, 100, 480, "linear", 0.0),
        case("Cosine", 3e-3, 20, 200, 500, "cosine", 0.1),
        case("Sqrt", 1.0, 100, 150, 500, "1-sqrt", 0.01),
        case("NoWarmup", 0.05, 0, 333, 500, "1-sqrt", 0.0),
        case("NothingStable", 1e-4, 250, 250, 500, "cosine", 0.05),
    ]
