"""Rules about measured rates: what they were measured with, and rows that no plan uses."""

from __future__ import annotations

from collections.abc import Iterator

from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where


def measured_as_its_engine_runs(view: View) -> Iterator[Finding]:
    """Yield own rates of an engine in another precision than the engine's, which is what they are planned at.

    A rate of shapes is planned as stated: that it does not read its precision is said of it elsewhere.
    """
    points = view["operating_points"]
    for column, what in (("weight_precision", "weights"), ("kv_precision", "the KV cache")):
        stated = points.frame[column]
        of_engine = view.lookup(points.frame["engine"], "engines", column)
        other = stated.notna() & of_engine.notna() & stated.ne(of_engine) & points.frame["shape"].isna()
        for at in rows_where(points, other.to_numpy() & points.own):
            message = f"the engine runs {what} in {of_engine.iloc[at]}: name an engine of that precision"
            fault = points.fault(at, column, message)
            yield fault if column == "weight_precision" else Notice(fault)


def rates_with_lengths_are_planned_with(view: View) -> Iterator[Finding]:
    """Yield own rates with lengths that no plan uses: without model or engine, of one phase, or with one length."""
    points = view["operating_points"]
    frame = points.frame
    lengths = frame[["input_tokens", "output_tokens"]].notna()
    measured = lengths.any(axis=1).to_numpy() & points.own
    for column, missing, message in (
        (
            "model",
            frame["model"].isna(),
            "blank: a rate with lengths is planned with only where it names a model",
        ),
        (
            "engine",
            frame["engine"].isna(),
            "blank: a rate with lengths is planned with only where it names an engine",
        ),
        (
            "output_tokens",
            ~lengths["output_tokens"],
            "blank: a rate is planned with only where it has both lengths",
        ),
        (
            "input_tokens",
            ~lengths["input_tokens"],
            "blank: a rate is planned with only where it has both lengths",
        ),
        (
            "phase",
            frame["phase"].ne("mixed"),
            "a rate with lengths is planned with only where its phase is mixed",
        ),
    ):
        for at in rows_where(points, measured & missing.to_numpy()):
            yield Notice(points.fault(at, column, message))


def rates_with_lengths_have_a_chip(view: View) -> Iterator[Finding]:
    """Yield own rates with lengths of a product that names no chip: neither measured on one nor stated for a shape."""
    points = view["operating_points"]
    frame = points.frame
    lengths = frame[["input_tokens", "output_tokens"]].notna().any(axis=1).to_numpy()
    product = frame["product"]
    known = product.isin(view.frame("products")["product"])
    without = known & frame["chip"].isna() & view.lookup(product, "products", "chip").isna()
    for at in rows_where(points, lengths & without.to_numpy() & points.own):
        message = (
            f"product {product.iloc[at]!r} names no chip, and a rate with lengths is one of a chip: name the chip, or "
            "leave input_tokens and output_tokens blank and state the rate for the workload and shape"
        )
        yield points.fault(at, "product", message)


RULES = (
    Rule(
        measured_as_its_engine_runs,
        ("operating_points.engine", "operating_points.weight_precision", "operating_points.kv_precision"),
    ),
    Rule(
        rates_with_lengths_are_planned_with,
        ("operating_points.model", "operating_points.engine", "operating_points.phase"),
    ),
    Rule(
        rates_with_lengths_have_a_chip,
        ("operating_points.product", "operating_points.input_tokens", "products.product", "products.chip"),
    ),
)
