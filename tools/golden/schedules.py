#!/usr/bin/env python3
"""Writes schedulers/golden/*.txt: the values of every schedule as Python computes them.

  python3 -m venv /tmp/golden
  /tmp/golden/bin/pip install torch==2.13.0 numpy transformers==5.22.2
  /tmp/golden/bin/pip install --no-deps timm==1.0.30
  /tmp/golden/bin/python tools/golden/schedules.py

Settings have the names of the C++ options, and the tests build their options from them, so
that the two cannot differ. Half of torch's schedulers compute a value from the one before.
Such a recursion gathers rounding; where it has strayed from torch's own closed form by more
than _DRIFT of the base value, the closed form is written instead, and the case says so.
"""

import importlib
import importlib.util
import math
import os
import sys
import types
import warnings

import torch
from torch.optim import lr_scheduler as lrs

import golden_text

_STEPS = 500
_DRIFT = 1e-13
_FOLDER = os.path.join(os.path.dirname(__file__), '..', '..', 'schedulers', 'golden')


def _optimizer(base):
  return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=base, momentum=0.9)


def _run(make, base, field='lr', steps=_STEPS):
  """The field's value before each of `steps` updates, and torch's closed form of it."""
  optimizer = _optimizer(base)
  scheduler = make(optimizer)
  values, closed = [], []
  for _ in range(steps):
    values.append(optimizer.param_groups[0][field])
    if hasattr(scheduler, '_get_closed_form_lr'):
      closed.append(scheduler._get_closed_form_lr()[0])
    optimizer.step()
    scheduler.step()
  return values, closed


def _case(name, base, make, field='lr', reference_base=None, **settings):
  """A case whose configured value in C++ is `base`; Python may start elsewhere."""
  values, closed = _run(make, base if reference_base is None else reference_base, field)
  form = 'stepped'
  if closed:
    drift = max(abs(a - b) for a, b in zip(values, closed)) / base
    if drift > _DRIFT:
      form, values = 'closed', closed
      print('  %s: stepping drifts by %.1e of the base, closed form written' % (name, drift))
  return name, dict(base=base, **settings, form=form), {'values': values}


def _timm(module):
  """A module of timm.scheduler, without timm's models and what they import."""
  if 'timm' not in sys.modules:
    package = types.ModuleType('timm')
    package.__path__ = list(importlib.util.find_spec('timm').submodule_search_locations)
    sys.modules['timm'] = package
  return importlib.import_module('timm.scheduler.' + module)


def _timm_case(name, base, make, **settings):
  optimizer = _optimizer(base)
  scheduler = make(optimizer)
  values = []
  for n in range(_STEPS):
    scheduler.step_update(n)
    values.append(optimizer.param_groups[0]['lr'])
  return name, dict(base=base, **settings), {'values': values}


def constant():
  def case(name, base, ratio, length):
    return _case(name, base, lambda o: lrs.ConstantLR(o, ratio, length), ratio=ratio, length=length)
  return [case('Third', 0.3, 1 / 3, 5), case('Half', 3e-3, 0.5, 100), case('Long', 1.0, 0.07, 499),
          case('Tenth', 0.9, 0.1, 250), case('Whole', 1e-4, 1.0, 10)]


def linear():
  def case(name, base, start, end, length):
    return _case(name, base, lambda o: lrs.LinearLR(o, start, end, length),
                 start_ratio=start, end_ratio=end, length=length)
  return [case('Up', 0.3, 1 / 3, 1.0, 5), case('LongUp', 3e-3, 0.01, 1.0, 450),
          case('Down', 1.0, 1.0, 0.1, 500), case('DownToZero', 0.05, 1.0, 0.0, 400),
          case('Middle', 1e-4, 0.8, 0.3, 123)]


def step():
  def case(name, base, every, gamma):
    return _case(name, base, lambda o: lrs.StepLR(o, every, gamma), every=every, gamma=gamma)
  return [case('Tenth', 0.1, 100, 0.1), case('Half', 3e-3, 7, 0.5), case('Every', 1.0, 1, 0.97),
          case('Never', 0.05, 1000, 0.1), case('Up', 1e-4, 30, 1.3)]


