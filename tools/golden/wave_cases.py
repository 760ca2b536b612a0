"""Golden cases of the schedules made of cosines and triangles."""

from torch.optim import lr_scheduler as lrs

from reference import case_of, timm_case, timm_module


def cosine():
    timm_cosine = timm_module("cosine_lr").CosineLRScheduler

    def case(name, base, length, warmup=0, start=0.0, least=0.0, k=1.0, cycles=1, mul=1.0, decay=1.0):
        def make(optimizer):
            return timm_cosine(
                optimizer,
                length,
                least,
                mul,
                decay,
                cycles,
                warmup,
                start,
                warmup_prefix=True,
                t_in_epochs=False,
                k_decay=k,
            )

        span = sum(length * mul**i for i in range(cycles))
        return timm_case(
            name,
            base,
            make,
            total=warmup + round(span),
            warmup=warmup,
            warmup_start_value=start,
            min_value=least,
            k_decay=k,
            cycles=cycles,
            cycle_mul=mul,
            cycle_decay=decay,
        )

    return [
        case("Plain", 0.1, 500),
        case("Warmup", 3e-3, 300, 50, 1e-6, 1e-5),
        case("KDecay", 1.0, 350, 20, 0.1, 0.01, 1.7),
        case("Cycles", 1e-4, 100, 10, 0.0, 1e-6, cycles=4, decay=0.5),
        case("Longer", 0.2, 50, 20, 0.01, 0.001, 0.6, cycles=3, mul=2.0, decay=0.7),
        case("All", 0.3, 40, 13, 0.02, 0.003, 1.3, 3, 1.5, 0.8),
    ]


def cosine_annealing():
    def case(name, base, half_period, least):
        return case_of(
            name,
            base,
            lambda o: lrs.CosineAnnealingLR(o, half_period, least),
            half_period=half_period,
            min_value=least,
        )

    return [
        case("Once", 0.1, 500, 0.0),
        case("Floor", 3e-3, 400, 1e-5),
        case("Waves", 1.0, 50, 0.01),
        case("Short", 0.05, 3, 0.001),
        case("Odd", 1e-4, 77, 0.0),
    ]


def warm_restarts():
    def case(name, base, period, mul, least):
        return case_of(
            name,
            base,
            lambda o: lrs.CosineAnnealingWarmRestarts(o, period, mul, least),
            period=period,
            period_mul=mul,
            min_value=least,
        )

    return [
        case("Even", 0.1, 100, 1, 0.0),
        case("Doubling", 3e-3, 20, 2, 1e-5),
        case("Tripling", 1.0, 7, 3, 0.01),
        case("Short", 0.05, 3, 1, 0.001),
        case("Odd", 1e-4, 11, 2, 0.0),
    ]


_ONE_CYCLE = [
    ("AtOnce", 0.1, 500, 0.0, "cos", False, 25.0, 1e4, 0.85, 0.95),
    ("Linear", 3e-3, 500, 0.3, "linear", False, 25.0, 1e4, 0.85, 0.95),
    ("ThreePhase", 1.0, 500, 0.4, "cos", True, 10.0, 100.0, 0.8, 0.9),
    ("LinearThreePhase", 0.05, 510, 0.25, "linear", True, 25.0, 1e4, 0.85, 0.95),
    ("Early", 1e-4, 777, 0.05, "cos", False, 2.0, 10.0, 0.5, 0.99),
]


def _one_cycle(field):
    def case(name, base, total, start, shape, three, div, final, low, high):
        def make(optimizer):
            return lrs.OneCycleLR(
                optimizer,
                base,
                total,
                pct_start=start,
                anneal_strategy=shape,
                div_factor=div,
                final_div_factor=final,
                three_phase=three,
                base_momentum=low,
                max_momentum=high,
            )

        return case_of(
            name,
            base if field == "lr" else 1.0,
            make,
            field,
            base,
            total=total,
            pct_start=start,
            shape=shape,
            three_phase=int(three),
            div_factor=div,
            final_div_factor=final,
            base_momentum=low,
            max_momentum=high,
        )

    return [case(*settings) for settings in _ONE_CYCLE]


def one_cycle():
    return _one_cycle("lr")


def one_cycle_momentum():
    return _one_cycle("momentum")


def cyclic():
    def make(base, peak, up, down, mode, gamma, momentum):
        return lambda o: lrs.CyclicLR(
            o, base, peak, up, down, mode, gamma, cycle_momentum=momentum, base_momentum=0.8, max_momentum=0.9
        )

    def case(name, base, peak, up, down, mode="triangular", gamma=1.0):
        return case_of(
            name,
            base,
            make(base, peak, up, down, mode, gamma, False),
            peak_value=peak,
            up=up,
            down=down,
            mode=mode,
            gamma=gamma,
        )

    def momentum(name, up, down, mode, gamma):
        return case_of(
            name,
            0.9,
            make(0.1, 0.2, up, down, mode, gamma, True),
            "momentum",
            0.1,
            peak_value=0.8,
            up=up,
            down=down,
            mode=mode,
            gamma=gamma,
        )

    return [
        case("Even", 0.1, 1.0, 50, 50),
        case("Odd", 3e-3, 0.01, 31, 77),
        case("Halving", 1e-4, 1e-3, 40, 40, "triangular2"),
        case("Fading", 0.05, 0.3, 64, 36, "exp_range", 0.995),
        case("Quick", 0.2, 0.5, 1, 2),
        momentum("FadingMomentum", 20, 20, "exp_range", 0.99),
    ]
