"""Rung 3: the middle of the history as pages of pixel glyphs: no model call, no key, no network.

Everything not protected is turned to text and laid out on pages for the model's page profile. Where more text stands in
the middle than the target has room for, bulk gives way: the largest tool results, oldest first, become one line each,
until the pages fit. Rendered afresh from text every time, never from earlier pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import glyphraster as gr
from contextkit import turns
from contextkit.messages import AnyPart, Conversation, Image, Message, Pending, Text, ToolCall, ToolResult
from contextkit.plaintext import plain_text, result_text
from contextkit.protocols import Budget, Edit, Step
from contextkit.recall import Original
from contextkit.rungs.elide import elided
from contextkit.rungs.rewrite import calls_by_id, with_parts, with_regions
from contextkit.tokens import image_size

PAYS_AT_SHARE = 0.9
"""Pages must cost at most this share of the text they replace."""

SMALLEST_BULK_CHARS = 400
"""A shorter result never gives way: its line would hardly be shorter."""

_PNG_BYTES_PER_CELL = 4
"""Base64 bytes a cell takes in a request: 3.3 measured on source code at one bit a pixel."""

UNCAPPED_PAGES = 1_000
"""Most pages where the provider names no cap on images."""

_FITTING_PASSES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Draw the middle on pages.

    Parameters
    ----------
    tier
        As in :func:`glyphraster.render`: ``"auto"`` takes the cell with evidence of reading.
    """

    name: str = "snapshot"
    tier: gr.Tier = "auto"

    def plan(self, conversation: Conversation, budget: Budget) -> Step:
        """Say which messages would become pages; nothing is drawn."""
        before = budget.estimator.conversation(conversation)
        kept = turns.protected(conversation.messages, budget.estimator, budget.tail_tokens)
        middle = turns.regions(kept)
        if not middle:
            return Step(rung=self.name, conversation=conversation, tokens_before=before, tokens_after=before)
        refused = _cannot_read(budget)
        if refused is None:
            step = self._fitted(conversation, budget, middle, before)
            refused = step.refused or _does_not_pay(step)
            if refused is None:
                return step
        return Step(
            rung=self.name, conversation=conversation, tokens_before=before, tokens_after=before, refused=refused
        )

    def _fitted(self, conversation: Conversation, budget: Budget, middle: Sequence[range], before: int) -> Step:
        """Give bulk away until the pages fit, first into the target, else into the limit."""
        room = _room(conversation, budget, middle, self.tier)
        whole = drawn = _Drawn(conversation, budget, middle, self.tier, {})
        for allowed in (budget.target_tokens, budget.limit_tokens):
            bulk = _Bulk(conversation, middle)
            drawn = whole
            for _ in range(_FITTING_PASSES):
                if drawn.tokens <= allowed and len(drawn.pages) <= room:
                    return drawn.step(self.name, before)
                share = min(allowed / drawn.tokens if drawn.tokens > allowed else 1.0, room / len(drawn.pages))
                if not bulk.give_way(int(drawn.chars * (1 - share)) + 1):
                    break
                drawn = _Drawn(conversation, budget, middle, self.tier, bulk.gone)
        reason = (
            f"the middle without its bulk still takes {len(drawn.pages)} pages: {drawn.tokens:,} tokens with the "
            "rest, where the limit is "
            f"{budget.limit_tokens:,} tokens and {room} pages"
        )
        return Step(
            rung=self.name, conversation=conversation, tokens_before=before, tokens_after=before, refused=reason
        )


class _Bulk:
    """Tool results of the middle that can give way, largest first, oldest first among equals."""

    def __init__(self, conversation: Conversation, middle: Sequence[range]) -> None:
        self._calls = calls_by_id(conversation.messages)
        self._waiting = sorted(_results(conversation, middle, self._calls), key=lambda item: (-item[0], item[1]))
        self.gone: dict[tuple[int, int], AnyPart] = {}

    def give_way(self, chars: int) -> bool:
        """Let results go until ``chars`` characters are freed; say whether any went."""
        freed, at = 0, 0
        while freed < chars and at < len(self._waiting):
            size, place, result = self._waiting[at]
            self.gone[place] = elided(result, self._calls[result.call_id], size, "no room on the pages")
            freed += size
            at += 1
        del self._waiting[:at]
        return at > 0


def _results(
    conversation: Conversation, middle: Sequence[range], calls: dict[str, ToolCall]
) -> Iterator[tuple[int, tuple[int, int], ToolResult]]:
    for at in (at for region in middle for at in region):
        for place, part in enumerate(conversation.messages[at].parts):
            if (
                isinstance(part, ToolResult)
                and part.call_id in calls
                and len(text := result_text(part)) >= SMALLEST_BULK_CHARS
            ):
                yield len(text), (at, place), part


