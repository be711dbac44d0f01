"""Requests and logs with anything anywhere: read or refused, never a crash; and what is sound comes back."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextkit import codecs
from contextkit.errors import FormatError, RequestError

JUNK = st.sampled_from(
    [None, 5, 1.5, True, "", "x", "\ud800", [], {}, ["x"], [None], [{}], {"type": "text"}, {"type": 5}]
)
LOGS = ["claude-code-parallel", "claude-code-compacted", "pi-v1", "pi-v3"]
MANY = settings(max_examples=80)


def places(value, place=()):
    """Yield the place of everything inside of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*place, key)
        yield from places(inner, (*place, key))


@st.composite
def spoilt(draw, value):
    """Put junk into a copy of a value, or take something out of it, at one to three places."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(list(places(value)) or [("messages",)]))
        holder = value
        for key in way:
            holder = holder[key]
        if draw(st.booleans()):
            holder[last] = copy.deepcopy(draw(JUNK))
        elif isinstance(holder, dict):
            holder.pop(last, None)
    return value


def sent_or_refused(conversation, form):
    """Return the request, or nothing when it could not be mended."""
    try:
        return codecs.encode(conversation, form)
    except RequestError:
        return None


def read_or_refused(read, *given_):
    """Return what was read, or nothing when it was refused, in one line."""
    try:
        return read(*given_)
    except FormatError as error:
        refusal = str(error)
    assert refusal.count("\n") == 0
    return None


@pytest.mark.parametrize("form", codecs.WIRE_FORMS)
def test_a_spoilt_request_is_read_or_refused_and_comes_back_when_it_breaks_no_rule(cases, form):
    request = json.loads((cases / f"{form}-unusual" / "request.json").read_text(encoding="utf-8"))

    @MANY
    @given(spoilt(request))
    def check(value):
        faults = codecs.violations(value, form)
        conversation = read_or_refused(codecs.decode, value, form)
        if conversation is not None:
            requests = {wire: sent_or_refused(conversation, wire) for wire in codecs.WIRE_FORMS}
            assert faults or json.dumps(requests[form]) == json.dumps(value)

    check()


@pytest.mark.parametrize("name", LOGS)
def test_a_spoilt_log_is_read_and_sent_or_refused(cases, name):
    lines = (cases / name / "session.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines if line.endswith("}")]

    @MANY
    @given(spoilt(records))
    def check(value):
        conversation = read_or_refused(codecs.decode, value)
        for form in codecs.WIRE_FORMS if conversation is not None else ():
            assert codecs.violations(codecs.encode(conversation, form), form) == []

    check()


@pytest.mark.parametrize("form", codecs.WIRE_FORMS)
def test_a_value_that_is_nested_too_deeply_is_refused(form):
    deep = []
    for _ in range(5000):
        deep = [deep]
    call = {"type": "tool_use", "id": "a", "name": "n", "input": {"deep": deep}}
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": [call]}]
    with pytest.raises(RequestError, match="nested too deeply"):
        codecs.encode(codecs.decode({"messages": messages}, "anthropic"), form)


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("name", LOGS)
def test_a_log_that_is_cut_anywhere_is_read_or_refused(cases, name, cut):
    raw = (cases / name / "session.jsonl").read_bytes()
    for size in range(int(len(raw) * cut), int(len(raw) * cut) + 40):
        loaded = read_or_refused(codecs.load_bytes, raw[:size])
        assert loaded is None or loaded.conversation.messages
