#!/usr/bin/env python3
"""Scoring rules, written a second time: slow, plain and exact.

Reads one case per line (JSON) on standard input and writes one answer per
line.  It shares no code with the program it is compared with, so a
difference means that one of the two has misread the contract (section 8,
"Scoring rules").

Every number is a Fraction made from its digits; no float appears anywhere.
After reading, a value is one of: None, bool, Fraction, str, list, dict.
That makes "is it a number" the question "is it a Fraction"; a bool is not.
"""

import json
import re
import sys
import unicodedata
from fractions import Fraction
from math import floor

FULL = Fraction(1000)
WIN_FROM = 700
DRAW_FROM = 400
LONGEST_TEXT = 100000

# What a field lookup gives when nothing is there; None is JSON's null.
MISSING = object()


class SpecError(Exception):
    """The spec, the truth or the time used is an error: no score."""


# ---------------------------------------------------------------- reading


def refuse_constant(text):
    raise ValueError("not JSON: " + text)


def object_without_repeats(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("an object has the same key twice")
    return result


# Numbers are read as text: 0.1000000000000000055 is not 0.1, -0 is 0.
READER = json.JSONDecoder(
    parse_float=Fraction,
    parse_int=Fraction,
    parse_constant=refuse_constant,
    object_pairs_hook=object_without_repeats,
)


def is_number(value):
    return isinstance(value, Fraction)


def is_array(value):
    return isinstance(value, list)


def is_string(value):
    return isinstance(value, str)


JSON_TYPES = {
    "array": is_array,
    "string": is_string,
    "number": is_number,
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
}


def need(condition, what):
    if not condition:
        raise SpecError(what)


# ---------------------------------------------------------- field lookup


def lookup(document, field):
    """A key of the top-level object, or a JSON Pointer when it starts with
    "/".  Gives MISSING when nothing is there."""
    if not field.startswith("/"):
        if isinstance(document, dict) and field in document:
            return document[field]
        return MISSING
    value = document
    for token in field[1:].split("/"):
        value = step_into(value, token)
        if value is MISSING:
            return MISSING
    return value


def step_into(value, token):
    """One reference token of a JSON Pointer (RFC 6901)."""
    if re.search("~(?![01])", token):
        return MISSING
    if isinstance(value, dict):
        key = token.replace("~1", "/").replace("~0", "~")
        return value[key] if key in value else MISSING
    if isinstance(value, list):
        # "0", or digits without a leading zero; "-" is never an element.
        if re.fullmatch("0|[1-9][0-9]*", token) and int(token) < len(value):
            return value[int(token)]
    return MISSING


# --------------------------------------------------------- deep equality


def equal(a, b):
    """Numbers by value (1 = 1.0), true is not 1, "1" is not 1, arrays in
    order, objects in any order, strings by code points."""
    if isinstance(a, dict):
        return (
            isinstance(b, dict)
            and len(a) == len(b)
            and all(key in b and equal(a[key], b[key]) for key in a)
        )
    if isinstance(a, list):
        return (
            isinstance(b, list)
            and len(a) == len(b)
            and all(equal(x, y) for x, y in zip(a, b))
        )
    return type(a) is type(b) and a == b


def contains(items, wanted):
    return any(equal(item, wanted) for item in items)


def distinct(items):
    result = []
    for item in items:
        if not contains(result, item):
            result.append(item)
    return result


# ------------------------------------------------------------------ text

# Unicode's White_Space; Python's own idea of a space (str.split) has more.
WHITE_SPACE = re.compile(
    "[\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a"
    "\u2028\u2029\u202f\u205f\u3000]+"
)


def normalised(text):
    """NFC of the case fold; white space collapsed, then trimmed."""
    folded = unicodedata.normalize("NFC", text.casefold())
    return WHITE_SPACE.sub(" ", folded).strip(" ")


def levenshtein(a, b):
    """Insertions, deletions, replacements, one each; in code points."""
    above = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            same = 0 if a[i - 1] == b[j - 1] else 1
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + same))
        above = row
    return above[len(b)]


# ------------------------------------------------------------ primitives
#
# Each takes the dimension, the submission's value (of the right type), the
# truth's value, and gives (score, warn): warn says that the field deserves
# a warning although it was there and of the right type.


def exact_match(dimension, found, truth):
    return (FULL if equal(found, truth) else Fraction(0)), False