def multi_step():
  def case(name, base, at, gamma):
    return _case(name, base, lambda o: lrs.MultiStepLR(o, at, gamma),
                 at=','.join(map(str, at)), gamma=gamma)
  return [case('Three', 0.1, [30, 80, 200], 0.1), case('One', 3e-3, [250], 0.5),
          case('Twice', 1.0, [100, 100, 300], 0.3), case('First', 0.05, [1, 2, 3, 499], 0.9),
          case('Dense', 1e-4, list(range(10, 480, 10)), 0.95)]


def exponential():
  def case(name, base, gamma):
    return _case(name, base, lambda o: lrs.ExponentialLR(o, gamma), gamma=gamma)
  return [case('Slow', 0.1, 0.999), case('Usual', 3e-3, 0.99), case('Fast', 1.0, 0.9),
          case('Half', 0.05, 0.9986), case('Up', 1e-4, 1.01)]


def polynomial():
  poly = _timm('poly_lr').PolyLRScheduler

  def case(name, base, power, length):
    return _case(name, base, lambda o: lrs.PolynomialLR(o, length, power),
                 power=power, length=length)

  def floored(name, base, power, length, least):
    return _timm_case(name, base, lambda o: poly(o, length, power, least, t_in_epochs=False),
                      power=power, length=length, min_value=least)
  return [case('Square', 3e-3, 2.0, 400), case('Root', 1.0, 0.5, 500), case('Short', 0.05, 0.9, 37),
          floored('Floor', 0.2, 2.0, 350, 0.01), floored('RootFloor', 1e-4, 0.5, 300, 1e-6)]


def cosine_annealing():
  def case(name, base, half_period, least):
    return _case(name, base, lambda o: lrs.CosineAnnealingLR(o, half_period, least),
                 half_period=half_period, min_value=least)
  return [case('Once', 0.1, 500, 0.0), case('Floor', 3e-3, 400, 1e-5), case('Waves', 1.0, 50, 0.01),
          case('Short', 0.05, 3, 0.001), case('Odd', 1e-4, 77, 0.0)]


def warm_restarts():
  def case(name, base, period, mul, least):
    return _case(name, base, lambda o: lrs.CosineAnnealingWarmRestarts(o, period, mul, least),
                 period=period, period_mul=mul, min_value=least)
  return [case('Even', 0.1, 100, 1, 0.0), case('Doubling', 3e-3, 20, 2, 1e-5),
          case('Tripling', 1.0, 7, 3, 0.01), case('Short', 0.05, 3, 1, 0.001),
          case('Odd', 1e-4, 11, 2, 0.0)]


_ONE_CYCLE = [
    ('AtOnce', 0.1, 500, 0.0, 'cos', False, 25.0, 1e4, 0.85, 0.95),
    ('Linear', 3e-3, 500, 0.3, 'linear', False, 25.0, 1e4, 0.85, 0.95),
    ('ThreePhase', 1.0, 500, 0.4, 'cos', True, 10.0, 100.0, 0.8, 0.9),
    ('LinearThreePhase', 0.05, 510, 0.25, 'linear', True, 25.0, 1e4, 0.85, 0.95),
    ('Early', 1e-4, 777, 0.05, 'cos', False, 2.0, 10.0, 0.5, 0.99),
]


def _one_cycle(field):
  def case(name, base, total, start, shape, three, div, final, low, high):
    def make(optimizer):
      return lrs.OneCycleLR(optimizer, base, total, pct_start=start, anneal_strategy=shape,
                            div_factor=div, final_div_factor=final, three_phase=three,
                            base_momentum=low, max_momentum=high)
    return _case(name, base if field == 'lr' else 1.0, make, field, base, total=total, pct_start=start, shape=shape,
                 three_phase=int(three), div_factor=div, final_div_factor=final,
                 base_momentum=low, max_momentum=high)
  return [case(*settings) for settings in _ONE_CYCLE]


