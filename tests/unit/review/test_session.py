"""A review: answers are in the store at once, undo, contradictions, a second reader."""

from __future__ import annotations

import json
import threading
from http.client import HTTPConnection

import pytest

from store_tables import clusters_of
from supclust import EntityStore
from supclust.review.answers import FILE, Answers, judged_pairs
from supclust.review.server import ReviewServer
from supclust.review.session import SHOWN, Review


def test_answers_are_corrections_of_the_store(store) -> None:
    review = Review(store)
    answers = ["yes", "no", "unsure"] * 4
    seen = []
    for answer in answers:
        question = review.state()["question"]
        assert question["key"] not in seen
        seen.append(question["key"])
        left, right = ([one["id"] for one in question[side]] for side in ("left", "right"))
        assert 1 <= len(left) <= SHOWN
        state = review.answer(question["key"], answer)
        assert "notice" not in state
        again = EntityStore.open(store.folder)
        for a in left:
            for b in right:
                if answer == "yes":
                    assert again.cluster_of(a) == again.cluster_of(b)
                elif answer == "no":
                    assert again.cluster_of(a) != again.cluster_of(b)
    assert state["answered"] == {"yes": 4, "no": 4, "unsure": 4}
    assert sum(match for *_, match in judged_pairs(store)) >= 4
    assert {row["command"] for row in store.log().to_pylist()} >= {"review"}


def test_undo_restores_the_clusters_and_asks_again(store) -> None:
    before = clusters_of(store)
    review = Review(store)
    first = review.state()["question"]["key"]
    second = review.answer(first, "no")["question"]["key"]
    assert second != first
    state = review.undo()
    assert state["question"]["key"] == first
    assert {k: sorted(v) for k, v in groups(before).items()} == groups(clusters_of(store))
    assert state["answered"] == {"yes": 0, "no": 0, "unsure": 0}
    assert "no answer to take back" in review.undo()["notice"]


def groups(clusters):
    made = {}
    for id, cluster in clusters.items():
        made.setdefault(cluster, []).append(id)
    return {cluster: sorted(ids) for cluster, ids in made.items()}


def test_a_review_goes_on_where_it_was(store) -> None:
    review = Review(store)
    for answer in ("unsure", "yes", "no"):
        review.answer(review.state()["question"]["key"], answer)
    expected = {one["question"] for one in review.answers.given}
    again = Review(EntityStore.open(store.folder))
    assert again.answers.keys == expected
    assert again.state()["question"]["key"] not in expected
    assert again.state()["answered"] == review.state()["answered"]


def test_a_question_is_answered_once(store) -> None:
    review = Review(store)
    key = review.state()["question"]["key"]
    review.answer(key, "no")
    version = store.version
    state = review.answer(key, "yes")
    assert "not asked any more" in state["notice"]
    assert store.version == version


def test_a_contradiction_is_refused_with_its_chain(store) -> None:
    review = Review(store)
    question = review.state()["question"]
    a, b = question["left"][0]["id"], question["right"][0]["id"]
    store.correct(apart=[(a, b)])
    state = review.answer(question["key"], "yes")
    assert "must not contradict" in state["notice"]
    assert state["answered"]["yes"] == 0


def test_corrections_undone_elsewhere(store) -> None:
    review = Review(store)
    review.answer(review.state()["question"]["key"], "no")
    EntityStore.open(store.folder).correct(undo=True)
    review.undo()
    assert not review.answers.given


def test_a_store_that_another_process_changes(store) -> None:
    review = Review(store)
    question = review.state()["question"]
    gone = [one["id"] for one in question["left"]]
    EntityStore.open(store.folder).update(delete=gone)
    state = review.answer(question["key"], "yes")
    assert "not asked any more" in state["notice"]
    assert state["records"] == len(store) - len(gone)
    assert review.answer(state["question"]["key"], "no")["answered"]["no"] == 1


def test_bad_answers(store) -> None:
    answers = Answers(store)
    with pytest.raises(ValueError, match="yes, no or unsure; received 'maybe'"):
        answers.add("k", "maybe", ["a"], ["b"])
    (store.folder / FILE).write_text('{"answers": [{"question": 3}]}')
    with pytest.raises(ValueError, match=FILE):
        Answers(store)


@pytest.fixture
def server(store):
    with ReviewServer(Review(store)) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def request(server, method, path, body=None, **headers):
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    return response.status, response.read(), dict(response.getheaders())


def test_only_the_token_opens_the_page(server) -> None:
    token = f"/{server.token}/"
    status, content, headers = request(server, "GET", token)
    assert status == 200
    assert b"one entity" in content
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    for path in ("/", "/state", f"/{server.token[:-1]}/", f"/{server.token}x/state", "//state"):
        assert request(server, "GET", path)[0] == 403
    for name in ("nothing", "../session.py", "..%2fsession.py", "page.html"):
        assert request(server, "GET", token + name)[0] == 404
    for host in ("example.com", f"example.com:{server.server_port}", "127.0.0.1", ""):
        assert request(server, "GET", token, Host=host)[0] == 403
    local = f"localhost:{server.server_port}"
    assert request(server, "GET", token + "state", Host=local)[0] == 200


def test_requests_that_are_wrong_change_nothing(server, store) -> None:
    answer = f"/{server.token}/answer"
    key = json.loads(request(server, "GET", f"/{server.token}/state")[1])["question"]["key"]
    good = json.dumps({"question": key, "answer": "no"})
    kind = {"Content-Type": "application/json"}
    assert request(server, "POST", answer, good)[0] == 415
    assert request(server, "POST", "/wrong/answer", good, **kind)[0] == 403
    for body in ("", "{", "[]", "{}", "3", json.dumps({"question": key})):
        assert request(server, "POST", answer, body, **kind)[0] == 400
    assert request(server, "POST", answer, " " * 20_000, **kind)[0] == 413
    assert request(server, "POST", f"/{server.token}/other", good, **kind)[0] == 404
    maybe = json.dumps({"question": key, "answer": "maybe"})
    assert (
        "yes, no or unsure"
        in json.loads(request(server, "POST", answer, maybe, **kind)[1])["notice"]
    )
    assert EntityStore.open(store.folder).version == 1
    status, content, _ = request(server, "POST", answer, good, **kind)
    assert status == 200
    assert json.loads(content)["answered"]["no"] == 1
    assert EntityStore.open(store.folder).version == 2