def exact_match_ratio(dimension, found, truth):
    # Equal positions / length of the truth; extra ones are ignored.
    if not truth:
        return (FULL if not found else Fraction(0)), False
    same = sum(1 for a, b in zip(found, truth) if equal(a, b))
    return FULL * same / len(truth), False


def numeric_tolerance(dimension, found, truth):
    tolerance = dimension.get("tolerance", Fraction(0))

    def within(a, b):
        return is_number(a) and abs(a - b) <= tolerance

    if is_number(truth):
        return (FULL if within(found, truth) else Fraction(0)), False

    # Elements that are no numbers are just not within, and warn.
    warn = not all(is_number(element) for element in found)
    hits = sum(1 for a, b in zip(found, truth) if within(a, b))
    if dimension.get("partial", False) and truth:
        return FULL * hits / len(truth), warn
    everything = len(found) == len(truth) and hits == len(truth)
    return (FULL if everything else Fraction(0)), warn


def fuzzy_string(dimension, found, truth):
    a = normalised(found)
    b = normalised(truth)
    if len(a) > LONGEST_TEXT:
        return Fraction(0), True
    longer = max(len(a), len(b))
    if longer == 0:
        return FULL, False
    return FULL * (1 - Fraction(levenshtein(a, b), longer)), False


def coverage_ratio(dimension, found, truth):
    if is_number(truth):
        return FULL * min(Fraction(1), max(Fraction(0), found) / truth), False
    expected = distinct(truth)
    covered = sum(1 for item in expected if contains(found, item))
    return FULL * covered / len(expected), False


def set_overlap(dimension, found, truth):
    a = distinct(found)
    b = distinct(truth)
    both = sum(1 for item in a if contains(b, item))
    if dimension.get("method", "jaccard") == "intersection":
        of = len(b)
    else:
        of = len(a) + len(b) - both
    if of == 0:
        # Nothing expected: right when nothing was found.
        return (FULL if not a else Fraction(0)), False
    return FULL * both / of, False


def api_call_efficiency(dimension, found, truth):
    optimal = dimension["optimal"]
    most = dimension["max"]
    if found <= optimal:
        return FULL, False
    if found >= most:
        return Fraction(0), False
    return FULL * (most - found) / (most - optimal), False


def time_decay(time_used, limit):
    return FULL * max(Fraction(0), 1 - time_used / limit)


def efficiency(used, most):
    # Sources "tokens" and "calls".
    return FULL * max(Fraction(0), 1 - used / most)


# What a primitive compares, and what the truth must be for it.  The
# submission's value must be of the truth's type.


def anything(truth):
    return True


def number_or_numbers(truth):
    return is_number(truth) or (
        is_array(truth) and all(is_number(element) for element in truth)
    )


def short_text(truth):
    return is_string(truth) and len(normalised(truth)) <= LONGEST_TEXT


def positive_total(truth):
    return (is_number(truth) and truth > 0) or (
        is_array(truth) and len(truth) > 0
    )


COMPARING = {
    "exact_match": (exact_match, anything),
    "exact_match_ratio": (exact_match_ratio, is_array),
    "numeric_tolerance": (numeric_tolerance, number_or_numbers),
    "fuzzy_string": (fuzzy_string, short_text),
    "coverage_ratio": (coverage_ratio, positive_total),
    "set_overlap": (set_overlap, is_array),
}

PRIMITIVES = sorted(COMPARING) + ["time_decay", "api_call_efficiency"]

# source: (key of the constraint, key of the trajectory)
SOURCES = {
    "tokens": ("token_budget", "tokens"),
    "calls": ("max_llm_calls", "llm_calls"),
}

EFFICIENCY_NAMES = {"token_efficiency": "tokens", "call_efficiency": "calls"}

# constraint: key of the trajectory
CONSTRAINTS = {
    "token_budget": "tokens",
    "max_llm_calls": "llm_calls",
    "max_tool_calls": "tool_calls",
}


# ------------------------------------------------------ checking the spec


def seconds(limit):
    """A time limit: "300s", or a number of seconds; more than nothing."""
    if is_string(limit):
        match = re.fullmatch("([0-9]+([.][0-9]+)?)s", limit)
        need(match, "time limit")
        limit = Fraction(match.group(1))
    need(is_number(limit) and limit > 0, "time limit")
    return limit


