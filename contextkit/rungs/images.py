"""Rung 2: old pictures become a line each, oldest first, as many as it takes. Free; the text around them stays."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from contextkit import turns
from contextkit.messages import AnyPart, Conversation, Image, Text, ToolResult
from contextkit.plaintext import image_label
from contextkit.protocols import Budget, Step
from contextkit.recall import Original
from contextkit.rungs.rewrite import Taken, part_step
from contextkit.tokens import image_size


@dataclass(frozen=True, slots=True, kw_only=True)
class DropImages:
    """Replace pictures outside protected groups by a label with a handle. Our own pages are never dropped."""

    name: str = "images"

    def plan(self, conversation: Conversation, budget: Budget) -> Step:
        """Say which pictures would go."""
        kept = turns.protected(conversation.messages, budget.estimator, budget.tail_tokens)
        over = budget.estimator.conversation(conversation) - budget.target_tokens
        taken = []
        for at, message in enumerate(conversation.messages):
            for place, part in enumerate(message.parts):
                stand_in = _without_pictures(part)
                if over <= 0 or kept[at] or stand_in is part:
                    continue
                saved = budget.estimator.part(part) - budget.estimator.part(stand_in)
                if saved > 0:
                    over -= saved
                    taken.append(
                        Taken(
                            message=at,
                            part=place,
                            replacement=stand_in,
                            action="drop",
                            what=_what(part),
                            reason="old picture",
                        )
                    )
        return part_step(self.name, conversation, budget, taken)


def _is_picture(part: object) -> bool:
    return isinstance(part, Image) and not part.stands_for


def _without_pictures(part: AnyPart) -> AnyPart:
    """Return the part with labels for pictures; the same object when it holds none."""
    if isinstance(part, ToolResult) and any(_is_picture(inner) for inner in part.content):
        content = tuple(_label(inner, part) if _is_picture(inner) else inner for inner in part.content)
        return msgspec.structs.replace(part, content=content, extra={})
    return _label(part, part) if _is_picture(part) else part


def _label(image: object, original: AnyPart) -> Text:
    assert isinstance(image, Image)  # noqa: S101  (both callers asked _is_picture)
    label = image_label(image, image_size(image) if image.data else None)
    return Text(text=f"[picture dropped: {label}; recall {Original(parts=(original,)).handle}]")


def _what(part: AnyPart) -> str:
    if isinstance(part, ToolResult):
        return f"{sum(_is_picture(inner) for inner in part.content)} picture(s) in a tool result"
    return "picture"
