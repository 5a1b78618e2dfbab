#!/usr/bin/env python3
"""generate.py SEED COUNT: random cases for the scoring rules, one per line.

The same seed gives the same lines everywhere.  The cases are meant to be
nasty: numbers spelled in many ways, sums that miss by 1e-30, thresholds hit
exactly, text that is equal only after folding, specs that are errors.

Numbers are written digit by digit (Num), never through json.dumps.  They
have at most 30 digits and exponents within +-100.  Characters are those of
Unicode 13, so that newer tables give the same answers.
"""

import json
import random
import sys
import unicodedata

MOST_DIGITS = 30
MOST_EXPONENT = 100


# ---------------------------------------------------------------- numbers


class Num:
    """The number mantissa x 10^exponent, and one spelling of it."""

    def __init__(self, mantissa, exponent, text):
        self.mantissa = mantissa
        self.exponent = exponent
        self.text = text


def spell(rng, mantissa, exponent=0):
    """One of the many texts of mantissa x 10^exponent."""
    sign = "-" if mantissa < 0 else ""
    digits = str(abs(mantissa))
    if mantissa == 0:
        return rng.choice(["0", "0", "-0", "0.0", "-0.0", "0e5", "-0E-3",
                           "0.000", "0E+00", "-0.0e+100"])
    while digits.endswith("0") and (len(digits) > MOST_DIGITS or rng.random() < 0.5):
        digits, exponent = digits[:-1], exponent + 1
    while len(digits) < MOST_DIGITS - 1 and rng.random() < 0.2:
        digits, exponent = digits + "0", exponent - 1
    if rng.random() < 0.6:
        text = plain(digits, exponent)
        if text is not None:
            return sign + text
    # How many digits stand before the point; the exponent makes up for it.
    for _ in range(20):
        point = rng.randint(-2, len(digits))
        if point <= 0:
            mantissa_text = "0." + "0" * -point + digits
        elif point == len(digits):
            mantissa_text = digits
        else:
            mantissa_text = digits[:point] + "." + digits[point:]
        power = exponent + len(digits) - point
        count = sum(1 for c in mantissa_text if c.isdigit())
        if count > MOST_DIGITS or abs(power) > MOST_EXPONENT:
            continue
        if power == 0 and rng.random() < 0.7:
            return sign + mantissa_text
        return sign + mantissa_text + exponent_text(rng, power)
    return sign + digits + exponent_text(rng, exponent)


def plain(digits, exponent):
    if exponent >= 0:
        text = digits + "0" * exponent
    elif -exponent < len(digits):
        text = digits[:exponent] + "." + digits[exponent:]
    else:
        text = "0." + "0" * (-exponent - len(digits)) + digits
    if sum(1 for c in text if c.isdigit()) > MOST_DIGITS:
        return None
    return text


def exponent_text(rng, power):
    sign = "-" if power < 0 else rng.choice(["", "+"])
    digits = str(abs(power))
    if rng.random() < 0.15:
        digits = "0" * (3 - len(digits)) + digits
    return rng.choice("eE") + sign + digits


def num(rng, mantissa, exponent=0):
    return Num(mantissa, exponent, spell(rng, mantissa, exponent))


def whole(number):
    """A count, in its plain spelling."""
    return Num(number, 0, str(number))


def respell(rng, number):
    return num(rng, number.mantissa, number.exponent)


def plus(rng, number, mantissa, exponent):
    """number + mantissa x 10^exponent, or None when it has no room."""
    low = min(number.exponent, exponent)
    if number.exponent - low > 60 or exponent - low > 60:
        return None
    total = (number.mantissa * 10 ** (number.exponent - low)
             + mantissa * 10 ** (exponent - low))
    if len(str(abs(total))) > MOST_DIGITS or low < -MOST_EXPONENT:
        return None
    return num(rng, total, low)


def some_number(rng):
    kind = rng.randrange(12)
    if kind < 4:
        return num(rng, rng.randint(-5, 20))
    if kind < 7:
        return num(rng, rng.randint(-999, 9999), -rng.randint(1, 3))
    if kind == 7:
        return num(rng, rng.choice([2 ** 53, 2 ** 53 + 1, 2 ** 63, 2 ** 64 + 1,
                                    -(2 ** 63) - 1, 10 ** 22 + 1]))
    if kind == 8:
        return num(rng, rng.choice([1, 3, 30000000000000004, 1000000000000000055]),
                   rng.choice([-1, -17, -19]))
    if kind == 9:
        return num(rng, rng.randint(1, 10 ** 30 - 1), -rng.randint(0, 40))
    if kind == 10:
        return num(rng, rng.randint(1, 9), rng.choice([100, 99, 60, -99, -100]))
    return num(rng, 0)


# ------------------------------------------------------------------- text

