"""What is known of a model on a route."""

from importlib import resources

import pytest

from contextkit.errors import ArgumentError, TableError
from contextkit.models import parse_models, resolve

SHIPPED = resources.files("contextkit").joinpath("models.toml").read_text(encoding="utf-8")
TABLE = parse_models(SHIPPED)


class TestWindows:
    @pytest.mark.parametrize(("model", "window", "output"), [
        ("claude-opus-5-5", 1_000_000, 128_000), ("claude-fable-5", 1_000_000, 128_000),
        ("claude-opus-4-6", 1_000_000, 64_000),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, 64_000),
        ("claude-sonnet-4-20250514", 200_000, 64_000),
        ("claude-opus-4-1-20250805", 200_000, 32_000), ("anthropic/claude-3.7-sonnet:thinking", 200_000, 8_192),
        ("claude-3-opus-20240229", 200_000, 4_096),
        ("gpt-6-astra", 922_000, 128_000), ("gpt-6.1-sol", 922_000, 128_000), ("gpt-5.5-2026-04-23", 922_000, 128_000),
        ("gpt-5.4-mini", 272_000, 128_000),
        ("gpt-5-2025-08-07", 272_000, 128_000), ("gpt-5.2-chat-latest", 128_000, 16_384),
        ("gpt-4.1-mini", 1_047_576, 32_768), ("gpt-4o", 128_000, 16_384),
        ("gpt-4-0613", 8_192, 4_096), ("o3-mini", 200_000, 100_000), ("gemini/gemini-3.8-flash", 1_048_576, 65_535),
        ("gemini-4-argon", 1_048_576, 65_536),
        ("x-ai/grok-4.7", 500_000, 500_000), ("grok-4.20-0309", 1_000_000, 1_000_000),
        ("deepseek-v4-pro", 1_000_000, 384_000),
        ("dashscope/qwen3.8-max", 991_808, 65_536), ("qwen3.8-27b", 262_144, 16_384),
        ("moonshotai/kimi-k2.6", 262_144, 262_144), ("kimi-k3", 1_048_576, 1_048_576),
        ("zai/glm-5.3-flash", 1_000_000, 128_000), ("glm-4.7", 200_000, 128_000),
        ("mistral-medium-2508", 262_144, 262_144), ("codestral-2508", 128_000, 128_000),
        ("us.amazon.nova-2-lite-v1:0", 1_000_000, 10_000), ("minimax-m2.5", 196_000, 8_192),
    ])
    def test_a_model_has_the_window_and_answer_of_its_row(self, model, window, output):
        found = resolve(model)
        assert (found.window_tokens, found.max_output_tokens, found.match) == (window, output, "known")

    def test_an_unknown_model_gets_a_window_and_text_priced_high(self):
        found = resolve("some-model")
        assert (found.match, found.window_tokens, found.chars_per_token, found.vision,
            found.binds_thinking) == ("default", 128_000, 2.5, False, False)

    def test_the_callers_window_outranks_the_table(self):
        assert resolve("claude-opus-5-5", window=123_456).window_tokens == 123_456

    @pytest.mark.parametrize("window", [0, -7, 1.5, "200k", True])
    def test_a_window_that_is_no_positive_integer_is_refused_with_its_number(self, window):
        with pytest.raises(ArgumentError, match=f"window must be a positive number of tokens, got {window!r}"):
            resolve("claude-opus-5-5", window=window)

    def test_copilot_gives_less_than_the_maker(self):
        found = resolve("claude-opus-5", route="github-copilot")
        assert (found.window_tokens, found.max_output_tokens) == (200_000, 64_000)
        assert resolve("gpt-4o", route="copilot").window_tokens == 128_000


class TestWire:
    @pytest.mark.parametrize(("model", "route", "wire"), [
        ("claude-opus-5-5", None, "anthropic"), ("claude-opus-5-5", "anthropic", "anthropic"),
        ("claude-opus-5-5", "bedrock", "anthropic"),
        ("claude-opus-5-5", "vertex_ai", "anthropic"), ("us.anthropic.claude-opus-5-5", None, "anthropic"),
        ("claude-opus-7", None, "anthropic"),
        ("claude-opus-5-5", "openrouter", "openai-chat"), ("claude-opus-5-5", "azure", "openai-chat"),
        ("claude-opus-5-5", "vercel", "openai-chat"),
        ("claude-opus-5-5", "copilot", "openai-chat"), ("claude-opus-5-5", "litellm", "openai-chat"),
        ("openrouter/anthropic/claude-opus-5.5", None, "openai-chat"),
        ("databricks/databricks-claude-fable-5-1", None, "openai-chat"), ("gemini-3.8-flash", None, "openai-chat"),
        ("gemini-3.8-flash", "vertex", "openai-chat"),
        ("gpt-6-astra", None, "openai-chat"), ("some-model", None, "openai-chat"),
    ])
    def test_claude_speaks_its_own_wire_where_its_makers_api_is_offered(self, model, route, wire):
        assert resolve(model, route=route).wire == wire


