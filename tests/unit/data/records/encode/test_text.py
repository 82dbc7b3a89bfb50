"""Normal forms of text in scripts other than Latin."""

import numpy as np
import pytest

from supclust.data.records.comparisons import Comparison, RecordComparisons
from supclust.data.records.encode.text import code_form, list_form, text_form
from supclust.resolve.blocking.keys import KeyColumn
from supclust.resolve.blocking.predicates import PREDICATES


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Crème Brûlée", "creme brulee"),
        ("Ёлка", "елка"),
        ("Άλφα", "αλφα"),
        ("ガス", "ガス"),  # not "カス": voicing makes another syllable
        ("ﾊﾟｲﾝ", "パイ イン"),
        ("１２３ＡＢ", "123ab"),
        ("㈱日窒", "株 日窒"),
        ("日窒鑛業2", "日窒 窒鑛 鑛業 2"),
        ("王 小明", "王 小明"),
        ("王小明", "王小 小明"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("서울 특별시", "서울 특별시"),
        ("佐々木", "佐々 々木"),
        ("葛\U000e0100飾区", "葛飾 飾区"),
        ("Windows™\ufe0f 1\ufe0f\u20e3", "windowstm 1"),
        ("l\u0338ódz", "lodz"),
        ("—", "—"),
    ],
)
def test_text_forms(text, form):
    assert text_form(text) == form


def test_codes_and_lists_have_no_pairs_that_overlap():
    assert code_form("京都 500-あ") == "京都500あ"
    assert sorted(list_form("日窒鑛業; 王").split("\x1f")) == ["日窒 窒鑛 鑛業", "王"]


def test_names_without_spaces_share_words():
    records = RecordComparisons((Comparison("name", "text"),))
    encoded = records.encode({"name": ["日窒鑛業", "日窒鉱業", "三井銀行"]})
    at = records.feature_names.index("name: shared words")
    shared = records.features(encoded, np.array([0, 0]), np.array([1, 2]))[:, at]
    assert shared.tolist() == pytest.approx([1 / 5, 0])
    keys = PREDICATES["words"](KeyColumn.of(["日窒鑛業", "日窒鉱業", "三井銀行"], "text"))
    own = [set(keys.items[keys.starts[k] : keys.starts[k + 1]].tolist()) for k in range(3)]
    assert own[0] & own[1]
    assert not own[0] & own[2]


def test_models_from_before_read_text_as_they_did():
    assert text_form("ガス 日窒鑛業", 1) == "カス 日窒鑛業"
    assert code_form("ガ-1", 1) == "カ1"
    old = Comparison("name", "text").to_json()
    del old["form_version"]
    made = RecordComparisons.from_json([old])
    assert made.comparisons[0].form_version == 1
    encoded = made.encode({"name": ["日窒鑛業", "日窒鉱業"]})
    at = made.feature_names.index("name: shared words")
    assert made.features(encoded, np.array([0]), np.array([1]))[0, at] == 0
