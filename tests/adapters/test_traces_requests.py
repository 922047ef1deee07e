"""Request traces: header variants, bad rows by line, mended clocks, rates that can be checked by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flopwise.adapters.traces.requests import mend, read_trace, seconds
from flopwise.ground.errors import InputFileError


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def steady(count=600, header="TIMESTAMP,ContextTokens,GeneratedTokens", delimiter=","):
    rows = [delimiter.join((str(second), "100", "20")) for second in range(count)]
    return "\n".join([header, *rows]) + "\n"


def test_rates_by_hand(tmp_path):
    found = read_trace(write(tmp_path, steady()))
    assert found.count == 600
    assert found.span == 599
    assert found.mean_rate == pytest.approx(1.0)
    assert found.peak_rate == pytest.approx(1.0, abs=0.02)
    assert found.input.mean == 100
    assert found.output.p95 == 20
    assert found.notes == ()


def test_peak_is_the_busiest_stretch(tmp_path):
    rows = [f"{second},100,20" for second in range(3600)] + [f"{1800 + part / 10},100,20" for part in range(3000)]
    found = read_trace(write(tmp_path, "time,input_tokens,output_tokens\n" + "\n".join(rows)))
    assert found.window == 300
    assert found.peak_rate == pytest.approx(11.0, rel=0.01)


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ("TIMESTAMP,ContextTokens,GeneratedTokens", ","),
        ("Timestamp;Request tokens;Response tokens", ";"),
        ("arrived_at\tnum_prefill_tokens\tnum_decode_tokens", "\t"),
        ("time,prompt_tokens,completion_tokens", ","),
        ("\ufeffarrival_time,input_length,output_length", ","),
    ],
)
def test_header_variants(header, delimiter, tmp_path):
    assert read_trace(write(tmp_path, steady(header=header, delimiter=delimiter))).count == 600


def test_other_columns_in_other_orders(tmp_path):
    text = "id,output_tokens,model,input_tokens,timestamp\n" + "\n".join(f"{n},20,m,100,{n}" for n in range(10))
    found = read_trace(write(tmp_path, text))
    assert (found.input.mean, found.output.mean) == (100, 20)


def test_missing_columns_are_named(tmp_path):
    with pytest.raises(InputFileError, match="line 1: no column of generated tokens among time, input_tokens"):
        read_trace(write(tmp_path, "time,input_tokens\n1,2\n"))


def test_bad_rows_are_named_by_line(tmp_path):
    lines = steady(1000).splitlines()
    lines[4], lines[9], lines[14] = "x,100,20", "8,many,20", "13,100"
    found = read_trace(write(tmp_path, "\n".join(lines)))
    assert found.count == 997
    assert "3 rows left out" in found.notes[0]
    for line in ("line 5", "line 10", "line 15"):
        assert line in found.notes[0]


def test_too_many_bad_rows_refuse_the_file(tmp_path):
    lines = steady(100).splitlines()
    lines[10:30] = ["?,?,?"] * 20
    with pytest.raises(InputFileError, match=r"20 of 100 rows cannot be read: line 11"):
        read_trace(write(tmp_path, "\n".join(lines)))


@pytest.mark.parametrize("value", ["nan", "inf", "-5", "1e12", ""])
def test_absurd_token_counts_are_bad_rows(value, tmp_path):
    lines = [*steady(100).splitlines(), f"100,{value},20"]
    assert "line 102" in read_trace(write(tmp_path, "\n".join(lines))).notes[0]


def test_requests_without_an_answer_are_left_out(tmp_path):
    found = read_trace(write(tmp_path, steady(100) + "100,50,0\n"))
    assert found.count == 100
    assert "without generated tokens" in found.notes[0]


def test_late_rows_are_sorted(tmp_path):
    lines = steady(100).splitlines()
    lines[50], lines[52] = lines[52], lines[50]
    found = read_trace(write(tmp_path, "\n".join(lines)))
    assert found.span == 99
    assert "out of order" in found.notes[0]


def test_a_clock_set_back_is_moved_up():
    times = np.concatenate([np.arange(0.0, 7200.0), np.arange(3600.0, 7200.0)])
    mended, notes = mend(times)
    assert (np.diff(mended) >= 0).all()
    assert mended[-1] == pytest.approx(7199 + 3599)
    assert "row 7201" in notes[0]


def test_one_very_late_row_is_no_clock_change():
    times = np.arange(0.0, 1000.0)
    times[500] = 100.0
    mended, notes = mend(times)
    assert mended[-1] == 999.0
    assert "out of order" in notes[0]


def test_a_leap_is_closed():
    times = np.concatenate([np.zeros(1), 1.7e9 + np.arange(1000.0)])
    mended, notes = mend(times)
    assert mended[-1] - mended[0] == pytest.approx(1000.0)
    assert "leaps" in notes[0]


def test_a_quiet_night_is_no_leap():
    times = np.concatenate([np.arange(0.0, 36_000.0, 10.0), 36_000.0 + 50_000.0 + np.arange(0.0, 36_000.0, 10.0)])
    assert mend(times)[1] == ()


def test_times_in_every_dress():
    moment = seconds("2023-11-16 18:15:46.6805900")
    assert moment == pytest.approx(seconds("2023-11-16T18:15:46.680590Z"))
    assert moment == pytest.approx(seconds("2023-11-16T19:15:46.680590+01:00"))
    assert seconds(str(moment)) == pytest.approx(moment)
    assert seconds(str(moment * 1000)) == pytest.approx(moment)
    with pytest.raises(ValueError, match="time"):
        seconds("nan")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "no column"),
        (b"time,input_tokens,output_tokens\n", "0 rows"),
        (b"time,input_tokens,output_tokens\n1,2,3\n", "1 rows"),
        (b"time,input_tokens,output_tokens\n1,2,3\n1,2,3\n", "same time"),
        (b"time,input_tokens,output_tokens\n\xff,2,3\n", "line 2"),
    ],
)
def test_files_that_say_nothing(text, said, tmp_path):
    with pytest.raises(InputFileError, match=said):
        read_trace(write(tmp_path, text))


def test_missing_file(tmp_path):
    with pytest.raises(InputFileError, match="no such file"):
        read_trace(tmp_path / "absent.csv")


def test_a_public_trace(shared):
    found = read_trace(shared("data/infer/traces/azure2023_conv.csv"))
    assert found.count == 19_366
    assert found.notes == ()
    assert found.mean_rate == pytest.approx(5.53, rel=0.01)
    assert found.input.mean == pytest.approx(1154.7, rel=0.001)


def test_the_example_trace_is_like_a_public_one(shared):
    public = read_trace(shared("data/infer/traces/azure2023_conv.csv"))
    own = read_trace(Path(__file__).parents[2] / "examples" / "requests.csv")
    assert own.input.mean == pytest.approx(public.input.mean, rel=0.05)
    assert own.output.mean == pytest.approx(public.output.mean, rel=0.05)
    assert own.input.p95 == pytest.approx(public.input.p95, rel=0.05)
    assert own.digest != public.digest


def test_a_shuffled_trace_is_sorted_and_its_clock_left_alone():
    times = np.arange(0.0, 3 * 86400.0, 60.0)
    shuffled = np.random.default_rng(7).permutation(times)
    mended, notes = mend(shuffled)
    assert (mended == times).all()
    assert len(notes) == 1
    assert "out of order" in notes[0]
