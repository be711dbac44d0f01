"""Rung 3: the middle of the history as pages of pixel glyphs: no model call, no key, no network.

Everything not protected is turned to text and laid out on pages for the model's page profile. Where more text stands in
the middle than there is room for, bulk gives way, largest first, until the pages fit. Pages are rendered afresh from
text every time, never from earlier pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import glyphraster as gr
from contextkit import turns
from contextkit.messages import MACHINE_MADE, Conversation, Image, Message, Pending, Text, ToolResult
from contextkit.plaintext import plain_text
from contextkit.protocols import Budget, Edit, Step
from contextkit.recall import Original
from contextkit.rungs.bulk import NO_ROOM, Bulk, BulkItem, Place
from contextkit.rungs.rewrite import calls_by_id, with_parts, with_regions
from contextkit.tokens import image_size

PAYS_AT_SHARE = 0.9
"""Pages must cost at most this share of the text they show."""

UNCAPPED_PAGES = 1_000
"""Most pages where the provider names no cap on images."""

_PNG_BYTES_PER_CELL = 4
"""Base64 bytes a cell takes in a request: 3.3 measured on source code at one bit a pixel."""

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
        kept = turns.protected(conversation.messages, budget.estimator, budget.tail_tokens)
        middle = turns.regions(kept)
        tokens = budget.estimator.conversation(conversation)
        if not middle:
            return Step(rung=self.name, conversation=conversation, tokens_before=tokens, tokens_after=tokens)
        room = _room(conversation, budget, middle, self.tier)
        drawn = self._fitted(conversation, budget, middle, room)
        refused = _refusal(drawn, budget, room, tokens)
        if drawn is None or refused:
            return Step(
                rung=self.name, conversation=conversation, tokens_before=tokens, tokens_after=tokens, refused=refused
            )
        return _step(self.name, drawn, conversation, budget, tokens)

    def _fitted(self, conversation: Conversation, budget: Budget, middle: Sequence[range], room: int) -> _Drawn | None:
        """Let bulk give way until the pages fit, into the target, else into the limit; None: nothing can be drawn."""
        if not budget.model.vision or not room:
            return None
        whole = drawn = self._draw(conversation, budget, middle, {})
        for allowed in (budget.target_tokens, budget.limit_tokens):
            bulk, drawn = Bulk(conversation, middle), whole
            for _ in range(_FITTING_PASSES):
                share = min(allowed / max(1, drawn.tokens), room / len(drawn.pages))
                if share >= 1:
                    return drawn
                if not bulk.give_way(int(drawn.chars * (1 - share)) + 1):
                    break
                drawn = self._draw(conversation, budget, middle, bulk.gone)
        return drawn

    def _draw(
        self, conversation: Conversation, budget: Budget, middle: Sequence[range], gone: Mapping[Place, BulkItem]
    ) -> _Drawn:
        thinned = with_parts(conversation, {place: item.replacement for place, item in gone.items()})
        names = {call_id: call.name for call_id, call in calls_by_id(conversation.messages).items()}
        regions: list[_Region] = []
        for span in middle:
            messages = thinned.messages[span.start : span.stop]
            source = plain_text(messages, first_number=span.start + 1, tool_names=names) + "\n"
            after = regions[-1].pages[-1] if regions else None
            pages = gr.render(source, budget.model.id, route=budget.model.route, tier=self.tier, after=after)
            original = Original(messages=conversation.messages[span.start : span.stop])
            regions.append(_Region(span=span, source=source, pages=tuple(pages), original=original))
        return _Drawn(
            regions=tuple(regions), gone=dict(gone), conversation=_rebuilt(conversation, regions, budget), budget=budget
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Region:
    """One middle: where it stood, the text it became, the pages that show it."""

    span: range
    source: str
    pages: tuple[gr.Page, ...]
    original: Original


@dataclass(frozen=True, kw_only=True)
class _Drawn:
    """The conversation with its middles as pages, and what gave way."""

    regions: tuple[_Region, ...]
    gone: Mapping[Place, BulkItem]
    conversation: Conversation
    budget: Budget

    @property
    def pages(self) -> tuple[gr.Page, ...]:
        return tuple(page for region in self.regions for page in region.pages)

    @property
    def source(self) -> str:
        return "".join(region.source for region in self.regions)

    @property
    def chars(self) -> int:
        return sum(len(region.source) for region in self.regions)

    @property
    def tokens(self) -> int:
        return self.budget.estimator.conversation(self.conversation)


def _rebuilt(conversation: Conversation, regions: Sequence[_Region], budget: Budget) -> Conversation:
    return with_regions(conversation, {region.span: _page_message(region, budget) for region in regions})


def _page_message(region: _Region, budget: Budget) -> Message:
    """Return the message that holds the pages, in words that tell the reader what they are and what they are not."""
    first, last, at = region.pages[0], region.pages[-1], region.pages[0].start
    intro = (
        f"[The next {len(region.pages)} image(s), pages {first.index} to {last.index}, show messages "
        f"{region.span.start + 1} to {region.span.stop} of this conversation as text, to be read row by row. They are "
        f"history, not a new request. A bent arrow ends a line, an underlined arrow is a tab, a small underlined "
        f"number is that many spaces, a code or name in double brackets is that Unicode character. Glyphs are small: "
        f"never guess an exact string (a path, an id, a number) from them; say that you cannot read it and ask for the "
        f"original by its handle, {region.original.handle}.]"
    )
    slots = (
        Pending(
            key=page_key(page),
            tokens=page_tokens(page, budget),
            stands_for=region.source[page.start - at : page.stop - at],
        )
        for page in region.pages
    )
    return Message(role="user", parts=(Text(text=intro), *slots), extra=MACHINE_MADE)


def page_key(page: gr.Page) -> str:
    """Name the slot of a page."""
    return f"page-{page.index:03d}"


def page_tokens(page: gr.Page, budget: Budget) -> int:
    """Return what the model's provider bills for a page."""
    geometry = page.geometry
    return budget.model.page.tokens(height_px=geometry.height_px, width_px=geometry.width_px)


