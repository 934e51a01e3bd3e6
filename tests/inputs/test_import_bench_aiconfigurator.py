"""aiconfigurator tables: predictions with their cache share, never as trusted as a measurement."""

from __future__ import annotations

import pytest
from bench_files import SAMPLES, points, reasons

from planner.errors import InputError
from planner.inputs.importers import IMPORTERS

PARETO = SAMPLES / "aiconfigurator_pareto.csv"


def aiconfigurator(*paths, **options):
    return IMPORTERS["aiconfigurator"].run(paths, options)


def test_a_row_is_a_prediction_of_one_replica():
    result = aiconfigurator(PARETO)
    rows = points(result)
    assert set(rows["confidence"]) == {"derived"}
    assert result.tables["sources"]["kind"].tolist() == ["own computation"]
    row = rows.iloc[0]
    assert (row["chip"], row["chips"], row["tensor_parallel"]) == ("H200", 4, 4)
    assert (row["model"], row["engine"], row["software"]) == ("Qwen3-32B", "vllm-fp8", "vllm 0.12.0")
    assert (row["requests_per_s"], row["output_tok_per_s"], row["input_tok_per_s"]) == (2.0, 998.0, 8000.0)
    assert (row["ttft_ms"], row["tpot_ms"], row["ttft_statistic"]) == (900.0, 14.0, "unstated")
    assert "predicted by aiconfigurator, not measured" in row["notes"]


def test_prompt_tokens_in_the_cache_make_another_curve():
    rows = points(aiconfigurator(PARETO))
    assert rows["cache_hit_fraction"].tolist() == [0.0, 0.0, 0.5]
    assert rows["curve"].nunique() == 2


def test_a_split_replica_gets_its_engine_by_option(tmp_path):
    columns = (
        "model,isl,osl,concurrency,ttft,tpot,seq/s,tokens/s,num_total_gpus,(p)tp,(d)tp,(p)system,(d)system"
    )
    row = "Qwen/Qwen3-32B,4000,500,64,900,14,4.0,1996,12,2,4,h200_sxm,h200_sxm"
    path = tmp_path / "best_config_topn.csv"
    path.write_text(f"{columns}\n{row}\n{row.replace('h200', 'l40s', 1)}\n")
    result = aiconfigurator(path)
    assert points(result)["engine"].isna().all()
    assert "tensor_parallel" not in points(result)
    assert points(result)["chips"].tolist() == [12]
    assert len(reasons(result)) == 1
    assert points(aiconfigurator(path, engine="vllm-fp8"))["engine"].tolist() == ["vllm-fp8"]


def test_rows_without_usable_numbers_are_rejected(tmp_path):
    text = PARETO.read_text()
    path = tmp_path / "pareto.csv"
    for old, new, reason in (
        (",900.0,", ",N/A,", "ttft is not a number"),
        (",900.0,", ",inf,", "ttft is not a finite number"),
        (",900.0,", ",,", "ttft is missing"),
        ("Qwen/Qwen3-32B", "Qwenn/Unknown-1T", "unknown model"),
        ("Qwen/Qwen3-32B,4000", "=1+1,0", "isl is not above 0"),
        ("Qwen/Qwen3-32B", "x,Qwen/Qwen3-32B", "other number of fields than the header"),
    ):
        path.write_text(text.replace(old, new, 1))
        assert [why for why in reasons(aiconfigurator(path)) if reason in why], reason
        assert len(points(aiconfigurator(path))) == 2


def test_files_without_rows_are_refused_and_windows_files_read(tmp_path):
    path = tmp_path / "pareto.csv"
    header = PARETO.read_text().splitlines()[0]
    for content, message in (
        (b"", "empty"),
        (header.encode(), "no run in the files"),
        (b"a,b\n1,2\n", "column is missing"),
        (b"\xff\xfe", "is not a table"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            aiconfigurator(path)
    path.write_bytes(b"\xef\xbb\xbf" + PARETO.read_text().replace("\n", "\r\n").encode())
    assert len(points(aiconfigurator(path))) == 3
