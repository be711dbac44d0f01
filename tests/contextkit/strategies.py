"""Conversations for tests: built by hand, a word a part, and drawn by hypothesis with every part a log can hold."""

import base64
import functools
import io
import itertools

from hypothesis import strategies as st
from PIL import Image as Pillow

from contextkit.messages import (
    MACHINE_MADE,
    Conversation,
    Image,
    Message,
    Opaque,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
)

CODE_LINE = "    return [row for row in rows if row.total_px > limit_px]  # keep what is wide\n"
PROSE = "We looked at the parser again and decided to keep the old behaviour for now. "


@functools.lru_cache
def png_base64(height_px=64, width_px=64):
    drawn = io.BytesIO()
    Pillow.new("L", (width_px, height_px), 128).save(drawn, "PNG")
    return base64.b64encode(drawn.getvalue()).decode("ascii")


def picture(height_px=64, width_px=64):
    return Image(media_type="image/png", data=png_base64(height_px, width_px))


def user(text, *more):
    return Message(role="user", parts=(Text(text=text), *more))


def machine(text):
    return Message(role="user", parts=(Text(text=text),), extra=MACHINE_MADE)


def says(text, *more):
    return Message(role="assistant", parts=(Text(text=text), *more))


def calls(*made):
    return Message(role="assistant", parts=made)


def call(call_id, name, **arguments):
    return ToolCall(id=call_id, name=name, arguments=arguments)


def result(call_id, *content, is_error=False):
    parts = tuple(Text(text=part) if isinstance(part, str) else part for part in content)
    return ToolResult(call_id=call_id, content=parts, is_error=is_error)


def answers(*results):
    return Message(role="tool", parts=results)


def run(call_id, name, text, **arguments):
    """Return a call and its answer."""
    return calls(call(call_id, name, **arguments)), answers(result(call_id, text))


def talk(*messages, **fields):
    return Conversation(messages=messages, **fields)


def worked(rounds=40):
    """Return a session in which every rung has something to do at a window of a few thousand tokens."""
    middle = []
    for number in range(rounds):
        middle += run(f"r{number}", "read", CODE_LINE * 10, path=f"src/part{number % 4}.py")
        middle.append(says(f"Part {number} is read. {PROSE}"))
    shot = (calls(call("shot", "screenshot")), answers(result("shot", "The window:", picture(600, 800))))
    return talk(user("Make the parser strict."), says("I look at it."), *middle, user("Go on.", picture()), *shot,
        *middle_again(middle), machine("$ ls\n" + "file.txt\n" * 90), user("And now?"))  # fmt: skip


def session(*middle, newest="And now?"):
    """Return a session whose middle no rule protects."""
    return talk(user("Fix it."), *middle, says(PROSE * 20), user(newest))


def outputs(*sizes):
    """Return a middle of command outputs of so many characters each."""
    return [message for size in sizes for message in run(f"c{size}", "bash", "x" * size, command=f"seq {size}")]


def middle_again(messages):
    """Return the messages with other call ids."""
    def renamed(part):
        match part:
            case ToolCall():
                return ToolCall(id=f"again-{part.id}", name=part.name, arguments=part.arguments)
            case ToolResult():
                return ToolResult(call_id=f"again-{part.call_id}", content=part.content)
        return part

    return [Message(role=message.role, parts=tuple(map(renamed, message.parts))) for message in messages]


ANY_CHARACTER = st.characters(codec=None, exclude_categories=())
LINES = st.sampled_from([CODE_LINE, PROSE, "deadbeef 0123456789\n", "\n", "naïve 漢字 \U0001f600\n", "\ud800 alone\n"])