def check_spec(spec, truth, time_used):
    need(isinstance(spec, dict), "spec")
    need(spec.get("type", "deterministic") == "deterministic", "type")
    if "time_limit" in spec:
        seconds(spec["time_limit"])
    if time_used is not None:
        need(is_number(time_used) and time_used >= 0, "time used")

    constraints = spec.get("constraints", {})
    need(isinstance(constraints, dict), "constraints")
    for value in constraints.values():
        need(is_number(value) and value > 0, "constraint")

    dimensions = spec.get("dimensions")
    need(is_array(dimensions), "dimensions")
    for dimension in dimensions:
        check_dimension(dimension, spec, constraints, truth, time_used)
    names = [dimension["name"] for dimension in dimensions]
    need(len(set(names)) == len(names), "names are unique")
    others = [name for name in names if name not in EFFICIENCY_NAMES]
    need(2 <= len(others) <= 6, "2 to 6 dimensions")
    # Weights sum exactly to 1.
    need(sum(dimension["weight"] for dimension in dimensions) == 1, "weights")

    rules = spec.get("format", [])
    need(is_array(rules), "format")
    for rule in rules:
        check_format_rule(rule, names)


def check_dimension(dimension, spec, constraints, truth, time_used):
    need(isinstance(dimension, dict), "dimension")
    name = dimension.get("name")
    need(is_string(name) and re.fullmatch("[a-z_]{1,30}", name), "name")
    weight = dimension.get("weight")
    need(is_number(weight) and weight >= 0, "weight")
    need(("primitive" in dimension) != ("source" in dimension),
         "exactly one of primitive and source")
    if name in EFFICIENCY_NAMES:
        need(dimension.get("source") == EFFICIENCY_NAMES[name],
             "source of an efficiency dimension")

    if "source" in dimension:
        source = dimension["source"]
        need(is_string(source) and source in SOURCES, "source")
        need(SOURCES[source][0] in constraints, "constraint of a source")
        return

    primitive = dimension["primitive"]
    need(is_string(primitive) and primitive in PRIMITIVES, "primitive")
    if primitive == "time_decay":
        if "time_limit_secs" in dimension:
            need(is_number(dimension["time_limit_secs"])
                 and dimension["time_limit_secs"] > 0, "time limit")
        else:
            need("time_limit" in spec, "time limit")
        need(time_used is not None, "time used")
        return

    need(is_string(dimension.get("field")), "field")
    if primitive == "api_call_efficiency":
        optimal = dimension.get("optimal")
        most = dimension.get("max")
        need(is_number(optimal) and optimal >= 0, "optimal")
        need(is_number(most) and most > optimal, "max")
        return

    need(is_string(dimension.get("ground_truth_field")), "ground truth field")
    truth_value = lookup(truth, dimension["ground_truth_field"])
    need(truth_value is not MISSING, "ground truth")
    truth_fits = COMPARING[primitive][1]
    need(truth_fits(truth_value), "type of the ground truth")
    if primitive == "numeric_tolerance":
        tolerance = dimension.get("tolerance", Fraction(0))
        need(is_number(tolerance) and tolerance >= 0, "tolerance")
        need(isinstance(dimension.get("partial", False), bool), "partial")
    if primitive == "set_overlap":
        need(dimension.get("method", "jaccard") in ("jaccard", "intersection"),
             "method")


def check_format_rule(rule, names):
    need(isinstance(rule, dict), "format rule")
    need(is_string(rule.get("field")), "field of a format rule")
    kind = rule.get("type")
    need(is_string(kind) and kind in JSON_TYPES, "type of a format rule")
    need(rule.get("severity") in ("error", "warning"), "severity")
    if rule["severity"] == "error":
        need(rule.get("dimension") in names, "dimension of a format rule")
    for key in ("min_items", "max_items"):
        if key in rule:
            need(kind == "array", "items of something that is no array")
            count = rule[key]
            need(is_number(count) and count.denominator == 1 and count >= 0,
                 "a whole number of items")


# ------------------------------------------------------------- dimensions