def one_cycle():
  return _one_cycle('lr')


def one_cycle_momentum():
  return _one_cycle('momentum')


def cyclic():
  def make(base, peak, up, down, mode, gamma, momentum):
    return lambda o: lrs.CyclicLR(o, base, peak, up, down, mode, gamma, cycle_momentum=momentum,
                                  base_momentum=0.8, max_momentum=0.9)

  def case(name, base, peak, up, down, mode='triangular', gamma=1.0):
    return _case(name, base, make(base, peak, up, down, mode, gamma, False), peak_value=peak,
                 up=up, down=down, mode=mode, gamma=gamma)

  def momentum(name, up, down, mode, gamma):
    return _case(name, 0.9, make(0.1, 0.2, up, down, mode, gamma, True), 'momentum', 0.1,
                 peak_value=0.8, up=up, down=down, mode=mode, gamma=gamma)
  return [case('Even', 0.1, 1.0, 50, 50), case('Odd', 3e-3, 0.01, 31, 77),
          case('Halving', 1e-4, 1e-3, 40, 40, 'triangular2'),
          case('Fading', 0.05, 0.3, 64, 36, 'exp_range', 0.995),
          case('Quick', 0.2, 0.5, 1, 2), momentum('FadingMomentum', 20, 20, 'exp_range', 0.99)]


def inverse_sqrt():
  from transformers.optimization import get_inverse_sqrt_schedule

  def case(name, base, warmup, timescale):
    return _case(name, base, lambda o: get_inverse_sqrt_schedule(o, warmup, timescale),
                 warmup=warmup, timescale=timescale)
  return [case('Usual', 0.1, 100, 100), case('Quick', 3e-3, 10, 10), case('Slow', 1.0, 50, 1000),
          case('NoWarmup', 0.05, 0, 64), case('Whole', 1e-4, 499, 7)]


def noam():
  def case(name, base, width, warmup):
    def factor(n):
      return width ** -0.5 * min((n + 1) ** -0.5, (n + 1) * warmup ** -1.5)
    return _case(name, base, lambda o: lrs.LambdaLR(o, factor), d_model=width, warmup=warmup)
  return [case('Paper', 1.0, 512, 400), case('Two', 2.0, 256, 100), case('Short', 1.0, 768, 1),
          case('Odd', 0.5, 1000, 77), case('Whole', 1.0, 64, 500)]


def warmup_stable_decay():
  from transformers.optimization import get_wsd_schedule

  def case(name, base, warmup, decay, total, shape, least):
    def make(optimizer):
      return get_wsd_schedule(optimizer, warmup, decay, total, decay_type=shape,
                              min_lr_ratio=least)
    return _case(name, base, make, warmup=warmup, warmup_start_ratio=least, decay=decay,
                 total=total, shape=shape, min_ratio=least)
  return [case('Linear', 0.1, 50, 100, 480, 'linear', 0.0),
          case('Cosine', 3e-3, 20, 200, 500, 'cosine', 0.1),
          case('Sqrt', 1.0, 100, 150, 500, '1-sqrt', 0.01),
          case('NoWarmup', 0.05, 0, 333, 500, '1-sqrt', 0.0),
          case('NothingStable', 1e-4, 250, 250, 500, 'cosine', 0.05)]


def cosine():
  timm_cosine = _timm('cosine_lr').CosineLRScheduler

  def case(name, base, length, warmup=0, start=0.0, least=0.0, k=1.0, cycles=1, mul=1.0,
           decay=1.0):
    def make(optimizer):
      return timm_cosine(optimizer, length, least, mul, decay, cycles, warmup, start,
                         warmup_prefix=True, t_in_epochs=False, k_decay=k)
    span = sum(length * mul ** i for i in range(cycles))
    return _timm_case(name, base, make, total=warmup + round(span), warmup=warmup,
                      warmup_start_value=start, min_value=least, k_decay=k, cycles=cycles,
                      cycle_mul=mul, cycle_decay=decay)
  return [case('Plain', 0.1, 500), case('Warmup', 3e-3, 300, 50, 1e-6, 1e-5),
          case('KDecay', 1.0, 350, 20, 0.1, 0.01, 1.7),
          case('Cycles', 1e-4, 100, 10, 0.0, 1e-6, cycles=4, decay=0.5),
          case('Longer', 0.2, 50, 20, 0.01, 0.001, 0.6, cycles=3, mul=2.0, decay=0.7),
          case('All', 0.3, 40, 13, 0.02, 0.003, 1.3, 3, 1.5, 0.8)]