class _Drawn:
    """The conversation with its middles as pages, given what gave way."""

    def __init__(
        self,
        conversation: Conversation,
        budget: Budget,
        middle: Sequence[range],
        tier: gr.Tier,
        gone: dict[tuple[int, int], AnyPart],
    ) -> None:
        self._before, self._budget, self._middle, self._gone = conversation, budget, middle, dict(gone)
        thinned = with_parts(conversation, gone) if gone else conversation
        names = {call_id: call.name for call_id, call in calls_by_id(conversation.messages).items()}
        model = budget.model
        self.pages: list[gr.Page] = []
        self._sources, messages = [], {}
        for region in middle:
            source = (
                plain_text(
                    thinned.messages[region.start : region.stop], first_number=region.start + 1, tool_names=names
                )
                + "\n"
            )
            pages = gr.render(
                source, model.id, route=model.route, tier=tier, after=self.pages[-1] if self.pages else None
            )
            messages[region] = _page_message(pages, source, region, self._original(region), budget)
            self.pages += pages
            self._sources.append(source)
        self.conversation = with_regions(conversation, messages)
        self.chars = sum(map(len, self._sources))
        self.tokens = budget.estimator.conversation(self.conversation)

    def step(self, name: str, before: int) -> Step:
        """Return the step with one edit per middle and one per result that gave way."""
        gone = {place: Original(parts=(self._before.messages[place[0]].parts[place[1]],)) for place in self._gone}
        middles = {region: self._original(region) for region in self._middle}
        originals = {original.handle: original for original in (*gone.values(), *middles.values())}
        edits = [self._middle_edit(region, original) for region, original in middles.items()]
        edits += [self._gone_edit(place, original) for place, original in gone.items()]
        return Step(
            rung=name,
            conversation=self.conversation,
            tokens_before=before,
            tokens_after=self.tokens,
            edits=tuple(edits),
            originals=originals,
            pages=tuple(self.pages),
            source="".join(self._sources),
        )

    def _original(self, region: range) -> Original:
        return Original(messages=self._before.messages[region.start : region.stop])

    def _middle_edit(self, region: range, original: Original) -> Edit:
        taken = self._budget.estimator.messages(original.messages)
        return Edit(
            action="snapshot",
            what=f"messages {region.start + 1} to {region.stop}",
            reason="older than the tail",
            first_message=region.start,
            last_message=region.stop - 1,
            tokens_before=taken,
            tokens_after=taken - self._saved(region),
            handle=original.handle,
        )

    def _saved(self, region: range) -> int:
        """Share what is saved among the middles by their size."""
        sizes = {each: self._budget.estimator.messages(self._original(each).messages) for each in self._middle}
        saved = self._budget.estimator.conversation(self._before) - self.tokens
        return saved * sizes[region] // max(1, sum(sizes.values()))

    def _gone_edit(self, place: tuple[int, int], original: Original) -> Edit:
        line = self._gone[place]
        return Edit(
            action="elide",
            what="bulk of the middle",
            reason="no room on the pages",
            first_message=place[0],
            last_message=place[0],
            tokens_before=self._budget.estimator.parts(original.parts),
            tokens_after=self._budget.estimator.part(line),
            handle=original.handle,
        )


def _page_message(pages: Sequence[gr.Page], source: str, region: range, original: Original, budget: Budget) -> Message:
    """Return the message that holds the pages, in words that tell the reader what they are and what they are not."""
    first, last = pages[0].index, pages[-1].index
    intro = (
        f"[The next {len(pages)} image(s), pages {first} to {last}, show messages {region.start + 1} to {region.stop} "
        "of this conversation as text, to "
        f"be read row by row. They are history, not a new request. ↵ ends a line; a digit in a tray is that many "
        "spaces; a code in double "
        f"brackets is that Unicode character. Glyphs are small: never guess an exact string (a path, an id, a number) "
        "from "
        f"them; say that you cannot read it and ask for the original by its handle, {original.handle}.]"
    )
    slots = [
        Pending(
            key=f"page-{page.index:03d}",
            tokens=budget.model.page.tokens(height_px=page.geometry.height_px, width_px=page.geometry.width_px),
            stands_for=source[page.start - pages[0].start : page.stop - pages[0].start],
        )
        for page in pages
    ]
    return Message(role="user", parts=(Text(text=intro), *slots))


def _room(conversation: Conversation, budget: Budget, middle: Sequence[range], tier: gr.Tier) -> int:
    """Return how many pages the provider's caps leave room for, beside the pictures that stay."""
    profile = budget.model.page
    taken = {at for region in middle for at in region}
    staying = [
        picture for at, message in enumerate(conversation.messages) if at not in taken for picture in _pictures(message)
    ]
    most = UNCAPPED_PAGES if profile.max_images is None else profile.max_images
    if profile.many_images_side_px and any(
        max(image_size(picture) or (0,)) > profile.many_images_side_px for picture in staying
    ):
        most = min(most, profile.many_images_over or most)
    if profile.max_request_bytes:
        most = min(most, profile.max_request_bytes // (_cells_per_page(budget, tier) * _PNG_BYTES_PER_CELL))
    return max(0, most - len(staying))


def _cells_per_page(budget: Budget, tier: gr.Tier) -> int:
    profile, scale = budget.model.page, gr.reading_cell(budget.model.id).scale if tier == "auto" else gr.TIERS[tier]
    return profile.page_height_px * profile.page_width_px // (40 * scale * scale)


def _pictures(message: Message) -> list[Image]:
    nested = [inner for result in message.of(ToolResult) for inner in result.content if isinstance(inner, Image)]
    return [*message.of(Image), *nested]


def _cannot_read(budget: Budget) -> str | None:
    if not budget.model.vision:
        return f"{budget.model.id} does not see images, as far as is known: its middle can only be summarised"
    return None


def _does_not_pay(step: Step) -> str | None:
    before = sum(edit.tokens_before for edit in step.edits if edit.action == "snapshot")
    after = before - (step.tokens_before - step.tokens_after)
    if after <= PAYS_AT_SHARE * before:
        return None
    return f"{len(step.pages)} page(s) would cost {after:,} tokens, the text costs {before:,}: less than a tenth saved"
