"""Closed word lists that the mention attributes are read from. All lower case."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DEMONSTRATIVES = frozenset(("this", "that", "these", "those"))
INDEFINITE_DETERMINERS = _words(
    "a an some any another each every no either neither such what which whatever"
)

# Pronouns whose form says that a person is meant. First person plural is left out: an organisation
# says "we" as well.
PERSON_PRONOUNS = _words(
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers "
    "herself s/he one oneself who whom whose whoever someone somebody anyone anybody everyone "
    "everybody nobody ye"
)
THING_PRONOUNS = _words(
    "it its it's itself something anything everything nothing what whatever which"
)
# "you" is singular or plural, whatever a parser chose.
NUMBERLESS_PRONOUNS = _words("you your yours ye who whom whose what which")

MALE_WORDS = _words(
    "mr mr. sir lord king prince duke baron emperor father dad grandfather son grandson brother "
    "uncle nephew husband widower boyfriend groom man men boy boys gentleman guy monk priest pope "
    "bishop chairman congressman spokesman businessman statesman salesman actor waiter hero "
    "fathers sons brothers husbands"
)
FEMALE_WORDS = _words(
    "mrs mrs. ms ms. miss madam lady queen princess duchess baroness mother mom mum "
    "grandmother daughter granddaughter sister aunt niece wife widow girlfriend bride woman women "
    "girl girls nun chairwoman congresswoman spokeswoman businesswoman actress waitress heroine "
    "mothers daughters sisters wives"
)
# The commonest given names that are hardly ever the other sex's.
MALE_NAMES = _words(
    "james john robert michael william david richard joseph thomas charles christopher daniel "
    "matthew anthony mark donald steven paul andrew joshua kenneth kevin brian george edward "
    "ronald timothy jason jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin "
    "scott brandon benjamin samuel gregory frank alexander raymond patrick jack dennis jerry "
    "peter henry adam arthur albert louis carl karl hans fritz juan jose carlos pedro antonio "
    "francisco luis jean pierre jacques ivan vladimir boris ali mohammed muhammad ahmed barack "
    "bill jim tom bob joe mike steve dan fred harry philip simon martin ian neil alan"
)
FEMALE_NAMES = _words(
    "mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty "
    "margaret sandra ashley kimberly emily donna michelle carol amanda melissa deborah stephanie "
    "rebecca laura sharon cynthia kathleen amy angela shirley anna brenda pamela emma nicole "
    "helen samantha katherine christine rachel carolyn janet catherine maria heather diane ruth "
    "julie joyce virginia victoria lauren christina joan evelyn judith megan alice jane claire "
    "anne ann marie rosa sophie charlotte florence diana hillary angelina kate lucy julia"
)

# Words too general to say that two phrases share a word.
FUNCTION_UPOS = frozenset(("DET", "PUNCT", "ADP", "PART", "CCONJ", "SCONJ", "AUX", "PRON"))
CORE_RELATIONS = frozenset(("compound", "flat", "amod", "nummod", "nmod:desc", "goeswith"))
SUBJECT, OBJECT, OBLIQUE = ("nsubj", "csubj"), ("obj", "iobj"), ("obl",)