def score_dimension(dimension, spec, case):
    """One dimension of a checked spec: (score, what is warned about)."""
    if "source" in dimension:
        constraint, measured = SOURCES[dimension["source"]]
        trajectory = case.get("trajectory")
        if trajectory is None or not trajectory["valid"]:
            return Fraction(0), [dimension["name"]]
        return efficiency(trajectory[measured],
                          spec["constraints"][constraint]), []

    primitive = dimension["primitive"]
    if primitive == "time_decay":
        if "time_limit_secs" in dimension:
            limit = dimension["time_limit_secs"]
        else:
            limit = seconds(spec["time_limit"])
        return time_decay(case["time_used"], limit), []

    field = dimension["field"]
    found = lookup(case["submission"], field)
    if primitive == "api_call_efficiency":
        rule, truth = api_call_efficiency, None
        fits = is_number(found)
    else:
        rule = COMPARING[primitive][0]
        truth = lookup(case["truth"], dimension["ground_truth_field"])
        fits = found is not MISSING and (
            primitive == "exact_match" or type(found) is type(truth)
        )
    # A missing or wrongly typed field scores 0 with a warning.
    if not fits:
        return Fraction(0), [field]
    score, warn = rule(dimension, found, truth)
    return score, [field] if warn else []


def format_rule_holds(rule, submission):
    found = lookup(submission, rule["field"])
    if found is MISSING or not JSON_TYPES[rule["type"]](found):
        return False
    if "min_items" in rule and len(found) < rule["min_items"]:
        return False
    if "max_items" in rule and len(found) > rule["max_items"]:
        return False
    return True


def exceeded_constraints(spec, trajectory):
    """Reported, not scored."""
    if trajectory is None or not trajectory["valid"]:
        return []
    constraints = spec.get("constraints", {})
    return sorted(
        name for name in constraints
        if trajectory[CONSTRAINTS[name]] > constraints[name]
    )


def outcome(total):
    if total >= WIN_FROM:
        return "win"
    if total >= DRAW_FROM:
        return "draw"
    return "loss"


def answer_score(case):
    spec = case["spec"]
    try:
        check_spec(spec, case.get("truth", MISSING), case.get("time_used"))
    except SpecError:
        return {"invalid": True}

    warned = []
    scores = {}
    for dimension in spec["dimensions"]:
        score, fields = score_dimension(dimension, spec, case)
        scores[dimension["name"]] = score
        warned += fields
    # A failed rule warns; one of severity error makes its dimension 0.
    for rule in spec.get("format", []):
        if not format_rule_holds(rule, case["submission"]):
            warned.append(rule["field"])
            if rule["severity"] == "error":
                scores[rule["dimension"]] = Fraction(0)

    # weighted = score x weight; total = floor(min(1000, sum))
    weighted = {
        dimension["name"]: scores[dimension["name"]] * dimension["weight"]
        for dimension in spec["dimensions"]
    }
    total_sum = sum(weighted.values())
    total = floor(min(FULL, total_sum))
    return {
        "total": str(total),
        "sum": str(total_sum),
        "outcome": outcome(total),
        "dimensions": {
            name: [str(scores[name]), str(weighted[name])] for name in scores
        },
        "warned": sorted(set(warned)),
        "violations": exceeded_constraints(spec, case.get("trajectory")),
    }


# -------------------------------------------------------------- composite


def answer_composite(case):
    spec = case["spec"]
    record = case["record"]
    steps = record["steps"]
    zero, one = Fraction(0), Fraction(1)

    completed = sum(1 for step in steps if step["status"] == "completed")
    planned = max(record["total_steps"], spec.get("min_steps", zero), one)
    success = record["output_quality"] * (completed / planned)

    # A step that the budget ended ended the rest too.
    aborted = record["budget_aborted"] or any(step["status"] == "budget_abort" for step in steps)
    # Success first: the gate is strictly above 0.7.
    gate_open = success > Fraction(7, 10)
    cost = zero
    if gate_open and spec["max_budget"] > 0 and not aborted:
        cost = max(zero, 1 - record["actual_cost"] / spec["max_budget"])
    latency = zero
    if gate_open and spec["max_latency"] > 0:
        latency = max(zero, 1 - record["actual_seconds"] / spec["max_latency"])

    # Attempts beyond 1 + retry_count are unplanned, step by step.
    unplanned = sum(
        max(zero, step["attempts"] - 1 - step["retry_count"]) for step in steps
    )
    timeouts = sum(step["timeouts"] for step in steps)
    hard = sum(1 for step in steps if step["status"] == "hard_failure")
    reliability = min(one, max(zero, (
        1
        - Fraction(1, 10) * unplanned
        - Fraction(2, 10) * timeouts
        - Fraction(5, 10) * hard
    )))

    score = (
        Fraction(50, 100) * success
        + Fraction(25, 100) * cost
        + Fraction(15, 100) * latency
        + Fraction(10, 100) * reliability
    )
    return {
        "score": str(score),
        "success": str(success),
        "cost": str(cost),
        "latency": str(latency),
        "reliability": str(reliability),
    }


