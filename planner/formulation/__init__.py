"""The model: sets and columns, constraint families, objective.

Reading order: ``columns`` (variables), ``service_constraints``, ``fleet_constraints``, ``site_constraints``,
``budget_constraints``, ``objective``, ``build`` (the registry), ``blocks`` and ``pulp_face`` (how it is held).
"""