def warmup():
  timm_step, timm_poly = _timm('step_lr').StepLRScheduler, _timm('poly_lr').PolyLRScheduler

  def steps(name, base, warm, start, every, gamma):
    def make(optimizer):
      return timm_step(optimizer, every, gamma, warm, start, warmup_prefix=True,
                       t_in_epochs=False)
    return _timm_case(name, base, make, warmup=warm, start_value=start, then='step', every=every,
                      gamma=gamma)

  def poly(name, base, warm, start, length, power):
    def make(optimizer):
      return timm_poly(optimizer, length, power, warmup_t=warm, warmup_lr_init=start,
                       warmup_prefix=True, t_in_epochs=False)
    return _timm_case(name, base, make, warmup=warm, start_value=start, then='polynomial',
                      length=length, power=power)
  return [steps('Step', 0.1, 50, 0.001, 90, 0.1), steps('LongStep', 3e-3, 333, 0.0, 50, 0.5),
          steps('OneStep', 1.0, 1, 0.5, 100, 0.3), poly('Poly', 0.05, 100, 0.01, 400, 2.0),
          poly('ShortPoly', 1e-4, 20, 1e-6, 300, 0.5)]


def _composed(make):
  """Each part as (torch's, settings); both compositions take these."""
  return {
      'linear': lambda o: lrs.LinearLR(o, 0.1, 1.0, 100),
      'constant': lambda o: lrs.ConstantLR(o, 0.5, 40),
      'exponential': lambda o: lrs.ExponentialLR(o, 0.99),
      'step': lambda o: lrs.StepLR(o, 60, 0.5),
      'multi_step': lambda o: lrs.MultiStepLR(o, [50, 120], 0.3),
      'polynomial': lambda o: lrs.PolynomialLR(o, 140, 2.0),
      'cosine': lambda o: lrs.CosineAnnealingLR(o, 550),
  }[make]


def sequential():
  def case(name, base, parts, milestones):
    def make(optimizer):
      return lrs.SequentialLR(optimizer, [_composed(part)(optimizer) for part in parts],
                              milestones)
    return _case(name, base, make, parts=','.join(parts), milestones=','.join(map(str, milestones)))
  return [case('WarmThenFall', 0.1, ['linear', 'exponential'], [100]),
          case('Three', 3e-3, ['constant', 'linear', 'step'], [50, 180]),
          case('Cosine', 1.0, ['linear', 'cosine'], [100]),
          case('Four', 0.05, ['multi_step', 'constant', 'polynomial', 'exponential'],
               [150, 200, 350]),
          case('Short', 1e-4, ['exponential', 'step'], [1])]


def chained():
  def case(name, base, parts):
    def make(optimizer):
      return lrs.ChainedScheduler([_composed(part)(optimizer) for part in parts])
    return _case(name, base, make, parts=','.join(parts))
  return [case('Two', 0.1, ['constant', 'exponential']),
          case('Three', 3e-3, ['linear', 'step', 'exponential']),
          case('Steps', 1.0, ['step', 'multi_step']),
          case('Cosine', 0.05, ['linear', 'cosine']),
          case('Five', 1e-4, ['linear', 'constant', 'multi_step', 'exponential', 'step'])]