# Each group holds texts that are easily confused; most are equal once
# folded and composed, some are not.
CONFUSABLE = [
    ["apple", "APPLE", "Apple", "appel"],
    ["kitten", "sitting", "Kitten"],
    ["stra\u00dfe", "STRASSE", "stra\u1e9ee", "STRA\u1e9eE", "strase"],
    ["\u0130", "i\u0307", "i", "\u0131", "I"],
    ["\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2", "\u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c3",
     "\u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3"],
    ["\ufb01ne", "fine", "FINE"],
    ["\ufb03", "ffi", "\ufb00i"],
    ["\ufb05", "\ufb06", "st", "\u017ft"],
    ["\uff21\uff42\uff43", "\uff41\uff22\uff23", "Abc"],
    ["\u00e9", "e\u0301", "\u00c9", "E\u0301", "e"],
    ["q\u0323\u0307", "q\u0307\u0323", "Q\u0307\u0323"],
    ["\u1e69", "s\u0323\u0307", "s\u0307\u0323", "\u1e61\u0323", "\u1e63\u0307"],
    ["\u212b", "\u00e5", "a\u030a", "\u00c5"],
    ["\u212a", "k", "K"],
    ["\u2126", "\u03c9", "\u03a9"],
    ["\u00b5", "\u03bc", "\u039c"],
    ["\uac01", "\u1100\u1161\u11a8", "\uac00\u11a8"],
    ["\u0149", "\u02bcn", "'n"],
    ["\u01f0", "j\u030c", "J\u030c"],
    ["\u0390", "\u03b9\u0308\u0301", "\u1fd3"],
    ["\u1fb3", "\u03b1\u03b9", "\u1fbc", "\u03b1\u0345"],
    ["\u03b1\u0345\u0301", "\u03b1\u0301\u0345", "\u1fb4"],
    ["\u13f0", "\u13f8"],
    ["\u13a0", "\uab70"],
    ["\u2167", "\u2177", "VIII"],
    ["\u24b6", "\u24d0"],
    ["\u01c4", "\u01c5", "\u01c6", "d\u017e"],
    ["\U00010400", "\U00010428"],
    ["\u023a", "\u2c65"],
    ["\u0958", "\u0915\u093c"],
    ["\uf900", "\u8c48"],
    ["\u0344", "\u0308\u0301"],
    ["\u1f80", "\u1f88", "\u1f00\u03b9"],
    ["\U0001f469\u200d\U0001f469\u200d\U0001f467", "\U0001f469\U0001f469\U0001f467"],
    ["\U0001f3f3\ufe0f\u200d\U0001f308", "\U0001f3f3\u200d\U0001f308"],
    ["\U0001f44d\U0001f3fd", "\U0001f44d"],
    ["\u65e5\u672c", "\u65e5\u672c\u8a9e"],
    ["a\u200bb", "ab", "a b"],
    ["a\u180eb", "a b"],
    ["\ufeffbom", "bom"],
    ["a\u001cb", "a b", "a\u001fb"],
    ["x\u0007y", "xy"],
    ["\"q\"", "\\q\\", "/q/"],
]

SPACES = ["\t", "\n", "\u000b", "\u000c", "\r", " ", "\u0085", "\u00a0", "\u1680",
          "\u2000", "\u2001", "\u2005", "\u200a", "\u2028", "\u2029", "\u202f",
          "\u205f", "\u3000"]

LETTERS = "abcdeXYZ \u00e4\u00df\u0130\u03c3\u0301\u0323\u0345\U0001f600"


def space(rng):
    return "".join(rng.choice(SPACES) for _ in range(rng.choice([1, 1, 1, 2, 3])))


def some_text(rng):
    kind = rng.randrange(10)
    if kind == 0:
        return rng.choice(["", " ", space(rng), "0", "1", "true", "null"])
    if kind == 1:
        return "".join(rng.choice(LETTERS) for _ in range(rng.randint(1, 25)))
    words = [rng.choice(rng.choice(CONFUSABLE)) for _ in range(rng.randint(1, 3))]
    return " ".join(words)


def text_like(rng, text):
    """A text that may or may not fold to the same."""
    for _ in range(rng.randint(0, 3)):
        kind = rng.randrange(8)
        if kind == 0:
            text = text.upper()
        elif kind == 1:
            text = text.lower()
        elif kind == 2:
            text = unicodedata.normalize(rng.choice(["NFC", "NFD"]), text)
        elif kind == 3:
            text = text.replace(" ", space(rng))
        elif kind == 4:
            text = space(rng) + text + space(rng)
        elif kind == 5:
            group = rng.choice(CONFUSABLE)
            for other in group:
                text = text.replace(other, rng.choice(group))
        elif kind == 6 and text:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(["", "x", "\u0301", " "]) + text[at + 1:]
        else:
            at = rng.randint(0, len(text))
            text = text[:at] + rng.choice(LETTERS) + text[at:]
    return text[:60]


# ----------------------------------------------------------------- values


def some_value(rng, depth=0):
    kind = rng.randrange(14 if depth < 3 else 10)
    if kind < 4:
        return some_number(rng)
    if kind < 8:
        return some_text(rng)
    if kind == 8:
        return rng.choice([True, False])
    if kind == 9:
        return None
    if kind < 12:
        return [some_value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return {some_key(rng): some_value(rng, depth + 1)
            for _ in range(rng.randint(0, 3))}


def some_key(rng):
    return rng.choice(["a", "b", "c", "A", "", " ", "0", "\u00e9", "e\u0301", "x/y",
                       "m~n", "\U0001f600"])


def same_value(rng, value):
    """Equal by value, written anew (key order is shuffled when written)."""
    if isinstance(value, Num):
        return respell(rng, value)
    if isinstance(value, list):
        return [same_value(rng, item) for item in value]
    if isinstance(value, dict):
        return {key: same_value(rng, item) for key, item in value.items()}
    return value


def near_value(rng, value):
    """Almost equal: another type, another digit, another order."""
    if isinstance(value, Num):
        kind = rng.randrange(4)
        if kind == 0:
            return value.text
        if kind == 1:
            return rng.choice([True, False, None])
        exponent = rng.choice([0, -1, -17, -29, -30])
        near = plus(rng, value, rng.choice([1, -1]), exponent)
        return near if near is not None else num(rng, 7)
    if isinstance(value, bool):
        return rng.choice([whole(int(value)), not value, str(value).lower()])
    if value is None:
        return rng.choice([False, whole(0), "", "null", [], {}])
    if isinstance(value, str):
        if rng.random() < 0.2:
            return [value]
        return text_like(rng, value)
    if isinstance(value, list):
        copy = [same_value(rng, item) for item in value]
        kind = rng.randrange(4)
        if kind == 0 or not copy:
            return copy + [some_value(rng, 3)]
        if kind == 1:
            return copy[::-1]
        if kind == 2:
            return copy[:-1]
        at = rng.randrange(len(copy))
        copy[at] = near_value(rng, copy[at])
        return copy
    copy = {key: same_value(rng, item) for key, item in value.items()}
    if not copy or rng.random() < 0.3:
        copy["extra"] = None
        return copy
    key = rng.choice(list(copy))
    if rng.random() < 0.3:
        del copy[key]
    else:
        copy[key] = near_value(rng, copy[key])
    return copy


def nested(rng, levels):
    value = some_value(rng, 3)
    for _ in range(levels):
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


def other_type(rng, value):
    """A value of another JSON type; for numbers often a string of digits."""
    choices = [whole(1), "1", True, None, [], {}, [whole(1)], {"0": whole(1)}]
    if isinstance(value, Num):
        choices = [value.text, True, None, [value], {}]
    elif isinstance(value, str):
        choices = [whole(1), True, None, [value], {}]
    elif isinstance(value, list):
        choices = [whole(1), "[]", None, False, {}, {"0": whole(1)}]
    return rng.choice(choices)


# ---------------------------------------------------------------- writing


def string_text(rng, text, style):
    if style == 0:
        return json.dumps(text, ensure_ascii=False)
    if style == 1:
        return json.dumps(text, ensure_ascii=True)
    out = ['"']
    for char in text:
        if char == "/" and rng.random() < 0.3:
            out.append("\\/")
        elif rng.random() < 0.3:
            units = char.encode("utf-16-be")
            for i in range(0, len(units), 2):
                unit = "%04x" % (units[i] * 256 + units[i + 1])
                out.append("\\u" + (unit.upper() if rng.random() < 0.5 else unit))
        else:
            out.append(json.dumps(char, ensure_ascii=False)[1:-1])
    return "".join(out) + '"'


def write(rng, value, style, spaced):
    def gap():
        return rng.choice(["", " ", "\t", "  "]) if spaced else ""

    if isinstance(value, Num):
        return value.text
    if isinstance(value, str):
        return string_text(rng, value, style)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, list):
        inside = ("," + gap()).join(
            write(rng, item, style, spaced) + gap() for item in value)
        return "[" + gap() + inside + "]"
    if isinstance(value, dict):
        keys = list(value)
        if rng.random() < 0.5:
            rng.shuffle(keys)
        inside = ("," + gap()).join(
            string_text(rng, key, style) + gap() + ":" + gap()
            + write(rng, value[key], style, spaced) for key in keys)
        return "{" + gap() + inside + "}"
    raise TypeError("a plain number has no spelling: %r" % (value,))


