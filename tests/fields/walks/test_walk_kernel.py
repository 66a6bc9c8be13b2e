"""Kernels of a field are kept on disk until one of its files changes."""

import shutil
from pathlib import Path

from atomstream._kernels import compile
from atomstream.fields.walks import kernel


def test_a_change_in_a_field_compiles_its_kernels_anew(tmp_path):
    shutil.copy(kernel.__file__, tmp_path)
    before = compile.stamp_of.__wrapped__(tmp_path)
    assert before.startswith(compile.STAMP)
    (tmp_path / "kernel.py").write_text("# changed\n")
    assert compile.stamp_of.__wrapped__(tmp_path) != before
    stamp = kernel.advance._cache._cache_file._source_stamp
    assert stamp == compile.stamp_of(Path(kernel.__file__).parent)