def lambda_():
  shapes = {
      'root': lambda n: 1 / math.sqrt(1 + n // 20),
      'fraction': lambda n: 1 / (1 + 0.1 * (n // 25)),
      'power': lambda n: 0.95 ** (n // 10),
      'wave': lambda n: 1 + 0.5 * math.sin(n // 5),
      'line': lambda n: 2 - n / 400,
  }
  return [_case(name.capitalize(), 0.1 * (i + 1), lambda o, f=f: lrs.LambdaLR(o, f), shape=name)
          for i, (name, f) in enumerate(shapes.items())]


def plateau():
  def metric(kind, i):
    noise = ((i * 7919 + 104729) % 1000) / 1000
    return round({'falls': 2 * math.exp(-i / 60) + 0.3 * noise,
                  'rises': 1 - math.exp(-i / 80) + 0.05 * noise,
                  'flat': 1 + 0.001 * noise,
                  'jumps': 3.0 - i // 90 + 0.5 * noise,
                  'negative': -1 - 0.001 * i + 0.1 * noise}[kind], 4)

  def case(name, base, kind, mode='min', factor=0.1, patience=10, threshold=1e-4,
           threshold_mode='rel', cooldown=0, least=0.0, eps=1e-8):
    optimizer = _optimizer(base)
    scheduler = lrs.ReduceLROnPlateau(optimizer, mode, factor, patience, threshold,
                                      threshold_mode, cooldown, least, eps)
    metrics = [metric(kind, i) for i in range(_STEPS)]
    values = []
    for value in metrics:
      scheduler.step(value)
      values.append(optimizer.param_groups[0]['lr'])
    settings = dict(base=base, better={'min': 'lower', 'max': 'higher'}[mode], factor=factor,
                    patience=patience, threshold=threshold, threshold_mode=threshold_mode,
                    cooldown=cooldown, min_value=least, epsilon=eps)
    return name, settings, {'metrics': metrics, 'values': values}
  return [case('Usual', 0.1, 'falls'), case('Higher', 3e-3, 'rises', 'max', 0.5, 4),
          case('Absolute', 1.0, 'flat', 'min', 0.7, 3, 0.01, 'abs', 5),
          case('Floor', 0.05, 'jumps', 'min', 0.3, 2, 0.05, 'rel', 3, 1e-3),
          case('HigherAbsolute', 1e-4, 'rises', 'max', 0.8, 0, 0.02, 'abs', 1, 0.0, 1e-6),
          case('Negative', 0.2, 'negative', 'min', 0.9, 1)]


def main():
  warnings.filterwarnings('ignore')  # torch would have every value read by its own loop
  assert torch.__version__.startswith('2.13.0'), torch.__version__
  torch_name, timm_name = 'torch 2.13.0', 'timm 1.0.30'
  files = {
      'constant': (constant, torch_name), 'linear': (linear, torch_name),
      'step': (step, torch_name), 'multi_step': (multi_step, torch_name),
      'exponential': (exponential, torch_name),
      'polynomial': (polynomial, torch_name + ' and ' + timm_name),
      'cosine': (cosine, timm_name), 'cosine_annealing': (cosine_annealing, torch_name),
      'warm_restarts': (warm_restarts, torch_name), 'one_cycle': (one_cycle, torch_name),
      'one_cycle_momentum': (one_cycle_momentum, torch_name), 'cyclic': (cyclic, torch_name),
      'inverse_sqrt': (inverse_sqrt, 'transformers 5.22.2'),
      'noam': (noam, "torch 2.13.0's LambdaLR"),
      'warmup_stable_decay': (warmup_stable_decay, 'transformers 5.22.2'),
      'warmup': (warmup, timm_name), 'sequential': (sequential, torch_name),
      'chained': (chained, torch_name), 'lambda': (lambda_, torch_name),
      'plateau': (plateau, torch_name),
  }
  os.makedirs(_FOLDER, exist_ok=True)
  total = 0
  for name, (cases, source) in files.items():
    print(name)
    path = os.path.join(_FOLDER, name + '.txt')
    golden_text.write(path, source, cases())
    total += os.path.getsize(path)
  print('%d files, %d bytes' % (len(files), total))


if __name__ == '__main__':
  main()