# --------------------------------------------------------------- documents

KEYS = ["answers", "result", "text", "items", "expected", "a/b", "m~n", "~1", "~0",
        "\u00e9", "e\u0301", "\u043a\u043b\u044e\u0447", "x y", "0", "-", "01", "q\"uote",
        "back\\slash", "\U0001f600", "/lead", "\u03c3", "\u03c2", "\uff41", "\U00010400"]

BAD_INDEXES = ["-", "01", "00", "-0", "-1", "+1", "1.0", " 1", "1 ", "", "1e0", "0x1",
               "\uff11", "\u0661", "4294967296", "18446744073709551616", "99", "~0", "a"]


def pointer(tokens):
    return "".join(
        "/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def new_key(rng, document):
    key = rng.choice(KEYS)
    while key in document:
        key += rng.choice("ab_")
    return key


def put(rng, document, tokens, value):
    """Put the value where the tokens lead, making what is on the way."""
    for token, following in zip(tokens, tokens[1:] + [None]):
        if following is None:
            child = value
        elif isinstance(following, int):
            child = [some_value(rng, 3) for _ in range(following + rng.randint(1, 3))]
        else:
            child = {rng.choice(["z", "Z", "00"]): some_value(rng, 3)}
        document[token] = child
        document = child


def place(rng, document, value, how="there"):
    """Store the value (how: there, missing, bad) and give the field text."""
    if isinstance(document, list):
        tokens = [len(document)]
        if how == "missing":
            tokens = [50]
        else:
            document.append(None)
    else:
        tokens = [new_key(rng, document)]
        if how == "missing":
            # No other field is ever given this key.
            tokens = [tokens[0] + "_gone"]
    if how == "bad":
        tokens.append(rng.choice([0, 1]))
    elif isinstance(document, list) or rng.random() < 0.35:
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
            tokens.append(rng.choice([0, 1, 2, 10, "k", "a/b", "m~n", "~1", "0", "01",
                                      "-", "", "\u00e9", "e\u0301"]))
    if how != "missing":
        put(rng, document, tokens, value)
    elif len(tokens) > 1 and isinstance(document, dict):
        document[tokens[0]] = rng.choice([some_value(rng, 3), [], {}])
    if how == "bad":
        return pointer(tokens[:-1] + [rng.choice(BAD_INDEXES)])
    if len(tokens) == 1 and isinstance(tokens[0], str):
        key = tokens[0]
        if how == "missing":
            # A key in another letter case is another key.
            document[key[:-5] + "_GONE"] = value
        if not key.startswith("/") and rng.random() < 0.7:
            return key
    text = pointer(tokens)
    if isinstance(document, dict) and rng.random() < 0.05:
        document[text] = other_type(rng, value)
    return text


# -------------------------------------------------------------- primitives
#
# Each gives (keys of the dimension, submission value, truth value).


def quality(rng):
    return rng.choice(["same", "same", "same", "near", "near", "far"])


def make_exact_match(rng):
    truth = some_value(rng)
    if rng.random() < 0.03:
        truth = nested(rng, rng.randint(20, 45))
    how = quality(rng)
    if how == "same":
        return {}, same_value(rng, truth), truth
    if how == "near":
        return {}, near_value(rng, truth), truth
    return {}, some_value(rng), truth


def make_exact_match_ratio(rng):
    truth = [some_value(rng, 2) for _ in range(rng.choice([0, 1, 2, 3, 4, 7, 10]))]
    found = []
    for item in truth:
        far = rng.random()
        found.append(same_value(rng, item) if far < 0.75 else near_value(rng, item))
    kind = rng.randrange(8)
    if kind == 0:
        found = found[:-1]
    elif kind == 1:
        found.append(some_value(rng, 2))
    elif kind == 2:
        rng.shuffle(found)
    elif kind == 3:
        found = []
    return {}, found, truth


def make_numeric_tolerance(rng):
    keys = {}
    tolerance = rng.choice([
        None, (0, 0), (1, -2), (1, -1), (5, -1), (1, -30), (3, 0), (1, 20),
        (30000000000000004, -17)])
    step = (0, 0)
    if tolerance is not None:
        keys["tolerance"] = num(rng, *tolerance)
        step = tolerance

    def answer_to(number):
        # On the edge, just inside, just outside.
        sign = rng.choice([1, -1])
        kind = rng.randrange(6)
        if kind < 2:
            return respell(rng, number)
        if kind < 4:
            near = plus(rng, number, sign * step[0], step[1])
        else:
            near = plus(rng, number, sign * step[0], step[1])
            beyond = rng.choice([1, -1])
            near = near and plus(rng, near, beyond, rng.choice([-1, -20, -29, -30]))
        return near if near is not None else respell(rng, number)

    if rng.random() < 0.5:
        truth = some_number(rng)
        return keys, answer_to(truth), truth
    if rng.random() < 0.6:
        keys["partial"] = rng.choice([True, True, False])
    truth = [some_number(rng) for _ in range(rng.choice([0, 1, 2, 3, 5]))]
    found = [answer_to(item) for item in truth]
    kind = rng.randrange(6)
    if kind == 0:
        found = found[:-1]
    elif kind == 1:
        found.append(some_number(rng))
    elif kind == 2 and found:
        # No number in its place: not within, and a warning.
        at = rng.randrange(len(found))
        found[at] = other_type(rng, found[at])
    return keys, found, truth


def make_fuzzy_string(rng):
    if rng.random() < 0.002:
        return make_long_text(rng)
    truth = some_text(rng)
    if quality(rng) == "far":
        return {}, some_text(rng), truth
    return {}, text_like(rng, truth), truth


def make_long_text(rng):
    """Around 100,000 code points after normalisation."""
    return {}, rng.choice([
        "a" * 100000,
        "a" * 100001,
        "\u00df" * 50000,
        "\u00df" * 50001,
        "e\u0301" * 60000,
        "  a  " * 30000,
        "a" + " " * 100001 + "b",
    ]), rng.choice(["", "a", "ss"])


def make_coverage_ratio(rng):
    if rng.random() < 0.4:
        total = rng.choice([(1, 0), (3, 0), (7, -1), (100, 0), (1, -100), (1, 100),
                            (rng.randint(1, 10 ** 29), -29)])
        kind = rng.randrange(5)
        if kind == 0:
            found = num(rng, rng.randint(-3, 3))
        elif kind == 1:
            found = num(rng, total[0], total[1])
        elif kind == 2:
            found = some_number(rng)
        else:
            found = num(rng, total[0] * rng.randint(0, 11) % 10 ** 29,
                        max(-100, total[1] - 1))
        return {}, found, num(rng, *total)
    keys, found, truth = make_sets(rng)
    return keys, found, truth or [some_value(rng, 2)]


def make_sets(rng):
    pool = [some_value(rng, 1) for _ in range(rng.randint(1, 6))]
    pool += [near_value(rng, item) for item in pool[:2]]
    truth = [same_value(rng, rng.choice(pool)) for _ in range(rng.choice([0, 1, 2, 3, 4, 6]))]
    if rng.random() < 0.4:
        found = [same_value(rng, item) for item in truth]
        found += [same_value(rng, item) for item in truth[:2]]
        rng.shuffle(found)
        found = found[:rng.randint(0, len(found) + 2)]
    else:
        found = [same_value(rng, rng.choice(pool)) for _ in range(rng.choice([0, 1, 2, 3, 5]))]
    return {}, found, truth


def make_set_overlap(rng):
    keys, found, truth = make_sets(rng)
    method = rng.choice([None, "jaccard", "intersection"])
    if method:
        keys["method"] = method
    return keys, found, truth


def make_api_call_efficiency(rng):
    optimal = rng.choice([(0, 0), (5, 0), (25, -1), (1, -30)])
    reach = rng.choice([(1, 0), (10, 0), (3, -1), (7, 0), (1, 30)])
    low = min(optimal[1], reach[1])
    most = (optimal[0] * 10 ** (optimal[1] - low) + reach[0] * 10 ** (reach[1] - low), low)
    if len(str(most[0])) > 29:
        most = (1, 60)
    keys = {"optimal": num(rng, *optimal), "max": num(rng, *most)}
    found = rng.choice([num(rng, *optimal), num(rng, *most), some_number(rng),
                        num(rng, rng.randint(-1, 20)), num(rng, rng.randint(0, 99), -1)])
    return keys, found, None


MAKERS = {
    "exact_match": make_exact_match,
    "exact_match_ratio": make_exact_match_ratio,
    "numeric_tolerance": make_numeric_tolerance,
    "fuzzy_string": make_fuzzy_string,
    "coverage_ratio": make_coverage_ratio,
    "set_overlap": make_set_overlap,
    "api_call_efficiency": make_api_call_efficiency,
}

WITH_TRUTH = [name for name in MAKERS if name != "api_call_efficiency"]

# Where the truth can be of a wrong type.
TYPED_TRUTH = [name for name in WITH_TRUTH if name != "exact_match"]


# ----------------------------------------------------------------- weights


def weights_for(rng, count):
    """Numbers >= 0 with the sum 1, as (mantissa, exponent)."""
    fixed = {
        2: [[(5, -1), (5, -1)], [(1, 0), (0, 0)], [(3, -1), (7, -1)]],
        3: [[(1, -1), (2, -1), (7, -1)], [(333, -3), (333, -3), (334, -3)],
            [(6, -1), (2, -1), (2, -1)]],
        4: [[(5, -1), (2, -1), (15, -2), (15, -2)], [(1, -1), (2, -1), (3, -1), (4, -1)]],
    }
    if count in fixed and rng.random() < 0.5:
        chosen = list(rng.choice(fixed[count]))
        rng.shuffle(chosen)
        return chosen
    places = rng.choice([1, 2, 2, 2, 3, 5, 17, 28, 30])
    return cut(rng, 10 ** places, count, -places)


def cut(rng, whole_sum, count, exponent):
    cuts = sorted(rng.randint(0, whole_sum) for _ in range(count - 1))
    edges = [0] + cuts + [whole_sum]
    return [(b - a, exponent) for a, b in zip(edges, edges[1:])]


def weights_that_miss(rng, count):
    """The sum is not 1, by as little as 1e-30."""
    if rng.random() < 0.3:
        parts = cut(rng, rng.choice([9999, 10001]), count, -4)
    elif rng.random() < 0.5:
        parts = cut(rng, 10 ** 30 + rng.choice([1, -1]), count, -30)
    else:
        parts = weights_for(rng, count)
        for at, (mantissa, exponent) in enumerate(parts):
            if mantissa > 0:
                room = max(0, 29 - len(str(mantissa)))
                parts[at] = (mantissa * 10 ** room - 1, exponent - room)
                break
    return parts


# ------------------------------------------------------------ invalid specs
#
# name: (what the first dimension must be, change); the change gets the
# case and that dimension, and makes the spec an error.


def remove(key):
    def change(rng, case, dimension):
        del dimension[key]
    return change


def replace(key, *makers):
    def change(rng, case, dimension):
        dimension[key] = rng.choice(makers)(rng)
    return change


def constant(value):
    return lambda rng: value


def zero(rng):
    return num(rng, 0)


def below_zero(rng):
    return num(rng, -rng.choice([1, 10, 999]), rng.choice([0, -2, -30, -100]))


NO_NUMBER = [constant("0.5"), constant(True), constant(False), constant(None), constant([])]
NO_LIMIT = [zero, below_zero, constant("300"), constant(True), constant(None)]
NO_STRING = [constant(None), constant(True), lambda rng: num(rng, 1), constant(["a"])]


def negative_weight(rng, case, dimension):
    """The sum is still 1."""
    for other in case["spec"]["dimensions"]:
        other["weight"] = num(rng, 0)
    dimension["weight"] = num(rng, -1, -1)
    case["spec"]["dimensions"][1]["weight"] = num(rng, 11, -1)


def weight_of_another_type(rng, case, dimension):
    """true must not count as 1, nor a string or null as a number."""
    for other in case["spec"]["dimensions"]:
        other["weight"] = num(rng, 0)
    dimension["weight"] = rng.choice([True, "1", [whole(1)]])


def missing_sum(rng, case, dimension):
    dimensions = case["spec"]["dimensions"]
    for each, weight in zip(dimensions, weights_that_miss(rng, len(dimensions))):
        each["weight"] = num(rng, *weight)


def repeated_name(rng, case, dimension):
    case["spec"]["dimensions"][1]["name"] = dimension["name"]


def both_primitive_and_source(rng, case, dimension):
    case["spec"].setdefault("constraints", {})["token_budget"] = num(rng, 100)
    dimension["source"] = "tokens"


def max_not_above(rng, case, dimension):
    optimal = dimension["optimal"]
    dimension["max"] = rng.choice(
        [respell(rng, optimal), num(rng, 0), below_zero(rng)])


def no_limit_at_all(rng, case, dimension):
    dimension.pop("time_limit_secs", None)
    case["spec"].pop("time_limit", None)


def bad_limit_of_spec(rng, case, dimension):
    dimension.pop("time_limit_secs", None)
    case["spec"]["time_limit"] = rng.choice(
        [zero(rng), below_zero(rng), "0s", "", "s", "soon", "-5s", True, None])


def time_used_missing(rng, case, dimension):
    case.pop("time_used", None)


def time_used_below_zero(rng, case, dimension):
    case["time_used"] = below_zero(rng)


def efficiency_without_constraint(rng, case, dimension):
    source = rng.choice(["tokens", "calls"])
    name = {"tokens": "token_efficiency", "calls": "call_efficiency"}[source]
    make_source(dimension, rng.choice([name, dimension["name"]]), source)
    constraints = case["spec"].setdefault("constraints", {})
    constraints.pop({"tokens": "token_budget", "calls": "max_llm_calls"}[source], None)
    if not constraints and rng.random() < 0.5:
        del case["spec"]["constraints"]


def efficiency_of_another_source(rng, case, dimension):
    case["spec"]["constraints"] = {"token_budget": num(rng, 100), "max_llm_calls": num(rng, 10)}
    name, source = rng.choice([("token_efficiency", "calls"), ("call_efficiency", "tokens")])
    if rng.random() < 0.5:
        make_source(dimension, name, source)
    else:
        dimension["name"] = name


def make_source(dimension, name, source):
    weight = dimension["weight"]
    dimension.clear()
    dimension.update({"name": name, "weight": weight, "source": source})


def bad_constraint(rng, case, dimension):
    key = rng.choice(["token_budget", "max_llm_calls", "max_tool_calls"])
    case["spec"].setdefault("constraints", {})[key] = rng.choice(
        [zero, below_zero] + NO_NUMBER)(rng)


def truth_lacks_field(rng, case, dimension):
    dimension["ground_truth_field"] = rng.choice(
        ["no_such_field", "/no/such", "/no~2such", "/99/-", dimension["ground_truth_field"] + "?"])


def no_truth(rng, case, dimension):
    case.pop("truth", None)
    if rng.random() < 0.5:
        case["truth"] = rng.choice([None, [], {}, "truth", whole(1)])


def truth_of_another_type(rng, case, dimension):
    wrong = {
        "exact_match_ratio": ["text", whole(1), None, {}, True],
        "numeric_tolerance": ["1", True, None, {}, [whole(1), "2"], [None], [True]],
        "fuzzy_string": [whole(1), None, ["a"], {}, False],
        "coverage_ratio": [[], zero(rng), below_zero(rng), "1", True, None, {}],
        "set_overlap": ["abc", whole(3), None, {}, True],
    }[dimension["primitive"]]
    put_truth(rng, case, dimension, rng.choice(wrong))


def put_truth(rng, case, dimension, value):
    if not isinstance(case.get("truth"), dict):
        case["truth"] = {}
    case["truth"]["wrong_one"] = value
    dimension["ground_truth_field"] = rng.choice(["wrong_one", "/wrong_one"])


def truth_too_long(rng, case, dimension):
    if rng.random() < 0.9:
        truth_of_another_type(rng, case, dimension)
    else:
        put_truth(rng, case, dimension, rng.choice(["a" * 100001, "\u00df" * 50001]))


def bad_rule(**changes):
    def change(rng, case, dimension):
        rule = {"field": "answers", "type": "array", "severity": "error",
                "dimension": dimension["name"], "message": "wrong"}
        for key, value in changes.items():
            if value is None:
                del rule[key]
            else:
                rule[key] = value(rng) if callable(value) else value
        case["spec"].setdefault("format", []).append(rule)
    return change


INVALID = {
    "one dimension": (None, None),
    "seven dimensions": (None, None),
    "name": (None, replace("name", constant("Accuracy"), constant(""), constant("a" * 31),
                           constant("two words"), constant("na\u00efve"), constant("a-b"),
                           constant("name2"), constant("newline\n"), *NO_STRING)),
    "name missing": (None, remove("name")),
    "name repeated": (None, repeated_name),
    "weight missing": (None, remove("weight")),
    "weight negative": (None, negative_weight),
    "weight type": (None, weight_of_another_type),
    "weight sum": (None, missing_sum),
    "weight sum again": (None, missing_sum),
    "primitive and source": (None, both_primitive_and_source),
    "no primitive": ("exact_match", remove("primitive")),
    "unknown primitive": (None, replace("primitive", constant("exact_mach"),
                                        constant("Exact_Match"), constant(""))),
    "no field": (list(MAKERS), remove("field")),
    "field type": (list(MAKERS), replace("field", *NO_STRING)),
    "no ground truth field": (WITH_TRUTH, remove("ground_truth_field")),
    "ground truth field type": (WITH_TRUTH, replace("ground_truth_field", *NO_STRING)),
    "tolerance negative": ("numeric_tolerance", replace("tolerance", below_zero)),
    "tolerance type": ("numeric_tolerance", replace("tolerance", *NO_NUMBER)),
    "time limit": ("time_decay", replace("time_limit_secs", *NO_LIMIT)),
    "time limit absent": ("time_decay", no_limit_at_all),
    "time limit of the spec": ("time_decay", bad_limit_of_spec),
    "time used absent": ("time_decay", time_used_missing),
    "time used negative": ("time_decay", time_used_below_zero),
    "optimal": ("api_call_efficiency", replace("optimal", below_zero, *NO_NUMBER)),
    "optimal absent": ("api_call_efficiency", remove("optimal")),
    "max": ("api_call_efficiency", max_not_above),
    "max absent": ("api_call_efficiency", remove("max")),
    "method": ("set_overlap", replace("method", constant("Jaccard"), constant("dice"),
                                      constant(""), constant("union"), *NO_STRING)),
    "efficiency constraint": (None, efficiency_without_constraint),
    "efficiency source": ("exact_match", efficiency_of_another_source),
    "constraint": (None, bad_constraint),
    "truth lacks field": (WITH_TRUTH, truth_lacks_field),
    "no truth": (WITH_TRUTH, no_truth),
    "truth type": (TYPED_TRUTH, truth_of_another_type),
    "truth length": ("fuzzy_string", truth_too_long),
    "rule field": (None, bad_rule(field=None)),
    "rule type": (None, bad_rule(type=None)),
    "rule type unknown": (None, bad_rule(type=lambda rng: rng.choice(["list", "Array", "null", "int"]))),
    "rule severity": (None, bad_rule(severity=None)),
    "rule severity unknown": (None, bad_rule(severity=lambda rng: rng.choice(["fatal", "Error", ""]))),
    "rule dimension": (None, bad_rule(dimension=None)),
    "rule dimension unknown": (None, bad_rule(dimension="no_such_dimension")),
    "rule min_items": (None, bad_rule(min_items=lambda rng: rng.choice([num(rng, 15, -1), "1", True]))),
    "rule max_items": (None, bad_rule(max_items=lambda rng: rng.choice([num(rng, 1, -30), "9", False]))),
}


# ------------------------------------------------------------- score cases

NAMES = ["correctness", "completeness", "precision", "methodology", "speed", "code_quality",
         "analysis", "accuracy", "coverage", "a", "_", "__", "z" * 30, "own_name"]


def make_score_case(rng):
    invalid = rng.choice(list(INVALID)) if rng.random() < 0.10 else None
    if invalid is None and rng.random() < 0.15:
        return make_threshold_case(rng)
    count = {"one dimension": 1, "seven dimensions": 7}.get(invalid, rng.randint(2, 6))
    names = rng.sample(NAMES, count)
    primitives = [rng.choice(list(MAKERS) + ["time_decay"]) for _ in names]
    forced = INVALID[invalid][0] if invalid else None
    if forced is not None:
        primitives[0] = forced if isinstance(forced, str) else rng.choice(forced)

    case = {"op": "score", "spec": {}}
    spec = case["spec"]
    as_array = invalid is None and rng.random() < 0.04
    submission = [] if as_array else {}
    truth = {}
    dimensions = [
        make_dimension(rng, name, primitive, spec, submission, truth)
        for name, primitive in zip(names, primitives)
    ]
    if rng.random() < 0.3:
        dimensions += efficiency_dimensions(rng, spec)
    elif rng.random() < 0.1 and count > 2 and not invalid:
        # A source under a name of its own.
        name = dimensions.pop()["name"]
        dimensions.append(efficiency_dimensions(rng, spec)[0])
        dimensions[-1]["name"] = name
    if rng.random() < 0.2:
        spec.setdefault("constraints", {})["max_tool_calls"] = num(rng, rng.choice([1, 10, 100]))
    for dimension, weight in zip(dimensions, weights_for(rng, len(dimensions))):
        dimension["weight"] = num(rng, *weight)
    spec["dimensions"] = dimensions
    if rng.random() < 0.3:
        spec["type"] = "deterministic"
    if rng.random() < 0.3:
        spec["format"] = [make_rule(rng, dimensions, submission)
                          for _ in range(rng.randint(0, 3))]

    case["submission"] = submission
    if invalid is None and rng.random() < 0.02:
        case["submission"] = rng.choice([None, True, "text", whole(1), [], {}])
    if truth or rng.random() < 0.7:
        case["truth"] = truth
    if "time_decay" in primitives or rng.random() < 0.3:
        case["time_used"] = rng.choice([
            num(rng, rng.randint(0, 400)), num(rng, rng.randint(0, 10 ** 9), -7),
            num(rng, 0), num(rng, 270), num(rng, 1, -30), num(rng, 1, 100)])
    if "constraints" in spec and rng.random() < 0.85 or rng.random() < 0.05:
        case["trajectory"] = make_trajectory(rng)

    if invalid and INVALID[invalid][1]:
        INVALID[invalid][1](rng, case, dimensions[0])
    return case


def make_dimension(rng, name, primitive, spec, submission, truth):
    dimension = {"name": name, "primitive": primitive}
    if primitive == "time_decay":
        limit = rng.choice([(300, 0), (1, 0), (120, 0), (5, -1), (7, 1), (1, -100)])
        if rng.random() < 0.6:
            dimension["time_limit_secs"] = num(rng, *limit)
        if "time_limit_secs" not in dimension or rng.random() < 0.2:
            spec["time_limit"] = rng.choice(["300s", "10s", "1s", num(rng, *limit)])
        return dimension

    keys, found, expected = MAKERS[primitive](rng)
    how = rng.random()
    if how < 0.02:
        dimension["field"] = place(rng, submission, found, "missing")
    elif how < 0.05:
        # Something stands there, but the pointer is no way to it.
        trap = [found, found] if isinstance(submission, dict) else found
        dimension["field"] = place(rng, submission, trap, "bad")
    elif how < 0.09 and primitive != "exact_match":
        dimension["field"] = place(rng, submission, other_type(rng, found))
    else:
        dimension["field"] = place(rng, submission, found)
    if primitive != "api_call_efficiency":
        dimension["ground_truth_field"] = place(rng, truth, expected)
    dimension.update(keys)
    return dimension


def efficiency_dimensions(rng, spec):
    constraints = spec.setdefault("constraints", {})
    result = []
    which = rng.choice([["tokens"], ["calls"], ["tokens", "calls"]])
    if "tokens" in which:
        constraints["token_budget"] = num(rng, rng.choice([50000, 1000, 5, 1]))
        result.append({"name": "token_efficiency", "source": "tokens"})
    if "calls" in which:
        constraints["max_llm_calls"] = num(rng, *rng.choice([(40, 0), (3, 0), (1, 0), (25, -1)]))
        result.append({"name": "call_efficiency", "source": "calls"})
    return result


def make_trajectory(rng):
    return {
        "valid": rng.random() < 0.8,
        "tokens": whole(rng.choice([0, 1, 4, 5, 6, 999, 1000, 1001, 12345, 50000, 50001])),
        "llm_calls": whole(rng.choice([0, 1, 2, 3, 4, 10, 39, 40, 41])),
        "tool_calls": whole(rng.choice([0, 1, 2, 10, 11, 100, 101])),
    }


def make_rule(rng, dimensions, submission):
    fields = [d["field"] for d in dimensions if "field" in d] + ["absent", "/absent/0"]
    if isinstance(submission, dict):
        fields += [key for key in submission if not key.startswith("/")]
    # Plain "" is left out: whether it is a field is not settled.
    fields = [field for field in fields if field]
    rule = {"field": rng.choice(fields),
            "type": rng.choice(["array", "array", "array", "string", "number", "boolean", "object"]),
            "severity": rng.choice(["error", "warning"])}
    if rule["severity"] == "error" or rng.random() < 0.3:
        rule["dimension"] = rng.choice(dimensions)["name"]
    if rule["type"] == "array":
        least = rng.choice([None, 0, 1, 2, 3])
        if least is not None:
            rule["min_items"] = num(rng, least)
        if rng.random() < 0.4:
            rule["max_items"] = num(rng, (least or 0) + rng.randint(0, 4))
    if rng.random() < 0.5:
        rule["message"] = some_text(rng)
    return rule


THRESHOLDS = [
    (700, 0), (400, 0), (3995, -1), (6995, -1), (1000, 0), (0, 0), (1, 0), (500, 0),
    (70, 1), (69999, -2), (39999, -2), (99999, -2), (400, 0), (700, 0),
    (7 * 10 ** 26 - 1, -24), (4 * 10 ** 26 - 1, -24), (7 * 10 ** 26 + 1, -24),
    (10 ** 27 - 1, -24), (699999999999999, -12), (399999999999999, -12),
]


def make_threshold_case(rng):
    """Weighted scores that add up to a threshold, or miss it by a hair."""
    mantissa, exponent = rng.choice(THRESHOLDS)
    count = rng.randint(2, 4)
    weights = weights_for(rng, count)
    shift = 0
    if count == 2 and mantissa and len(str(mantissa)) < 8:
        # Two scores apart from each other, the same sum: +-shift x weight.
        weights = [(5, -1), (5, -1)]
        shift = rng.randint(0, min(mantissa, 1000 * 10 ** -exponent - mantissa)
                            if exponent <= 0 else 0)
    names = rng.sample(NAMES, count)
    submission, truth, dimensions = {}, {}, []
    for at, name in enumerate(names):
        score = mantissa + (shift if at == 0 else -shift if at == 1 else 0)
        if exponent <= 0 and score == 1000 * 10 ** -exponent and rng.random() < 0.5:
            primitive, keys = "exact_match", {}
            found, expected = "yes", "yes"
        elif score * 10 ** max(exponent, 0) % 10 == 0 and exponent >= 0 and rng.random() < 0.5:
            primitive, keys = "exact_match_ratio", {}
            right = score * 10 ** exponent // 10
            found = [whole(1)] * right + [whole(2)] * (100 - right)
            expected = [whole(1)] * 100
        elif rng.random() < 0.4:
            primitive = "api_call_efficiency"
            low = min(exponent, 0)
            most = 1000 * 10 ** -low
            keys = {"optimal": num(rng, 0), "max": num(rng, most, low)}
            found = num(rng, most - score * 10 ** (exponent - low), low)
            expected = None
        else:
            primitive, keys = "coverage_ratio", {}
            scale = rng.choice([0, 1, -3, 50, -50])
            found = num(rng, score, exponent + scale)
            expected = num(rng, 1000, scale)
        dimension = {"name": name, "primitive": primitive, "weight": num(rng, *weights[at]),
                     "field": place(rng, submission, found)}
        if expected is not None:
            dimension["ground_truth_field"] = place(rng, truth, expected)
        dimension.update(keys)
        dimensions.append(dimension)
    return {"op": "score", "spec": {"dimensions": dimensions},
            "submission": submission, "truth": truth}


# ------------------------------------------------------------- other cases

# quality, completed, total: the product is 0.7, or nearly.
GATES = [((875, -3), 4, 5), ((7, -1), 1, 1), ((84, -2), 5, 6), ((98, -2), 5, 7),
         ((1, 0), 7, 10), ((8, -1), 7, 8), ((7 * 10 ** 28 + 1, -29), 3, 3),
         ((7 * 10 ** 28 - 1, -29), 2, 2), ((875 * 10 ** 26 + 1, -29), 4, 5)]


def make_composite_case(rng):
    if rng.random() < 0.35:
        quality_of, completed, total = rng.choice(GATES)
    else:
        total = rng.randint(0, 8)
        completed = total if rng.random() < 0.5 else rng.randint(0, total)
        quality_of = rng.choice([(1, 0), (1, 0), (95, -2), (9, -1), (7, -1), (0, 0),
                                 (rng.randint(0, 10 ** 20), -20)])
    other = [rng.choice(["hard_failure", "skipped", "budget_abort"])
             for _ in range(rng.randint(0, total - completed))]
    steps = []
    for status in ["completed"] * completed + other:
        attempts = 0 if status == "skipped" else rng.choice([1, 1, 1, 1, 2, 3, 5])
        steps.append({
            "status": status,
            "attempts": whole(attempts),
            "retry_count": whole(rng.choice([0, 0, 0, 1, 2, 4])),
            "timeouts": whole(min(attempts, rng.choice([0, 0, 0, 0, 0, 1, 2]))),
        })
    rng.shuffle(steps)
    spec = {
        "max_budget": rng.choice([num(rng, 5, -2), num(rng, 1), num(rng, 1, -100),
                                  num(rng, 0), num(rng, -1, -2), num(rng, 3, 2)]),
        "max_latency": rng.choice([num(rng, 10), num(rng, 10), num(rng, 7, -1), num(rng, 0),
                                   num(rng, -1), num(rng, 10 ** 29 + 1, -28)]),
    }
    if rng.random() < 0.4:
        spec["min_steps"] = whole(rng.choice([0, 1, total, total + 1, 12]))
    if rng.random() < 0.4:
        spec["max_attempts"] = whole(5)
    return {"op": "composite", "spec": spec, "record": {
        "steps": steps,
        "total_steps": whole(total),
        "actual_seconds": rng.choice([num(rng, 4), num(rng, 0), num(rng, 10), num(rng, 12),
                                      num(rng, rng.randint(0, 10 ** 8), -7)]),
        "actual_cost": rng.choice([num(rng, 2, -2), num(rng, 0), num(rng, 5, -2), num(rng, 6, -2),
                                   num(rng, rng.randint(0, 10 ** 12), -13)]),
        "budget_aborted": rng.random() < 0.1,
        "output_quality": num(rng, *quality_of),
    }}


def make_window_case(rng):
    scores = {}
    for _ in range(rng.choice([0, 1, 2, 3, 5, 6, 7, 7, 8, 9, 12, 20])):
        name = rng.choice(["miner", "agent", "\u00e9", "e\u0301", " ", "x/y", "\U0001f600"])
        while name in scores:
            name += rng.choice("abc1")
        length = rng.choice([0, 1, 1, 2, 3, 5])
        if rng.random() < 0.04:
            length = rng.choice([99, 100, 101, 130])
        level = rng.choice([0, 1, 2, 10, 100, 100])
        scores[name] = [num(rng, rng.randint(0, 10 * level), -3) for _ in range(length)]
    if len(scores) > 1 and rng.random() < 0.2:
        same = [num(rng, 5, -1)]
        scores = {name: same for name in scores}
    return {"op": "window", "scores": scores}


# Differences where K x E comes close to a half: floats round these wrongly
# first.  (K, opponent - own)
CLOSE = [(16, 163), (16, 293), (16, 394), (16, 597), (16, 596), (16, 66), (16, 221),
         (32, 720), (32, 719), (32, 523), (32, 429), (32, 721)]


def make_rate_case(rng):
    own = rng.choice([rng.randint(100, 140), rng.randint(100, 3000), rng.randint(800, 1600)])
    opponent = rng.choice([800, 1000, 1200, 1400, own, own + 400, max(own - 400, 0),
                           rng.randint(100, 4000), own + rng.randint(-50, 50)])
    matches = rng.choice([0, 1, 5, 28, 29, 30, 31, 500])
    if rng.random() < 0.3:
        k, difference = rng.choice(CLOSE)
        own = rng.randint(1000, 2000)
        opponent = own + rng.choice([1, -1]) * difference
        matches = 29 if k == 32 else 30
    return {"op": "rate", "own": whole(own), "opponent": whole(opponent),
            "result": rng.choice(["win", "draw", "loss"]), "matches": whole(matches),
            "verified": rng.random() < 0.5, "benchmark": rng.random() < 0.3}


# -------------------------------------------------------------------- main


def make_case(rng):
    kind = rng.random()
    if kind < 0.85:
        return make_score_case(rng)
    if kind < 0.90:
        return make_composite_case(rng)
    if kind < 0.95:
        return make_window_case(rng)
    return make_rate_case(rng)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: generate.py SEED COUNT")
    rng = random.Random(int(sys.argv[1]))
    for _ in range(int(sys.argv[2])):
        case = make_case(rng)
        style = rng.choice([0, 0, 0, 1, 2])
        line = write(rng, case, style, rng.random() < 0.2)
        sys.stdout.buffer.write(line.encode("utf-8") + b"\n")


if __name__ == "__main__":
    main()
