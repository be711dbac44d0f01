"""The snapshot rung: what becomes pages, what gives way, when it refuses."""

import dataclasses
import itertools
import re

import pytest

import glyphraster as gr
from contextkit import turns
from contextkit.messages import Message, Pending, Text, Thinking
from contextkit.models import resolve
from contextkit.plaintext import plain_text
from contextkit.protocols import Budget
from contextkit.recall import Original
from contextkit.rungs import Snapshot
from tests.contextkit.strategies import (
    CODE_LINE,
    PROSE,
    answers,
    call,
    calls,
    machine,
    outputs,
    picture,
    result,
    run,
    says,
    session,
    talk,
    user,
)


def pages_in(conversation):
    return [part for message in conversation.messages for part in message.of(Pending)]


def model_with(images=None, **page):
    model = resolve("claude-opus-4-8")
    return dataclasses.replace(model, page=dataclasses.replace(model.page, max_images=images, **page))


def snapshot(conversation, window=30_000, model=None):
    model = model or resolve("claude-opus-4-8")
    return Snapshot().plan(conversation, Budget.of(dataclasses.replace(model, window_tokens=window)))


class TestSnapshot:
    def test_the_middle_becomes_one_message_of_pages(self):
        after = snapshot(session(says(PROSE * 300))).conversation
        assert [message.role for message in after.messages] == ["user", "user", "assistant", "user"]

    def test_the_message_of_pages_is_not_taken_for_the_users(self):
        after = snapshot(session(says(PROSE * 300))).conversation
        assert not turns.user_said(after.messages[1])

    def test_the_pages_read_back_to_the_source(self):
        step = snapshot(session(says(PROSE * 300), *run("a", "bash", "naïve 漢字 \ud800\t|\n" * 300, command="x")))
        assert gr.read([page.png() for page in step.pages]) == step.source

    def test_the_slots_stand_for_the_source_page_by_page(self):
        step = snapshot(session(*outputs(30_000, 31_000)))
        assert "".join(slot.stands_for for slot in pages_in(step.conversation)) == step.source

    def test_the_source_is_the_text_of_the_middle(self):
        conversation = session(says(PROSE * 300))
        assert snapshot(conversation).source == plain_text(conversation.messages[1:2], first_number=2) + "\n"

    def test_a_slot_costs_what_the_provider_bills_for_its_page(self):
        step = snapshot(session(*outputs(60_000)))
        billed = [
            model_with().page.tokens(height_px=page.geometry.height_px, width_px=page.geometry.width_px)
            for page in step.pages
        ]
        assert [slot.tokens for slot in pages_in(step.conversation)] == billed

    def test_a_model_that_does_not_see_is_refused_by_its_name(self):
        step = snapshot(session(says(PROSE * 300)), model=resolve("deepseek-chat"))
        assert step.refused.startswith("deepseek-chat does not see images, as far as is known")

    @pytest.mark.parametrize(
        ("model", "text", "refused"),
        [
            ("claude-opus-4-8", "Short.", "1 page(s) cost 73 tokens, their text 14: less than a tenth saved"),
            ("gpt-4o-mini", CODE_LINE * 20, "1 page(s) cost 25,501 tokens, their text 390: less than a tenth saved"),
        ],
        ids=["a short text", "dear images"],
    )
    def test_pages_that_do_not_pay_are_refused_with_their_price_and_the_texts(self, model, text, refused):
        step = snapshot(talk(user("Go."), says(text), user(PROSE * 2_000)), window=120_000, model=resolve(model))
        assert step.refused == refused

    def test_pages_that_cost_more_with_their_introduction_than_they_save_are_refused_with_both_numbers(self):
        middle = says(PROSE * 6)
        step = snapshot(talk(user("Go."), middle, user(PROSE * 2_000)), window=120_000)
        tokens = f"{step.tokens_before:,}"
        assert step.refused.startswith(f"1 page(s) and their introduction would take {tokens} tokens to ")

    def test_an_image_that_stays_takes_the_room_of_a_page(self):
        shown = talk(user("Look.", picture()), says(PROSE * 300), user("And?"))
        assert snapshot(shown, model=model_with(images=1)).refused == (
            "the provider's caps (1 images) leave no room for a page"
        )

    def test_too_many_pages_are_refused_with_both_numbers(self):
        step = snapshot(session(says(PROSE * 900)), window=100_000, model=model_with(images=2))
        assert "takes 3 pages, " in step.refused
        assert step.refused.endswith("there is room for 2 pages and 80,000 tokens")

    def test_too_many_tokens_are_refused_with_both_numbers(self):
        step = snapshot(session(says(PROSE * 900)), window=10_000)
        images = 3 * 4_763  # two full pages and most of a third, at the price of the profile
        told = re.search(r"takes 3 pages, ([\d,]+) tokens with the rest; ", step.refused)
        assert images * 0.9 < int(told[1].replace(",", "")) < images * 1.1
        assert step.refused.endswith("pages and 8,000 tokens")

    def test_bulk_gives_way_largest_first_until_the_pages_fit(self):
        step = snapshot(session(*outputs(9_000, 20_000, 7_000, 15_000)), window=20_000, model=model_with(images=1))
        assert [edit.what for edit in step.edits if edit.reason == "no room on the pages"] == [
            "result of bash seq 20000",
            "result of bash seq 15000",
        ]

    def test_what_gave_way_is_recallable_and_leaves_a_line_on_the_page(self):
        conversation = session(*outputs(9_000, 20_000))
        step = snapshot(conversation, window=20_000, model=model_with(images=1))
        (gone,) = [edit for edit in step.edits if edit.reason == "no room on the pages"]
        assert step.originals[gone.handle] == Original(parts=conversation.messages[4].parts)
        assert f"20,000 characters that bash seq 20000 returned; no room on the pages; recall {gone.handle}]" in (
            step.source
        )

    def test_long_arguments_and_outputs_of_programs_give_way_too(self):
        wrote = calls(call("w", "write", path="a.py", content="y" * 30_000))
        middle = (wrote, answers(result("w", "ok")), says(PROSE * 90), machine("z" * 29_000))
        step = snapshot(session(*middle), window=20_000, model=model_with(images=1))
        assert [edit.what for edit in step.edits if edit.action == "elide"] == [
            "arguments of write a.py",
            f"output that starts {'z' * 60!r}",
        ]

    def test_words_of_people_never_give_way(self):
        said = user("One word at a time. " * 2_000)
        step = snapshot(session(said, user("More.")), window=100_000, model=model_with(images=1))
        assert "without its bulk" in step.refused

    def test_small_results_never_give_way(self):
        many = [message for number in range(200) for message in run(f"n{number}", "bash", "x" * 200, command="seq")]
        assert snapshot(session(*many), window=100_000, model=model_with(images=1)).refused is not None

    def test_pages_of_several_middles_number_on(self):
        early, late = outputs(30_000), outputs(31_000)
        step = snapshot(talk(user("Go."), *early, user("Newest."), *late, says(PROSE * 40)), window=60_000)
        assert [page.index for page in step.pages] == list(range(1, len(step.pages) + 1))
        assert [edit.action for edit in step.edits] == ["snapshot", "snapshot"]

    def test_pages_of_several_middles_read_back_as_one_source(self):
        early, late = outputs(30_000), outputs(31_000)
        step = snapshot(talk(user("Go."), *early, user("Newest."), *late, says(PROSE * 40)), window=60_000)
        assert gr.read(step.pages) == step.source

    def test_the_words_before_the_pages_name_pages_messages_and_handle(self):
        step = snapshot(session(*outputs(60_000)))
        intro = step.conversation.messages[1].parts[0].text
        assert f"pages 1 to {len(step.pages)}, show messages 2 to 3" in intro
        assert step.edits[0].handle in intro

    def test_reasoning_never_stands_on_a_page(self):
        thought = Message(role="assistant", parts=(Thinking(text="secret plan"), Text(text=PROSE * 300)))
        assert "secret plan" not in snapshot(session(thought)).source

    def test_results_name_their_tool(self):
        assert "[3 result bash]" in snapshot(session(*outputs(60_000))).source

    def test_a_tier_chooses_the_cell(self):
        conversation = session(*outputs(60_000))
        budget = Budget.of(resolve("claude-opus-4-8", window=30_000))
        dense = Snapshot(tier="dense").plan(conversation, budget)
        assert dense.pages[0].geometry.scale == 1
        assert Snapshot(tier="legible").plan(conversation, budget).pages[0].geometry.scale == 2

    def test_a_protected_picture_too_large_for_many_images_caps_the_pages(self):
        shown = talk(user("Look.", picture(2_100, 10)), says(PROSE * 300), user("And?"))
        model = model_with(images=600, many_images_over=1)
        assert "leave no room" in snapshot(shown, model=model).refused

    def test_the_bytes_of_a_request_cap_the_pages(self):
        step = snapshot(session(says(PROSE * 900)), window=100_000, model=model_with(max_request_bytes=200_000))
        assert step.refused.endswith("there is room for 2 pages and 80,000 tokens")


def test_unknown_blocks_and_pictures_of_a_middle_are_named_on_its_pages():
    step = snapshot(session(user("Look.", picture(), picture()), says(PROSE * 300)))
    assert step.source.count("[2 user: image/png]") == 2


def test_a_middle_of_pages_is_laid_out_anew_without_a_seam():
    first = snapshot(session(*outputs(60_000)))
    again = snapshot(talk(*first.conversation.messages, says(PROSE * 200), user("So?")))
    assert first.source.rstrip("\n") in again.source


def test_results_of_calls_outside_the_middle_are_named_after_their_tool():
    pieces = itertools.chain(*(run(f"k{number}", "bash", "x" * 900, command="seq") for number in range(30)))
    assert "of an unknown tool" not in snapshot(session(*pieces)).source
