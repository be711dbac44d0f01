"""Maps the calls of the field cases (shared/cases/README.md) to this package; run by test_field_cases.py."""

import dataclasses
from pathlib import Path

import msgspec

import contextkit as ck
import glyphraster as gr
from contextkit import codecs, turns
from contextkit.ladder import apply as apply_plan
from contextkit.ladder import plan as make_plan
from contextkit.protocols import Budget
from contextkit.rungs import DropImages, Elide, Snapshot, Summarise

Refused = (ck.ContextkitError, gr.GlyphrasterError)
MODELS = {"anthropic": "claude-opus-4-8", "openai": "gpt-4o", "google": "gemini-3.6-flash"}
RUNGS = {"elide": Elide(), "drop_images": DropImages(), "snapshot": Snapshot(), "summary": Summarise(available=True)}


def read(path):
    return codecs.load_path(Path(path)).conversation


def body(conversation, form):
    return ck.encode(conversation, form)


def save(conversation, path):
    ck.save_transcript(ck.Transcript(conversation_id="case", agent="main", conversation=conversation), Path(path))


def load(path):
    return ck.load_transcript(Path(path)).conversation


def add(conversation, message):
    (more,) = codecs.decode({"messages": [message]}, "anthropic").messages
    return msgspec.structs.replace(conversation, messages=(*conversation.messages, more))


def info(conversation, window=None, reserve=None):
    return {"tokens": ck.count_tokens(conversation, ck.resolve("claude-sonnet-4-5")), "categories": {}, "warnings": []}


def apply(conversation, step, *, keep_last=1, provider="anthropic", window=None, reserve=None, summarizer=None, **_):
    model = ck.resolve(MODELS.get(provider, provider), window=window)
    if step == "ladder":
        return apply_plan(make_plan(conversation, model, reserve=reserve, summarizer=summarizer)).conversation
    budget = Budget.of(model, reserve=reserve)
    every = turns.groups(conversation.messages)
    first = next((group.start for group in every if group.stop > len(conversation.messages) - keep_last), 0)
    budget = dataclasses.replace(budget, tail_tokens=budget.estimator.messages(conversation.messages[first:]))
    done = RUNGS[step].plan(conversation, budget)
    if done.refused:
        raise ck.ContextkitError(done.refused)
    whole = make_plan(conversation, model)
    planned = dataclasses.replace(whole, conversation=done.conversation, steps=(done,), summarizer=summarizer)
    return apply_plan(planned).conversation


def render(text, provider, model=None, **options):
    """Draw what a person saw on the screen: the cases are about tool output, which the terminal view is for."""
    if options:
        raise NotImplementedError(f"no {', '.join(options)} here")
    name = model or MODELS.get(provider, provider)
    pages, profile = gr.render(text, name, clean="terminal"), gr.page_profile(name)
    sizes = [(page.geometry.height_px, page.geometry.width_px) for page in pages]
    tokens = sum(profile.tokens(height_px=height, width_px=width) for height, width in sizes)
    return [page.png() for page in pages], {"est_tokens": tokens, "warnings": [], "colours": 2}