class TestThinking:
    @pytest.mark.parametrize("model",
        ["claude-fable-5-1", "claude-fable-5.2", "claude-mythos-5", "claude-mythos-5-1", "claude-opus-5-5",
            "anthropic/claude-sonnet-5.5:batch",
                                       "claude-haiku-5-5@default"])
    def test_the_newest_claude_models_bind_thinking(self, model):
        assert resolve(model).binds_thinking

    @pytest.mark.parametrize("model",
        ["claude-fable-5", "claude-fable-5-20260601", "claude-opus-5", "claude-opus-5-20260601", "claude-sonnet-5",
            "claude-opus-4-8",
                                       "claude-haiku-4-5", "gpt-6-astra", "gemini-3.8-flash"])
    def test_older_and_other_models_do_not(self, model):
        assert not resolve(model).binds_thinking

    def test_a_version_that_nobody_lists_is_assumed_to(self):
        found = resolve("claude-opus-6")
        assert (found.match, found.binds_thinking) == ("assumed", True)


class TestResolve:
    def test_images_are_described_by_the_page_profile_of_the_same_route(self):
        found = resolve("gpt-6-astra", route="azure")
        assert (found.id, found.route, found.vision, found.page.key, found.page.max_images) == ("gpt-6-astra", "azure",
            True, "openai-gpt6-astra", 50)

    def test_a_model_listed_as_text_only_is_still_a_known_model(self):
        found = resolve("gpt-oss-120b")
        assert (found.match, found.vision) == ("known", False)

    @pytest.mark.parametrize(("model", "density"),
        [("claude-opus-4-7", 2.5), ("claude-opus-4-6", 3.4), ("gpt-5.5", 4.0), ("gemini-3-pro-preview", 4.0)])
    def test_text_density_follows_the_tokenizer(self, model, density):
        assert resolve(model).chars_per_token == density

    def test_an_unknown_route_is_refused_and_the_known_ones_are_named(self):
        with pytest.raises(ArgumentError, match=r"'acme-gateway'.*openrouter"):
            resolve("claude-opus-5", route="acme-gateway")

    def test_an_id_that_says_nothing_is_refused(self):
        with pytest.raises(ArgumentError, match="non-empty string"):
            resolve("")


class TestLoader:
    @pytest.mark.parametrize("row", TABLE.rows, ids=lambda row: row.hits.pattern)
    def test_an_answer_is_never_longer_than_a_window(self, row):
        assert row.max_output_tokens <= row.window_tokens

    @pytest.mark.parametrize(("old", "new", "said"), [
        ("chars_per_token = 2.5\nwire", "chars = 2.5\nwire", "default: unknown key 'chars'; known: window_tokens"),
        ('name = "Grok"', 'name = "Grok"\ncolour = 3', "family Grok: unknown key 'colour'; known: name, wire"),
        ("window_tokens = 500000, ", "", "family Grok: missing window_tokens"),
        ("window_tokens = 500000", "window_tokens = -5", "window_tokens must be a positive integer, got -5"),
        ('wire = "openai-chat"', 'wire = "telex"', "wire must be one of anthropic, openai-chat, got 'telex'"),
        ("chars_per_token = 3.8", "chars_per_token = 0.0", "chars_per_token must be positive, got 0.0"),
        ("gemma-4'", "gemma-(4'", "is no regular expression"),
        ('as_of = "2026-11-30"', 'as_of = "now"', "as_of must be a date such as '2026-11-30', got 'now'"),
        ("[[route]]\nname", "[[route]]\nspeed = 3\nname", "route github-copilot: unknown key 'speed'"),
        ("\n[default]", "\n[fallback]", "unknown key 'fallback'; known: default, route, family"),
        ("\n[default]", "\ndefault", "no TOML"),
    ])
    def test_a_table_that_cannot_be_used_is_refused_with_the_reason(self, old, new, said):
        assert old in SHIPPED
        with pytest.raises(TableError, match=said):
            parse_models(SHIPPED.replace(old, new, 1))
