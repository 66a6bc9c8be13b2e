"""Shards in stores, each with a server that the test starts: s3://, gs://, http://, file://."""

import functools
import http.server
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from rounds import SMALL
from strange import ATOMS, planted

from atomstream import ChangedShardError, OnlineNMF
from atomstream.cluster import shards, transform_shards

pytestmark = pytest.mark.slow


def write(folder, n=2):
    """Write files of 300 rows each; return all rows."""
    for number in range(n):
        np.save(f"{folder}/{number}.npy", planted(300, number))
    return np.concatenate([planted(300, number) for number in range(n)])


def check(listed, X):
    """Learn from shards as from the rows, and read every row once."""
    rows = np.concatenate([block for shard in listed for block in shard.read(0, shard.n_rows)])
    np.testing.assert_array_equal(rows, X)
    assert OnlineNMF(ATOMS, random_state=0).fit_stream(listed).n_samples_seen_ == len(X)


def test_files_on_this_machine_have_addresses_too(tmp_path):
    X = write(tmp_path)
    listed = shards(f"file://{tmp_path}/*.npy", rows=200)
    assert [shard.n_rows for shard in listed] == [200, 100] * 2
    check(listed, X)
    files = transform_shards(OnlineNMF(ATOMS).fit(X), listed, f"file://{tmp_path}/codes")
    assert len(files) == 4
    assert os.path.exists(tmp_path / "codes" / "000003.npy")


@contextmanager
def served(folder):
    """Serve a folder on this machine; return its address."""

    class Ranges(http.server.SimpleHTTPRequestHandler):
        """Answers requests for a part of a file, as stores on the web do."""

        def do_GET(self):
            content = (Path(folder) / self.path[1:]).read_bytes()
            asked = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
            first, last = int(asked[0]), min(int(asked[2] or len(content)), len(content) - 1)
            self.send_response(206 if "Range" in self.headers else 200)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
            self.send_header("Content-Length", str(last + 1 - first))
            self.end_headers()
            self.wfile.write(content[first : last + 1])

        def log_message(self, *given):
            pass

    make = functools.partial(Ranges, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), make) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.filterwarnings("ignore")
def test_files_of_a_web_server(tmp_path):
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    X = write(tmp_path)
    with served(tmp_path) as address:
        listed = shards([f"{address}/0.npy", f"{address}/1.npy"], rows=200)
        check(listed, X)
        np.save(tmp_path / "1.npy", planted(299))
        with pytest.raises(ChangedShardError, match=rf"{address}/1.npy\[0:200\] has changed"):
            OnlineNMF(ATOMS).fit_stream(listed)


@pytest.mark.filterwarnings("ignore")
def test_objects_of_google(tmp_path, monkeypatch):
    # Otherwise gcsfs asks a server of Google what kind of bucket it is.
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    pytest.importorskip("gcsfs")
    server = pytest.importorskip("gcp_storage_emulator.server")
    import fsspec

    there = server.create_server("127.0.0.1", 0, in_memory=True, default_bucket="bucket")
    there.start()
    try:
        port = there._api._httpd.server_port
        options = {"token": "anon", "endpoint_url": f"http://127.0.0.1:{port}"}
        store, X = fsspec.filesystem("gs", **options), write(tmp_path)
        for number in range(2):
            store.put_file(f"{tmp_path}/{number}.npy", f"bucket/x/{number}.npy")
        listed = shards("gs://bucket/x/*.npy", rows=200, storage_options=options)
        check(listed, X)
        store.put_file(f"{tmp_path}/1.npy", "bucket/x/0.npy")
        with pytest.raises(ChangedShardError, match=r"gs://bucket/x/0.npy\[0:200\] has changed"):
            OnlineNMF(ATOMS).fit_stream(listed)
    finally:
        there.stop()


@pytest.mark.long
def test_objects_of_amazon(tmp_path):
    server = pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    import fsspec

    there = server.ThreadedMotoServer(port=0)
    there.start()
    try:
        host, port = there.get_host_and_port()
        options = {"key": "a", "secret": "b", "endpoint_url": f"http://{host}:{port}"}
        store = fsspec.filesystem("s3", **options)
        store.mkdir("bucket")
        for number in range(3):
            np.save(tmp_path / "rows.npy", planted(300, number))
            store.put_file(str(tmp_path / "rows.npy"), f"bucket/x/{number}.npy")
        listed = shards("s3://bucket/x/*.npy", rows=200, storage_options=options)
        assert [shard.n_rows for shard in listed] == [200, 100] * 3
        with ThreadPoolExecutor(2) as pool:
            model = OnlineNMF(ATOMS, random_state=0)
            model.fit_stream(listed, slots=2, rounds=SMALL, engine=pool)
        assert model.n_samples_seen_ == 900
        codes = transform_shards(model, listed, "s3://bucket/codes", storage_options=options)
        assert len(codes) == 6
        with store.open("bucket/codes/000001.npy") as file:
            found = np.load(file)
        np.testing.assert_allclose(found, model.transform(planted(300)[200:]))
        store.put_file(str(tmp_path / "rows.npy"), "bucket/x/0.npy")
        with pytest.raises(ValueError, match=r"s3://bucket/x/0.npy\[0:200\] has changed"):
            OnlineNMF(ATOMS).fit_stream(listed)
    finally:
        there.stop()