# ----------------------------------------------------------------- window

WINDOW = 100
WEIGHT_CAP = Fraction(15, 100)


def mean_of_window(scores):
    last = scores[-WINDOW:]
    return sum(last) / Fraction(len(last)) if last else Fraction(0)


def shares(means, names, left):
    """What is left, among these names, in proportion to their means."""
    together = sum(means[name] for name in names)
    if together == 0:
        return {name: Fraction(0) for name in names}
    return {name: left * means[name] / together for name in names}


def answer_window(case):
    means = {
        name: mean_of_window(scores) for name, scores in case["scores"].items()
    }
    capped = []
    while True:
        others = [name for name in means if name not in capped]
        weights = shares(means, others, 1 - WEIGHT_CAP * len(capped))
        above = [name for name in others if weights[name] > WEIGHT_CAP]
        if not above:
            break
        capped += above
    for name in capped:
        weights[name] = WEIGHT_CAP
    return {
        "means": {name: str(means[name]) for name in means},
        "weights": {name: str(weights[name]) for name in means},
        "unassigned": str(1 - sum(weights.values(), Fraction(0))),
    }


# ----------------------------------------------------------------- rating

POINTS = {"win": Fraction(1), "draw": Fraction(1, 2), "loss": Fraction(0)}
LOWEST_RATING = 100


def reaches(candidate, own, opponent, k, points):
    """Is own + K(S - E) + 1/2 >= candidate?

    E = 1 / (1 + 10^(d/400)) with d = opponent - own is irrational nearly
    always.  The question is whether E <= edge, which is 10^(d/400) >= odds,
    which is 10^d >= odds^400: a question about whole numbers."""
    edge = (own + k * points + Fraction(1, 2) - candidate) / k
    if edge <= 0:
        return False
    odds = 1 / edge - 1
    if odds <= 0:
        return True
    return Fraction(10) ** (opponent - own) >= odds ** 400


def round_half_up(number):
    return floor(number + Fraction(1, 2))


def answer_rate(case):
    own = int(case["own"])
    opponent = int(case["opponent"])
    points = POINTS[case["result"]]
    k = 32 if case["matches"] < 30 else 16

    # The floor: the largest whole number that is reached (E is above 0).
    candidate = floor(own + k * points + Fraction(1, 2))
    while not reaches(candidate, own, opponent, k, points):
        candidate -= 1

    change = max(LOWEST_RATING, candidate) - own
    if change > 0 and case["benchmark"]:
        change = round_half_up(change * Fraction(12, 10))
    elif change > 0 and case["verified"]:
        change = round_half_up(change * Fraction(11, 10))
    return {"before": own, "after": own + change, "change": change}


# ------------------------------------------------------------------ blend


def answer_blend(case):
    """final = (test x test_weight + llm x llm_weight) / 100, where the llm
    score is given, or is the weighted mean of its criteria."""
    if "criteria" in case:
        criteria = case["criteria"]
        together = sum(one["weight"] for one in criteria)
        weighted = sum(one["weight"] * one["score"] for one in criteria)
        return {"llm_score": str(weighted / together)}
    final = (
        case["test_score"] * case["test_weight"]
        + case["llm_score"] * case["llm_weight"]
    ) / 100
    return {"final": str(final)}


# ------------------------------------------------------------------ main

ANSWERS = {
    "score": answer_score,
    "composite": answer_composite,
    "window": answer_window,
    "rate": answer_rate,
    "blend": answer_blend,
}


def answer(case):
    return ANSWERS[case["op"]](case)


def main():
    # Lines end at "\n" only: U+2028 and its kin may stand raw in a string.
    for line in sys.stdin.buffer:
        result = answer(READER.decode(line.decode("utf-8")))
        text = json.dumps(result, sort_keys=True, ensure_ascii=False,
                          separators=(",", ":"))
        sys.stdout.buffer.write(text.encode("utf-8") + b"\n")


if __name__ == "__main__":
    main()