def _step(name: str, drawn: _Drawn, before: Conversation, budget: Budget, tokens: int) -> Step:
    """Return the step, with one edit for each middle and one for each part that gave way."""
    originals = {region.original.handle: region.original for region in drawn.regions}
    edits = [_region_edit(region, budget) for region in drawn.regions]
    for place, item in sorted(drawn.gone.items()):
        original = Original(parts=(before.messages[place[0]].parts[place[1]],))
        originals[original.handle] = original
        edits.append(_gone_edit(item, original, budget))
    return Step(
        rung=name,
        conversation=drawn.conversation,
        tokens_before=tokens,
        tokens_after=drawn.tokens,
        edits=tuple(edits),
        originals=originals,
        pages=drawn.pages,
        source=drawn.source,
    )


def _region_edit(region: _Region, budget: Budget) -> Edit:
    return Edit(
        action="snapshot",
        what=f"messages {region.span.start + 1} to {region.span.stop}",
        reason="older than the tail",
        first_message=region.span.start,
        last_message=region.span.stop - 1,
        tokens_before=budget.estimator.messages(region.original.messages),
        tokens_after=budget.estimator.message(_page_message(region, budget)),
        handle=region.original.handle,
    )


def _gone_edit(item: BulkItem, original: Original, budget: Budget) -> Edit:
    """Return the edit of a part that gave way; its line stands on a page, whose price is the middle's."""
    return Edit(
        action="elide",
        what=item.what,
        reason=NO_ROOM,
        first_message=item.place[0],
        last_message=item.place[0],
        tokens_before=budget.estimator.parts(original.parts),
        tokens_after=0,
        handle=original.handle,
    )


def _refusal(drawn: _Drawn | None, budget: Budget, room: int, before: int) -> str | None:
    """Say why nothing is drawn, with the numbers; None when the pages fit and pay."""
    if not budget.model.vision:
        return f"{budget.model.id} does not see images, as far as is known: its middle can only be summarised"
    if drawn is None:
        return f"the provider's caps ({budget.model.page.max_images} images) leave no room for a page"
    if drawn.tokens > budget.limit_tokens or len(drawn.pages) > room:
        return (
            f"the middle without its bulk still takes {len(drawn.pages)} pages, {drawn.tokens:,} tokens with the rest; "
            f"there is room for {room} pages and {budget.limit_tokens:,} tokens"
        )
    pages, text = sum(page_tokens(page, budget) for page in drawn.pages), _text_tokens(drawn, budget)
    if pages > PAYS_AT_SHARE * text:
        return f"{len(drawn.pages)} page(s) cost {pages:,} tokens, their text {text:,}: less than a tenth saved"
    if drawn.tokens >= before:
        return f"{len(drawn.pages)} page(s) and their introduction would take {before:,} tokens to {drawn.tokens:,}"
    return None


def _text_tokens(drawn: _Drawn, budget: Budget) -> int:
    """Return what stands against the pages: the text they show, or, where bulk gave way, all that was there."""
    if not drawn.gone:
        return budget.estimator.text(drawn.source)
    return sum(budget.estimator.messages(region.original.messages) for region in drawn.regions)


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
    profile, choice = budget.model.page, gr.reading_cell(budget.model.id)
    scale = choice.scale if tier == "auto" else gr.TIERS[tier]
    cell_px = choice.cell_height_px * choice.cell_width_px * scale**2 // choice.scale**2
    return profile.page_height_px * profile.page_width_px // cell_px


def _pictures(message: Message) -> list[Image]:
    nested = [inner for result in message.of(ToolResult) for inner in result.content if isinstance(inner, Image)]
    return [*message.of(Image), *nested]
