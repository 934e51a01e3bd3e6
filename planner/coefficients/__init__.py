"""From operating points and prices to what the model multiplies: tokens, kW, money, limits.

Reading order: ``bundle`` (what the formulation reads), ``blocks``, ``timing``, ``fleet``, the rooms ``service``,
``facility``, ``electricity`` and ``orders``, then ``money``, ``payments``, ``build``.
"""

from planner.coefficients.build import LABELS, build_coefficients, discounted
from planner.coefficients.bundle import Coefficients

__all__ = ["LABELS", "Coefficients", "build_coefficients", "discounted"]
