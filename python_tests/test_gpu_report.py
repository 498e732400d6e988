# SPDX-License-Identifier: BSD-3-Clause
"""bench/gpu_report.py makes tables of what bench_gpu prints."""

import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "bench" / "gpu_report.py"
HEAD = "# A device, h5twin 0.1.0, GB/s of uncompressed bytes\n" \
       "spec,type,chunk_bytes,chunks,stream,direction,ratio,median,slowest,fastest,to_copy\n"


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)


def test_every_measurement_stands_in_its_row_and_column(tmp_path):
    (tmp_path / "gpu.csv").write_text(
        HEAD + "gfc,f32,1048576,1,framed,encode,1.2,100.4,90,110,0.5\n"
        "gfc,f32,4194304,256,framed,encode,1.2,900.0,90,910,0.9\n"
        "gfc,f32,1048576,1,framed,decode,1.2,200.0,190,210,0.25\n"
        "sleek,f64,1048576,1,framed,encode,1.1,300.0,190,310,1.5\n"
        "sleek,f64,1048576,1,bare,encode,1.1,400.0,390,410,2\n")
    assert run(tmp_path).returncode == 0
    text = (tmp_path / "gpu.md").read_text()
    assert text.startswith("# A device, h5twin 0.1.0")
    framed, bare = text.split("## Encode, bare streams")
    encode, decode = framed.split("## Decode")
    assert "| codec | type | 1 MiB | 256 x 4 MiB |" in encode
    assert "| gfc | f32 | 100 (0.50) | 900 (0.90) |" in encode
    assert "| sleek | f64 | 300 (1.50) | - |" in encode
    assert "| gfc | f32 | 200 (0.25) |" in decode and "sleek" not in decode
    bare, goals = bare.split("## Goals")
    assert "| sleek | f64 | 400 (2.00) |" in bare and "gfc" not in bare
    assert "| sleek | f64 | 0.9: 2 | 0.8: 0.75 | 1: - | 0.8: - |" in goals and "gfc" not in goals


def test_a_page_gets_the_summary(tmp_path):
    (tmp_path / "gpu.csv").write_text(
        HEAD + "gfc,f32,1048576,64,framed,encode,1.2,100.4,90,110,0.5\n"
        "gfc,f32,1048576,64,bare,decode,1.2,900.0,90,910,0.9\n"
        "gfc,f32,4194304,1,bare,decode,1.2,200.0,190,210,0.25\n")
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table: gpu -->\nold\n<!-- end of gpu -->\nafter\n")
    assert run(tmp_path, page).returncode == 0
    text = page.read_text()
    assert "| gfc | f32 | 1.20 | - | 900 | 100 | - |" in text and "On one A device, 64 x 1 MiB" in text
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text and "200" not in text


def test_no_measurement_makes_no_table(tmp_path):
    (tmp_path / "gpu.csv").write_text(HEAD)
    done = run(tmp_path)
    assert done.returncode != 0 and "holds no measurement" in done.stderr
    assert not (tmp_path / "gpu.md").exists()
