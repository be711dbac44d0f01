"""What travels together, and where a cut may fall."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextkit import turns
from contextkit.messages import Message, ToolCall, ToolResult
from contextkit.models import resolve
from contextkit.tokens import TokenEstimator
from tests.contextkit.strategies import (
    answers,
    call,
    calls,
    conversations,
    machine,
    picture,
    result,
    run,
    says,
    user,
)

ESTIMATOR = TokenEstimator(resolve("claude-opus-4-8"))
TAILS = st.integers(0, 3_000)


def spans(*messages):
    return [(group.start, group.stop) for group in turns.groups(messages)]


def kept(*messages, tail_tokens=0):
    return turns.protected(messages, ESTIMATOR, tail_tokens)


class TestGroups:
    @given(conversations())
    def test_groups_hold_every_message_once_and_in_order(self, conversation):
        places = [at for group in turns.groups(conversation.messages) for at in range(group.start, group.stop)]
        assert places == list(range(len(conversation.messages)))

    @given(conversations())
    def test_a_call_never_parts_from_its_results(self, conversation):
        for group in turns.groups(conversation.messages):
            inside = conversation.messages[group.start : group.stop]
            made = {part.id for message in inside for part in message.of(ToolCall)}
            assert {part.call_id for message in inside for part in message.of(ToolResult)} <= made

    @given(conversations())
    def test_a_group_has_an_open_call_exactly_when_one_has_no_result(self, conversation):
        answered = {part.call_id for message in conversation.messages for part in message.of(ToolResult)}
        for group in turns.groups(conversation.messages):
            made = {part.id for part in conversation.messages[group.start].of(ToolCall)}
            assert group.has_open_call == bool(made - answered)

    def test_what_nobody_answers_is_a_group_of_its_own(self):
        assert spans(user("Hello."), says("Hello."), machine("$ ls")) == [(0, 1), (1, 2), (2, 3)]

    def test_parallel_calls_wait_for_results_in_several_messages(self):
        made = calls(call("a", "read"), call("b", "read"))
        assert spans(made, answers(result("b", "2")), answers(result("a", "1")), says("Done.")) == [(0, 3), (3, 4)]

    def test_a_group_ends_where_its_last_call_is_answered(self):
        assert spans(*run("a", "read", "1"), answers(result("a", "again"))) == [(0, 2), (2, 3)]

    def test_a_call_that_something_else_follows_stays_open(self):
        found = turns.groups((calls(call("a", "read")), user("Stop."), answers(result("other", "1"))))
        assert [group.has_open_call for group in found] == [True, False, False]

    def test_no_messages_are_no_groups(self):
        assert turns.groups(()) == ()


class TestProtected:
    @given(conversations(), TAILS)
    def test_a_group_is_protected_as_a_whole_or_not_at_all(self, conversation, tail_tokens):
        keeps = kept(*conversation.messages, tail_tokens=tail_tokens)
        for group in turns.groups(conversation.messages):
            assert len(set(keeps[group.start : group.stop])) == 1

    @given(conversations(), TAILS)
    def test_system_messages_and_the_first_and_newest_user_message_are_protected(self, conversation, tail_tokens):
        keeps = kept(*conversation.messages, tail_tokens=tail_tokens)
        said = [at for at, message in enumerate(conversation.messages) if turns.user_said(message)]
        system = [at for at, message in enumerate(conversation.messages) if message.role == "system"]
        assert all(keeps[at] for at in (*said[:1], *said[-1:], *system))

    @given(conversations(), TAILS)
    def test_an_open_call_at_the_end_is_protected(self, conversation, tail_tokens):
        groups = turns.groups(conversation.messages)
        keeps = kept(*conversation.messages, tail_tokens=tail_tokens)
        assert all(keeps[group.start] for group in groups[-1:] if group.has_open_call)

    @given(conversations(), TAILS)
    def test_the_newest_groups_within_the_tail_are_protected(self, conversation, tail_tokens):
        keeps, room = kept(*conversation.messages, tail_tokens=tail_tokens), tail_tokens
        for group in reversed(turns.groups(conversation.messages)):
            room -= ESTIMATOR.messages(conversation.messages[group.start : group.stop])
            assert room < 0 or keeps[group.start]
            if room < 0:
                break

    @given(conversations(), TAILS)
    def test_a_larger_tail_protects_no_less(self, conversation, tail_tokens):
        small = kept(*conversation.messages, tail_tokens=tail_tokens)
        large = kept(*conversation.messages, tail_tokens=tail_tokens + 500)
        assert all(now or not before for before, now in zip(small, large, strict=True))

    def test_the_newest_group_is_not_protected_when_it_is_larger_than_the_tail(self):
        messages = (user("Go."), *run("a", "read", "x" * 9_000))
        assert kept(*messages, tail_tokens=500) == (True, False, False)

    def test_the_tail_ends_before_the_first_group_that_does_not_fit_it(self):
        messages = (user("Go."), says("short"), says("x" * 9_000), says("short"), user("And?"))
        assert kept(*messages, tail_tokens=500) == (True, False, False, True, True)

    def test_user_messages_between_the_first_and_the_newest_are_not_protected(self):
        assert kept(user("One."), user("Two."), user("Three.")) == (True, False, True)

    def test_what_a_program_wrote_in_the_users_role_is_not_what_the_user_said(self):
        assert kept(machine("boot"), user("One."), user("Two."), machine("$ ls")) == (False, True, True, False)

    def test_a_picture_alone_is_something_the_user_said(self):
        assert turns.user_said(Message(role="user", parts=(picture(),)))

    def test_results_in_the_users_role_are_not_something_the_user_said(self):
        assert not turns.user_said(Message(role="user", parts=(result("a", "1"),)))

    def test_a_head_that_no_user_wrote_is_protected_within_the_tail(self):
        assert kept(machine("boot"), says("x" * 9_000), user("One."), tail_tokens=100) == (True, False, True)

    def test_a_head_that_no_user_wrote_is_not_protected_when_it_is_larger_than_the_tail(self):
        assert kept(machine("boot " * 999), says("x" * 9_000), user("One."), tail_tokens=100) == (False, False, True)

    def test_words_of_the_user_protect_the_results_they_came_with(self):
        both = Message(role="user", parts=(result("a", "1"), *user("Go on.").parts))
        assert kept(user("One."), calls(call("a", "read")), both, says("Done.")) == (True, True, True, False)

    def test_nothing_is_protected_where_there_is_nothing(self):
        assert kept(tail_tokens=100) == ()


class TestRegions:
    @given(st.lists(st.booleans(), max_size=40))
    def test_regions_hold_exactly_what_is_not_protected(self, keeps):
        assert [at for region in turns.regions(keeps) for at in region] == [
            at for at, is_kept in enumerate(keeps) if not is_kept
        ]

    @given(st.lists(st.booleans(), max_size=40))
    def test_regions_are_as_long_as_they_can_be(self, keeps):
        for region in turns.regions(keeps):
            around = [at for at in (region.start - 1, region.stop) if 0 <= at < len(keeps)]
            assert len(region) > 0
            assert all(keeps[at] for at in around)

    @pytest.mark.parametrize(
        ("drawn", "expected"),
        [("", ()), ("##", ()), ("..", (range(2),)), ("#..#.#", (range(1, 3), range(4, 5)))],
    )
    def test_regions_are_the_runs_between_what_is_protected(self, drawn, expected):
        assert turns.regions([mark == "#" for mark in drawn]) == expected
