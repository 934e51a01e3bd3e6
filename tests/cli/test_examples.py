"""Every example line that a help text shows works as it stands, one after the other in one folder."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from planner.cli import main

TOY_MIX = {
    "gpu_info": {
        "A": {"cost": 1.0, "tputs": [[10.0]]},
        "B": {"cost": 4.0, "tputs": [[50.0]]},
    },
    "workload_distribution": [[1.0]],
}
POINT = {
    "row_id": "mine",
    "chip": "H100-SXM-80GB",
    "chips_used": 4,
    "tp": 4,
    "pp": 1,
    "ep": 1,
    "attention_dp": "n",
    "model": "Llama-3.1-70B",
    "engine": "vllm",
    "engine_version": "",
    "weight_precision": "fp8",
    "kv_precision": "",
    "input_len": 1024,
    "output_len": 1024,
    "concurrency_or_batch": 32,
    "conc_kind": "client concurrency (closed loop)",
    "prefix_cache_hit": 0,
}


def commands_with_examples() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every command with the lines its help shows."""

    def below(command: click.Command, path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                member = command.get_command(context, name)
                assert member is not None
                yield from below(member, f"{path} {name}")
        else:
            yield path, command.examples

    yield from below(main, "planner")


EXAMPLES = dict(commands_with_examples())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with files of a reader's own and a plan in out/small, as the examples expect."""
    place = tmp_path_factory.mktemp("examples")
    trace = ["TIMESTAMP,ContextTokens,GeneratedTokens"]
    trace += [f"2023-11-16 18:{n // 60:02d}:{n % 60:02d}.0000000,{500 + n},{100 + n}" for n in range(600)]
    (place / "trace.csv").write_text("\n".join(trace) + "\n", encoding="utf-8")
    windows = [f"{600 * n},{1 + n % 3},1.5,Gamma,0.4,2.5" for n in range(144)]
    (place / "client-1-trace.csv").write_text("\n".join(windows) + "\n", encoding="utf-8")
    (place / "mix.json").write_text(json.dumps(TOY_MIX), encoding="utf-8")
    header, row = zip(*POINT.items(), strict=True)
    (place / "points.csv").write_text(
        ",".join(header) + "\n" + ",".join(str(value) for value in row) + "\n", encoding="utf-8"
    )
    with pytest.MonkeyPatch.context() as inside:
        inside.chdir(place)
        assert CliRunner().invoke(main, ["solve", "small", "--no-report"]).exit_code == 0
    return place


@pytest.mark.parametrize("path", EXAMPLES)
def test_every_example_in_the_help_works(path: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for line in EXAMPLES[path]:
        program, *arguments = shlex.split(line)
        assert program == "planner"
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, f"{line}: {result.stderr}"
        assert result.stdout
        if "--json" in arguments:
            json.loads(result.stdout)