def as_json_reads_it(text):
    """Return the text with two halves of a surrogate pair side by side as the one character that JSON makes of them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


SHORT_TEXTS = st.text(ANY_CHARACTER, max_size=40).map(as_json_reads_it)
LONG_TEXTS = st.builds(lambda line, times: as_json_reads_it(line * times), LINES | SHORT_TEXTS, st.integers(1, 120))
TEXTS = SHORT_TEXTS | LONG_TEXTS
SOURCES = st.sampled_from([CODE_LINE * 12, CODE_LINE * 13])
UNEVENTFUL = st.sampled_from(
    ["", "\n" * 200, "No matches found for " + "pattern " * 24, "Successfully wrote 12 lines to " + "deep/" * 30]
)
RESULT_TEXTS = SOURCES | SOURCES | UNEVENTFUL | TEXTS
PICTURES = st.builds(picture, st.sampled_from([1, 64, 900]), st.sampled_from([1, 80, 1600])) | st.sampled_from(
    [Image(url="https://example.org/shot.png"), Image(media_type="image/png", data="no picture")]
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | SHORT_TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SHORT_TEXTS, inner, max_size=3),
    max_leaves=6,
)
USUAL_CALLS = st.sampled_from(
    [
        ("read", {"path": "a.py"}),
        ("read", {"path": "a.py", "offset": 10}),
        ("write", {"path": "a.py", "content": CODE_LINE * 20}),
        ("bash", {"command": "make test"}),
    ]
)
ODD_CALLS = st.tuples(st.sampled_from(["read", "grep", "think"]), st.dictionaries(SHORT_TEXTS, JSON_VALUES, max_size=3))
CALLS = st.one_of(USUAL_CALLS, USUAL_CALLS, ODD_CALLS)
OPAQUE = st.builds(Opaque, form=st.just("anthropic"), value=st.just({"type": "document", "title": "spec"}))
RESULT_PARTS = st.builds(Text, text=RESULT_TEXTS)
RESULT_CONTENTS = st.lists(RESULT_PARTS, max_size=1) | st.lists(RESULT_PARTS | PICTURES | OPAQUE, max_size=2)
THINKING = st.builds(Thinking, text=TEXTS, signature=st.none() | st.just("c2lnbmVk"))


@st.composite
def _rounds(draw, numbers, may_stay_open=False):
    """Draw an assistant message with calls, and the messages that answer them."""
    made = [
        ToolCall(id=f"call-{next(numbers)}", name=name, arguments=arguments)
        for name, arguments in draw(st.lists(CALLS, min_size=1, max_size=3))
    ]
    lead = draw(st.lists(THINKING | st.builds(Text, text=TEXTS), max_size=2))
    open_count = draw(st.integers(1, len(made))) if may_stay_open else 0
    results = [
        ToolResult(
            call_id=one.id,
            content=tuple(draw(RESULT_CONTENTS)),
            is_error=draw(st.sampled_from([False, False, False, True])),
        )
        for one in draw(st.permutations(made))[open_count:]
    ]
    return [Message(role="assistant", parts=(*lead, *made)), *draw(_answering(results))]


@st.composite
def _answering(draw, results):
    """Draw how results come: a message each, one message for all, or at the head of what the user says."""
    if not results:
        return []
    manner = draw(st.sampled_from(["each", "together", "user"]))
    if manner == "each":
        return [Message(role="tool", parts=(one,)) for one in results]
    said = draw(st.lists(st.builds(Text, text=TEXTS), max_size=1)) if manner == "user" else []
    return [Message(role="user" if manner == "user" else "tool", parts=(*results, *said))]


USER_PARTS = st.lists(st.builds(Text, text=TEXTS) | PICTURES, min_size=1, max_size=2).map(tuple)
USER_SAYS = st.builds(Message, role=st.just("user"), parts=USER_PARTS)
MACHINE_SAYS = st.builds(Message, role=st.just("user"), parts=USER_PARTS, extra=st.just(MACHINE_MADE))
SYSTEM_SAYS = st.builds(Message, role=st.just("system"), parts=st.builds(Text, text=TEXTS).map(lambda text: (text,)))
ASSISTANT_SAYS = st.builds(
    Message,
    role=st.just("assistant"),
    parts=st.lists(THINKING | st.builds(Text, text=TEXTS) | OPAQUE, min_size=1, max_size=2).map(tuple),
)
TOOLS = st.builds(Tool, name=st.just("read"), description=SHORT_TEXTS, parameters=st.just({"type": "object"}))


@st.composite
def conversations(draw, max_turns=9, may_stay_open=True):
    """Draw a conversation of our own parts: ids are unique, and every result follows its call."""
    numbers = itertools.count()
    turn = st.one_of(
        USER_SAYS.map(lambda message: [message]),
        MACHINE_SAYS.map(lambda message: [message]),
        ASSISTANT_SAYS.map(lambda message: [message]),
        SYSTEM_SAYS.map(lambda message: [message]),
        _rounds(numbers),
        _rounds(numbers),
        _rounds(numbers),
    )
    turns = draw(st.lists(turn, max_size=max_turns))
    if may_stay_open and draw(st.booleans()):
        turns.append(draw(_rounds(numbers, may_stay_open=True)))
    return Conversation(
        messages=tuple(itertools.chain.from_iterable(turns)),
        system=tuple(draw(st.lists(st.builds(Text, text=SHORT_TEXTS), max_size=1))),
        tools=tuple(draw(st.lists(TOOLS, max_size=1))),
    )
