from __future__ import annotations

import gzip
import hashlib
import shutil
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from supclust.data import DataError, list_datasets, load_dataset
from supclust.data.sets.download import FetchError, RemoteFile, download
from supclust.data.sets.faces import UMIST_FILE
from supclust.data.sets.fetch import OFFERS, REXA_AT, UMIST_AT, fetch
from supclust.data.sets.spec import INCOMPLETE_FILE

CONTENT = bytes(range(256)) * 2000
HEADER = b"P5\n92 112\n255\n"  # of a PGM picture of UMIST


class Server(ThreadingHTTPServer):
    """Serves ``files``; cuts the next answers off after ``cut`` bytes; remembers requests."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.cut: int | None = None
        self.ranges = True
        self.requests: list[tuple[str, str | None]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        wanted = self.headers.get("Range")
        server.requests.append((self.path, wanted))
        content = server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and server.ranges else 0
        if start >= len(content) > 0:
            self.send_error(416)
            return
        body = content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if server.cut is None else body[: server.cut])

    def log_message(self, *arguments):
        return


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join(10)


def remote(server, checksum="right", **options) -> RemoteFile:
    server.files.setdefault("/big", CONTENT)
    digest = hashlib.sha256(CONTENT).hexdigest() if checksum == "right" else "0" * 64
    return RemoteFile(f"{server.url}/big", "set/big.bin", f"sha256:{digest}", **options)


def test_download_reports_progress_and_is_not_repeated(server, tmp_path):
    seen = []
    assert download(remote(server), tmp_path, lambda *call: seen.append(call))
    assert (tmp_path / "set" / "big.bin").read_bytes() == CONTENT
    assert seen[-1] == ("set/big.bin", len(CONTENT), len(CONTENT)) and len(seen) > 2
    assert not download(remote(server), tmp_path)
    assert len(server.requests) == 1


def test_a_cut_download_is_resumed(server, tmp_path):
    server.cut = 100_000
    with pytest.raises(FetchError, match=r"connection broke .*run again to resume"):
        download(remote(server), tmp_path)
    part = tmp_path / "set" / "big.bin.part"
    have = part.stat().st_size
    assert 0 < have <= 100_000 and not (tmp_path / "set" / "big.bin").exists()
    server.cut = None
    assert download(remote(server), tmp_path)
    assert server.requests[-1] == ("/big", f"bytes={have}-")
    assert (tmp_path / "set" / "big.bin").read_bytes() == CONTENT and not part.exists()


def test_a_server_without_ranges_sends_everything_again(server, tmp_path):
    part = tmp_path / "set" / "big.bin.part"
    part.parent.mkdir()
    part.write_bytes(CONTENT[:777])
    server.ranges = False
    assert download(remote(server), tmp_path)
    assert (tmp_path / "set" / "big.bin").read_bytes() == CONTENT


def test_a_complete_part_only_needs_its_checksum(server, tmp_path):
    part = tmp_path / "set" / "big.bin.part"
    part.parent.mkdir()
    part.write_bytes(CONTENT)
    assert download(remote(server), tmp_path)
    assert (tmp_path / "set" / "big.bin").read_bytes() == CONTENT


def test_wrong_content_is_not_kept(server, tmp_path):
    with pytest.raises(FetchError, match=r"expected checksum .* nothing was kept"):
        download(remote(server, checksum="wrong"), tmp_path)
    assert list((tmp_path / "set").iterdir()) == []


def test_a_part_of_something_else_heals_itself(server, tmp_path):
    part = tmp_path / "set" / "big.bin.part"
    part.parent.mkdir()
    part.write_bytes(b"something else")
    with pytest.raises(FetchError, match="nothing was kept"):
        download(remote(server), tmp_path)
    assert download(remote(server), tmp_path)


def test_a_damaged_file_is_downloaded_again(server, tmp_path):
    target = tmp_path / "set" / "big.bin"
    target.parent.mkdir()
    target.write_bytes(CONTENT[:-1])
    assert download(remote(server), tmp_path) and target.read_bytes() == CONTENT


def test_git_checksums(server, tmp_path):
    server.files["/hello"] = b"hello\n"
    blob = "ce013625030ba8dba906f756967f9e9ca394464a"  # git hash-object of "hello\n"
    assert download(RemoteFile(f"{server.url}/hello", "h", f"git-blob:{blob}"), tmp_path)
    with pytest.raises(FetchError, match="expected checksum"):
        download(RemoteFile(f"{server.url}/hello", "g", f"git-blob:{'0' * 40}"), tmp_path)


def test_offline_says_so(tmp_path):
    with Server() as closed:
        address = closed.url
    with pytest.raises(FetchError, match=r"cannot reach .*offline\? .*place it at .*stand-in"):
        download(RemoteFile(f"{address}/x", "x", None), tmp_path)


def test_refusals_are_passed_on(server, tmp_path):
    with pytest.raises(FetchError, match="the server answered 404"):
        download(RemoteFile(f"{server.url}/nothing", "x", None), tmp_path)
    with pytest.raises(ValueError, match="only http and https"):
        download(RemoteFile("file:///etc/hostname", "x", None), tmp_path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("aminer", "'aminer' cannot be fetched: .*converted"),
        ("np_coref", "not public"),
        ("enron", "must be one of faces, rexa, shapes2d"),
    ],
)
def test_what_cannot_be_fetched_is_explained(tmp_path, name, message):
    with pytest.raises(DataError, match=message):
        fetch(name, tmp_path)


def test_there_are_575_pictures():
    targets = [remote.target for remote in OFFERS["faces"].files]
    assert len(targets) == len(set(targets)) == 575
    assert sum(target.startswith("1b/") for target in targets) == 35


def serve_rexa(server, data_dir):
    for path in (data_dir / "rexa").rglob("*.*"):
        inside = path.relative_to(data_dir / "rexa").as_posix()
        if path.name == "gtClusters.tsv":
            server.files[f"/{REXA_AT}/{inside}"] = path.read_bytes()
        elif path.name == "pairFeatures.csv.gz":
            content = gzip.decompress(path.read_bytes())
            server.files[f"/{REXA_AT}/{inside.removesuffix('.gz')}"] = content


@pytest.mark.data
def test_rexa_from_a_mirror(server, tmp_path, data_dir):
    if not (data_dir / "rexa").is_dir():
        pytest.skip("no rexa below SUPCLUST_DATA")
    serve_rexa(server, data_dir)
    report = fetch("rexa", tmp_path, mirror=server.url)
    # Everything but the optional file, which is reported.
    assert report.downloaded == 15 and len(report.problems) == 1
    assert "jones_s/pairFeatures.csv" in report.problems[0]
    arguments = {"cache_dir": tmp_path / "cache", "source": "real"}
    mine = load_dataset("rexa", data_dir=tmp_path, **arguments)
    original = load_dataset("rexa", data_dir=data_dir, **arguments)
    assert mine.digest() == original.digest()
    again = fetch("rexa", tmp_path, mirror=server.url)
    assert (again.downloaded, again.present) == (0, 15)


@pytest.mark.data
def test_faces_from_a_mirror(server, tmp_path, data_dir):
    packed = data_dir / "umist_faces" / UMIST_FILE
    if not packed.is_file():
        pytest.skip("no umist_faces below SUPCLUST_DATA")
    with np.load(packed) as archive:
        original = {name: archive[name] for name in archive}
    for image, person, name in zip(
        original["images"], original["person"], original["filename"], strict=True
    ):
        path = f"/{UMIST_AT}/Classification_files/{person}/face/{name}"
        server.files[path] = HEADER + image.tobytes()
    assert fetch("faces", tmp_path, mirror=server.url).downloaded == 575
    with np.load(tmp_path / "umist_faces" / UMIST_FILE) as mine:
        assert set(mine) == set(original)
        for name in mine:
            assert np.array_equal(mine[name], original[name]), name
    assert [path.name for path in (tmp_path / "umist_faces").iterdir()] == [UMIST_FILE]


class Killed(BaseException):
    """As if the process had been ended."""


@pytest.mark.parametrize("name", ["faces", "rexa"])
def test_an_interrupted_fetch_counts_as_absent_and_is_resumed(server, tmp_path, name, monkeypatch):
    offer = OFFERS[name]
    for number, wanted in enumerate(offer.files):
        address = wanted.url.removeprefix("https://raw.githubusercontent.com")
        server.files[address] = b"%d" % number * 9
    monkeypatch.setitem(OFFERS, name, plain(offer, server))

    def killed_after_six(*_):
        if len(server.requests) > 6:
            raise Killed

    with pytest.raises(Killed):
        fetch(name, tmp_path, progress=killed_after_six, mirror=server.url)
    folder = tmp_path / offer.folder
    assert f"supclust data fetch {name}" in (folder / INCOMPLETE_FILE).read_text()
    arguments = {"data_dir": tmp_path, "cache_dir": tmp_path / "cache"}
    data = load_dataset(name, **arguments)
    assert data.source == "stand-in"
    assert "interrupted download" in data.notes[-1] and f"fetch {name} --data" in data.notes[-1]
    with pytest.raises(DataError, match=rf"interrupted download.*fetch {name} --data .* resumes"):
        load_dataset(name, source="real", **arguments)
    assert not next(row for row in list_datasets(tmp_path) if row["name"] == name)["real"]
    before = len(server.requests)
    report = fetch(name, tmp_path, mirror=server.url)
    assert report.present == 6 and len(server.requests) - before == len(offer.files) - 6
    assert not (folder / INCOMPLETE_FILE).exists() and not (folder / "downloads").exists()
    assert list_datasets(tmp_path)[["faces", "rexa"].index(name)]["real"]


def plain(offer, server):
    """The offer with checksums of what the server has, and without packing."""

    def checksum(remote):
        content = server.files[remote.url.removeprefix("https://raw.githubusercontent.com")]
        return f"sha256:{hashlib.sha256(content).hexdigest()}"

    def finish(downloads, folder):
        shutil.copy(next(downloads.rglob("*.pgm")), folder / UMIST_FILE)

    files = tuple(replace(remote, checksum=checksum(remote)) for remote in offer.files)
    return replace(offer, files=files, finish=finish if offer.finish else None)


def test_downloads_alone_are_no_data_set(tmp_path):
    (tmp_path / "umist_faces" / "downloads" / "1a").mkdir(parents=True)
    data = load_dataset("faces", data_dir=tmp_path, cache_dir=tmp_path / "cache")
    assert data.source == "stand-in" and "interrupted download" in data.notes[-1]


def test_a_packed_set_is_not_fetched_again(server, tmp_path):
    folder = tmp_path / "umist_faces"
    (folder / "downloads").mkdir(parents=True)
    (folder / UMIST_FILE).write_bytes(b"packed")
    (folder / INCOMPLETE_FILE).write_text("killed just before the end")
    report = fetch("faces", tmp_path, mirror=server.url)
    assert report.downloaded == 0 and server.requests == []
    assert [path.name for path in folder.iterdir()] == [UMIST_FILE]


def test_offline_leaves_nothing_behind(tmp_path):
    with Server() as closed:
        address = closed.url
    with pytest.raises(FetchError, match="cannot reach"):
        fetch("rexa", tmp_path, mirror=address)
    assert not (tmp_path / "rexa").exists()
    data = load_dataset("rexa", data_dir=tmp_path, cache_dir=tmp_path / "cache")
    assert len(data.notes) == 1 and data.notes[0].startswith("STAND-IN")


def test_data_that_were_there_stay_in_use(tmp_path):
    block = tmp_path / "rexa" / "mine"
    block.mkdir(parents=True)
    (block / "gtClusters.tsv").write_text("0\tx\n1\tx\n2\ty\n")
    (block / "pairFeatures.csv").write_text("0,1,0.5,1\n0,2,0.25,0\n1,2,0.125,0\n")
    with Server() as closed:
        address = closed.url
    with pytest.raises(FetchError, match="cannot reach"):
        fetch("rexa", tmp_path, mirror=address)
    data = load_dataset("rexa", data_dir=tmp_path, cache_dir=tmp_path / "cache")
    assert data.source == "real" and data.n == 3


def test_altered_faces_are_not_kept(server, tmp_path):
    for remote_file in OFFERS["faces"].files:
        address = remote_file.url.removeprefix("https://raw.githubusercontent.com")
        server.files[address] = HEADER + bytes(112 * 92)
    with pytest.raises(FetchError, match=r"does not have the expected checksum .*nothing was kept"):
        fetch("faces", tmp_path, mirror=server.url)
    assert not (tmp_path / "umist_faces").exists()
