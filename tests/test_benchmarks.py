"""The benchmarks' own sums: a bar that is missed fails, a missing peer is named, a tie is fair."""

import importlib
from types import SimpleNamespace

import pytest

from benchmarks import __main__ as runner
from benchmarks.measure import Row, medians, table


@pytest.mark.parametrize(
    ("row", "ok"),
    [
        (Row("fast enough", 1.0, "peer", 10.0, bar=10), True),
        (Row("too slow", 1.1, "peer", 10.0, bar=10), False),
        (Row("within the limit", 9.0, most=10), True),
        (Row("over the limit", 11.0, most=10), False),
        (Row("fast enough, over the limit", 11.0, "peer", 1000.0, bar=10, most=10), False),
        (Row("nothing to compare with", 1.0, "peer", None, bar=10), False),
        (Row("not measured", None, "peer", 1.0, bar=10), False),
        (Row("no bar", 5.0, "peer", 1.0), None),
    ],
)
def test_a_row_knows_whether_its_bars_hold(row, ok):
    assert row.ok is ok


def test_the_table_shows_numbers_ratio_and_verdict():
    text = table([Row("walk", 2.0, "peer", 50.0, bar=10), Row("draw", 2.0, "peer", 4.0, bar=10)])
    head, good, bad = text.splitlines()
    assert head.split() == ["what", "ours", "peer", "theirs", "ratio", "bar"]
    assert good.split() == ["walk", "2", "ms", "peer", "50", "ms", "25.00x", ">=", "10x", "ok"]
    assert bad.endswith("MISSED")


def test_programs_take_turns_and_a_warm_up_is_not_counted():
    calls = []
    times = medians(lambda: calls.append("a"), lambda: calls.append("b"), repeats=3)
    assert "".join(calls) == "ab" * 4
    assert len(times) == 2
    assert all(time >= 0 for time in times)


def run(monkeypatch, capsys, rows) -> tuple[int, str]:
    """Exit code and output of the runner when its only module gives `rows`."""
    monkeypatch.setattr(runner, "MODULES", ("graph",))
    monkeypatch.setattr(runner.torch, "set_num_threads", lambda count: None)
    monkeypatch.setattr(importlib, "import_module", lambda name: SimpleNamespace(rows=rows))
    code = runner.main([])
    return code, capsys.readouterr().out


def test_a_missed_bar_fails_the_run(monkeypatch, capsys):
    assert run(monkeypatch, capsys, lambda: [Row("a", 1.0, "peer", 20.0, bar=10)])[0] == 0
    code, output = run(monkeypatch, capsys, lambda: [Row("b", 1.0, "peer", 2.0, bar=10)])
    assert code == 1
    assert "1 of 1 missed their bar: b" in output


def test_a_missing_peer_is_named_and_skipped(monkeypatch, capsys):
    def rows():
        raise ModuleNotFoundError("No module named 'torchviz'", name="torchviz")

    code, output = run(monkeypatch, capsys, rows)
    assert code == 0
    assert "graph: skipped, for torchviz is not installed" in output


def test_a_missing_module_of_our_own_is_no_missing_peer(monkeypatch, capsys):
    def rows():
        raise ModuleNotFoundError("No module named 'utils.gone'", name="utils.gone")

    with pytest.raises(ModuleNotFoundError):
        run(monkeypatch, capsys, rows)
