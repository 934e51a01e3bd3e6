"""``planner export operations``: what a plan tells those who run it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.cli.framework import ExampleCommand
from planner.cli.options import force_option, plan_argument, plan_folder
from planner.errors import Fault, InputError

if TYPE_CHECKING:
    from planner.plan.operations import Handover
    from planner.plan.operations.vllm_stack import Stack
    from planner.plan.operations.write import Written


@click.command(
    cls=ExampleCommand,
    examples=[
        "planner export operations out/small -o handover",
        "planner export operations out/small --autoscaler hpa -o handover-hpa",
    ],
)
@plan_argument
@click.option(
    "-o",
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder to write  [default: PLAN/operations]",
)
@click.option(
    "--autoscaler",
    type=click.Choice(["keda", "hpa"]),
    default="keda",
    show_default=True,
    help="KEDA follows the clock; an HPA knows the quietest and the busiest hour only.",
)
@click.option(
    "--prometheus",
    metavar="URL",
    default="",
    help="With keda: server that knows vLLM's requests in flight, so that replicas also follow load.",
)
@click.option(
    "--metric",
    metavar="NAME",
    default="vllm_num_requests_running",
    show_default=True,
    help="With hpa: metric of a pod's requests in flight.",
)
@click.option(
    "--model-url",
    "model_urls",
    metavar="MODEL[|ENGINE]=URL",
    multiple=True,
    help="What vLLM loads for a model; with it, values of the vLLM production stack are written. Repeatable.",
)
@click.option(
    "--image",
    metavar="REPOSITORY:TAG",
    default="vllm/vllm-openai:latest",
    show_default=True,
    help="Container of these values.",
)
@click.option(
    "--release",
    metavar="NAME",
    default="vllm",
    show_default=True,
    help="Helm release these values are installed as.",
)
@force_option
def operations(
    plan: Path,
    out: Path | None,
    autoscaler: str,
    prometheus: str,
    metric: str,
    model_urls: tuple[str, ...],
    image: str,
    release: str,
    force: bool,
) -> None:
    """Write a plan for those who run it: tables, a workbook, and manifests for Kubernetes.

    Replicas per pool and hour (floors, ceilings), requests in flight, priority classes, rate limits, power caps, alarm
    thresholds. Manifests: a ScaledObject or HorizontalPodAutoscaler, and where a class promises availability a
    PodDisruptionBudget, per pool and period; a PriorityClass per rank.
    """
    from planner.plan import load_plan
    from planner.plan.operations import handover_of
    from planner.plan.operations.kubernetes import Scaling
    from planner.plan.operations.write import write_handover
    from reports.operations_workbook import write_operations_workbook

    folder = plan_folder(plan)
    handover = handover_of(load_plan(folder), str(folder))
    stack = _stack(handover, model_urls, image, release)
    written = write_handover(
        handover,
        out or folder / "operations",
        Scaling(autoscaler, prometheus, metric),
        stack,
        lambda path: write_operations_workbook(handover, path),
        force,
    )
    for line in _told(handover, written, stack):
        click.echo(line)


def _stack(handover: Handover, model_urls: tuple[str, ...], image: str, release: str) -> Stack:
    """Return what the chart is told, or raise every fault of it."""
    from planner.inputs.cells import nearest
    from planner.plan.operations.vllm_stack import LONGEST_RELEASE, Stack

    pools = handover.tables["pools"]
    known = set(pools["model"].dropna().astype(str))
    known |= {f"{model}|{engine}" for model, engine in zip(pools["model"], pools["engine"], strict=True)}
    faults, urls = [], {}
    for text in model_urls:
        name, found, url = text.partition("=")
        if not found or not name or not url.strip():
            faults.append(Fault("--model-url", "give MODEL=URL or MODEL|ENGINE=URL", value=text))
        elif name not in known:
            message = f"no pool of this plan runs it{nearest(name, sorted(known))}"
            faults.append(Fault("--model-url", message, value=name))
        else:
            urls[name] = url.strip()
    if not re.fullmatch(r"[^\s:]+(:\d+/[^\s:]+)?:[\w][\w.-]{0,127}", image, re.ASCII):
        faults.append(Fault("--image", "give REPOSITORY:TAG", value=image))
    if not re.fullmatch(rf"[a-z]([a-z0-9-]{{0,{LONGEST_RELEASE - 2}}}[a-z0-9])?", release):
        message = f"lower-case letters, digits and '-', at most {LONGEST_RELEASE}, beginning with a letter"
        faults.append(Fault("--release", message, value=release))
    if faults:
        raise InputError(faults)
    return Stack(urls, image, release)


def _told(handover: Handover, written: Written, stack: Stack) -> list[str]:
    """Return what was written, and what an operator must know of it."""
    from planner.plan.operations.pools import shortfall

    tables = handover.tables
    replicas, pools = tables["replicas"], tables["pools"]
    periods = replicas["period"].nunique()
    lines = [
        f"wrote {written.folder}: {len(pools)} pools in {periods} periods, {written.documents} manifests"
    ]
    behind = shortfall(replicas, pools)
    if behind > 0.0:
        lines.append(
            f"whole replicas do not hold every fraction the plan counts on (short_replicas): in its worst hours a "
            f"workload is {behind:.1%} of its replicas short"
        )
    if written.unscaled:
        lines.append(
            f"no autoscaler for {', '.join(written.unscaled)}: their requests in flight are not known"
        )
    if stack.model_urls:
        kept = len(written.stacked)
        lines.append(
            f"values of the vLLM production stack for {kept} of {len(pools)} pools: those that run vLLM, prompts and "
            "answers together, tensor parallel within a unit, and whose model has a URL"
        )
    elif (pools["software"] == "vLLM").any():
        lines.append("no values of the vLLM production stack: say what it loads with --model-url")
    return lines
