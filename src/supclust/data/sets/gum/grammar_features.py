"""Pair features of GUM coreference: types of phrase, agreement, grammatical relations."""

from __future__ import annotations

from supclust.data.sets.gum.pairs import yes_no

TYPE = (
    yes_no("antecedent_pronoun", "the antecedent is a pronoun", lambda p: p.antecedent("pronoun")),
    yes_no("anaphor_pronoun", "the anaphor is a pronoun", lambda p: p.anaphor("pronoun")),
    yes_no("both_pronouns", "both are pronouns", lambda p: p.both("pronoun")),
    yes_no("same_pronoun", "both are pronouns of the same form", lambda p: p.same("pronoun_form")),
    yes_no("antecedent_proper", "the antecedent is a name", lambda p: p.antecedent("proper")),
    yes_no("anaphor_proper", "the anaphor is a name", lambda p: p.anaphor("proper")),
    yes_no("both_proper", "both are names", lambda p: p.both("proper")),
    yes_no(
        "antecedent_definite",
        "the antecedent has the, this, that or a possessor",
        lambda p: p.antecedent("definite"),
    ),
    yes_no(
        "anaphor_definite",
        "the anaphor has the, this, that or a possessor",
        lambda p: p.anaphor("definite"),
    ),
    yes_no(
        "antecedent_indefinite",
        "the antecedent has a, some, any, no, each or the like",
        lambda p: p.antecedent("indefinite"),
    ),
    yes_no(
        "anaphor_indefinite",
        "the anaphor has a, some, any, no, each or the like",
        lambda p: p.anaphor("indefinite"),
    ),
    yes_no(
        "anaphor_demonstrative",
        "the anaphor is or has this, that, these or those",
        lambda p: p.anaphor("demonstrative"),
    ),
    yes_no("anaphor_bare", "the anaphor is a noun without determiner", lambda p: p.anaphor("bare")),
)

AGREEMENT = (
    yes_no("number_same", "both numbers known, the same", lambda p: p.same("number")),
    yes_no("number_differs", "both numbers known, not the same", lambda p: p.differ("number")),
    yes_no("gender_same", "both genders known, the same", lambda p: p.same("gender")),
    yes_no("gender_differs", "both genders known, not the same", lambda p: p.differ("gender")),
    yes_no("person_same", "both pronouns, of the same person", lambda p: p.same("person")),
    yes_no("person_differs", "both pronouns, of different person", lambda p: p.differ("person")),
    yes_no("first_person", "both pronouns of the first person", lambda p: p.both_are("person", 1)),
    yes_no("animacy_differs", "one is a person, the other a thing", lambda p: p.differ("animate")),
    yes_no("type_same", "both entity types known, the same", lambda p: p.same("entity_type")),
    yes_no(
        "type_differs", "both entity types known, not the same", lambda p: p.differ("entity_type")
    ),
    yes_no(
        "pronoun_agrees",
        "the anaphor is a pronoun, the two are compatible: not nested, no known difference above",
        lambda p: p.anaphor("pronoun") & p.compatible,
    ),
    yes_no(
        "nearest_compatible",
        "the anaphor is a pronoun, the antecedent the last compatible one before it",
        lambda p: p.anaphor("pronoun") & p.nearest(p.compatible),
    ),
    yes_no(
        "nearest_subject",
        "the anaphor is a pronoun, the antecedent the last compatible subject before it",
        lambda p: p.anaphor("pronoun") & p.nearest(p.compatible & p.antecedent("subject")),
    ),
)

GRAMMAR = (
    yes_no("same_role", "the same grammatical relation", lambda p: p.same("role")),
    yes_no("antecedent_subject", "the antecedent is a subject", lambda p: p.antecedent("subject")),
    yes_no("anaphor_subject", "the anaphor is a subject", lambda p: p.anaphor("subject")),
    yes_no("both_subjects", "both are subjects", lambda p: p.both("subject")),
    yes_no("both_objects", "both are objects", lambda p: p.both("object")),
    yes_no(
        "apposition", "one head is the apposition of the other", lambda p: p.linked_by("apposed")
    ),
    yes_no(
        "predicate",
        "one is the subject of the other, which has a copula",
        lambda p: (
            (p.governs & p.anaphor("subject") & p.antecedent("has_copula"))
            | (p.governed & p.antecedent("subject") & p.anaphor("has_copula"))
        ),
    ),
    yes_no(
        "coordination",
        "one head is conjoined to the other, or both to a third",
        lambda p: p.linked_by("conjoined") | (p.both("conjoined") & p.same_governor),
    ),
    yes_no(
        "same_governor",
        "the heads depend on the same word, and the anaphor is not reflexive",
        lambda p: p.same_governor & ~p.anaphor("reflexive"),
    ),
    yes_no(
        "reflexive",
        "the anaphor is reflexive, the antecedent a subject in its sentence",
        lambda p: p.anaphor("reflexive") & p.antecedent("subject") & (p.sentences_apart == 0),
    ),
    yes_no("nested", "the anaphor lies inside the antecedent", lambda p: p.nested),
    yes_no(
        "shared_head_token",
        "the same head token: a coordination and its first member",
        lambda p: p.same_head_token,
    ),
)
