"""The rows of ``profiles.toml``: which id gets which, what it bills, and that pages pass their providers untouched."""

import json
import math
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphraster import tables
from glyphraster.errors import ArgumentError, ProfileError
from glyphraster.profiles import page_profile, parse_profiles

VECTORS = json.loads((Path(__file__).parents[1] / "cases" / "profiles" / "vectors.json").read_text(encoding="utf-8"))
TABLE = parse_profiles(tables.shipped_text())
PROFILES = {row.profile.key: row.profile for row in TABLE.rows} | {"unknown": TABLE.default}
ROUTES = sorted(set(TABLE.route_names.values()))
SIDES = st.integers(1, 9000)

every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


class TestBilling:
    @pytest.mark.parametrize("vector", VECTORS["tokens"],
        ids=lambda v: f"{v['profile']}-{v['width_px']}x{v['height_px']}")
    def test_an_image_is_billed_and_resized_as_published(self, vector):
        profile = PROFILES[vector["profile"]]
        size = {"height_px": vector["height_px"], "width_px": vector["width_px"]}
        constant = 0 if vector["constant_included"] else dict(profile.billing.options).get("constant_tokens", 0)
        assert profile.tokens(**size) == vector["tokens"] + constant
        if vector["resized_px"]:
            assert profile.resized(**size) == tuple(vector["resized_px"])

    @pytest.mark.parametrize(("key", "height_px", "width_px", "tokens"), VECTORS["pages"])
    def test_a_page_is_billed_as_the_reference_computes_it(self, key, height_px, width_px, tokens):
        assert PROFILES[key].tokens(height_px=height_px, width_px=width_px) == tokens

    @pytest.mark.parametrize(("key", "size", "tokens"), [
        ("unknown", (756, 1540), 27 * 55), ("meta-muse-hosted", (1456, 840), 52 * 30),
        ("llama-4", (672, 672), 144 * 4 + 145),
        ("llama-3.2-vision", (1120, 1120), 1601 * 4), ("deepseek-ocr", (512, 512), 64),
        ("deepseek-ocr", (600, 700), 256),
        ("deepseek-ocr", (1400, 1280), 256 + 100 * 6), ("deepseek-ocr-2", (768, 768), 257),
        ("deepseek-ocr-2", (800, 700), 256 + 288 + 1),
        ("deepseek-ocr-2", (4000, 4000), 256 + 864 + 1), ("nova-1", (900, 900), 1300), ("nova-1", (900, 450), 800),
        ("nova-1", (1035, 1000), 1550), ("nova-1", (450, 450), 400), ("nova-2", (20, 4000), 230),
        ("gemini-2", (384, 384), 258),
    ])
    def test_the_rarer_formulas_give_their_published_figures(self, key, size, tokens):
        assert PROFILES[key].tokens(height_px=size[0], width_px=size[1]) == tokens

    @every_profile
    def test_an_image_of_one_pixel_is_billed(self, profile):
        assert profile.tokens(height_px=1, width_px=1) >= 1

    @pytest.mark.parametrize(("size", "said"),
        [({"height_px": 0, "width_px": 5}, "height_px.*0"), ({"height_px": 5, "width_px": -3}, "width_px.*-3"),
                                                ({"height_px": 5, "width_px": 2.5}, "width_px.*2.5")])
    def test_a_size_that_is_no_positive_integer_is_refused_with_its_number(self, size, said):
        with pytest.raises(ArgumentError, match=said):
            page_profile("claude-opus-5").tokens(**size)


class TestPages:
    @every_profile
    def test_the_page_reaches_the_model_untouched(self, profile):
        size = profile.page_height_px, profile.page_width_px
        assert profile.resized(height_px=size[0], width_px=size[1]) == size

    @every_profile
    def test_the_page_obeys_every_limit_on_sides_and_patches(self, profile):
        longest_px = max(profile.page_height_px, profile.page_width_px)
        assert longest_px <= (profile.max_side_px or longest_px)
        assert longest_px <= (profile.many_images_side_px or longest_px)
        patches = math.ceil(profile.page_height_px / 32) * math.ceil(profile.page_width_px / 32)
        assert patches <= (profile.max_patches or patches)

    def test_the_page_of_an_unknown_model_is_small_and_there_are_few(self):
        profile = page_profile("some-model")
        assert (profile.page_height_px <= 784, profile.page_width_px <= 1568, profile.max_images) == (True, True, 4)
        for other in ("anthropic-standard", "openai-tile-gpt-4o", "anthropic-high", "mistral-28px"):
            size = {"height_px": profile.page_height_px, "width_px": profile.page_width_px}
            assert PROFILES[other].resized(**size) == tuple(size.values())


class TestResizeLaws:
    @given(height_px=SIDES, width_px=SIDES)
    @pytest.mark.parametrize("key",
        [key for key, profile in PROFILES.items() if profile.resizing.name in ("fit_cells", "fit_patch_budget")])
    def test_a_shrunk_image_obeys_its_budget_and_is_not_shrunk_again(self, key, height_px, width_px):
        profile, limits = PROFILES[key], dict(PROFILES[key].resizing.options)
        height, width = profile.resized(height_px=height_px, width_px=width_px)
        assert math.ceil(height / limits["cell_px"]) * math.ceil(width / limits["cell_px"]) <= limits["max_cells"]
        assert max(height, width) <= limits["edge_px"]
        assert height <= height_px
        assert width <= width_px
        assert profile.resized(height_px=height, width_px=width) == (height, width)

    @given(height_px=SIDES, width_px=SIDES)
    @pytest.mark.parametrize("key", ["anthropic-high", "anthropic-standard"])
    def test_claude_gets_the_largest_image_of_the_same_aspect_that_fits(self, key, height_px, width_px):
        profile, limits = PROFILES[key], dict(PROFILES[key].resizing.options)
        got = profile.resized(height_px=height_px, width_px=width_px)
        long_px, short_px = max(height_px, width_px), min(height_px, width_px)
        larger = max(got) + 1, max(1, round((max(got) + 1) * short_px / long_px))
        cells = math.ceil(larger[0] / 28) * math.ceil(larger[1] / 28)
        assert got == (height_px, width_px) or cells > limits["max_cells"] or larger[0] > limits["edge_px"]

    @given(height_px=SIDES, width_px=SIDES)
    @pytest.mark.parametrize("key",
        ["qwen-32px", "qwen-28px", "glm-4.6v", "minimax-m3", "mistral-28px", "pixtral", "gemma-4"])
    def test_processors_that_resample_give_whole_cells(self, key, height_px, width_px):
        cell_px = dict(PROFILES[key].resizing.options)["cell_px"]
        assert [side % cell_px for side in PROFILES[key].resized(height_px=height_px, width_px=width_px)] == [0, 0]

    @given(height_px=SIDES, width_px=SIDES)
    @pytest.mark.parametrize("key",
        [key for key in PROFILES if key != "deepseek-flash"])  # whose budget counts row breaks
    def test_turning_an_image_turns_what_the_model_gets(self, key, height_px, width_px):
        got = PROFILES[key].resized(height_px=height_px, width_px=width_px)
        assert PROFILES[key].resized(height_px=width_px, width_px=height_px) == got[::-1]

    @given(height_px=st.integers(1, 1900), width_px=st.integers(1, 1900), more_px=st.integers(0, 99))
    @pytest.mark.parametrize("key", ["anthropic-high", "openai-original-30k", "xai-grok", "kimi-k3", "gemini-2"])
    def test_a_taller_image_never_costs_less(self, key, height_px, width_px, more_px):
        profile = PROFILES[key]
        if key == "gemini-2":
            width_px, height_px = max(width_px, 1152), max(height_px, 1152)  # where the crop unit no longer grows
        taller = profile.tokens(height_px=height_px + more_px, width_px=width_px)
        assert taller >= profile.tokens(height_px=height_px, width_px=width_px)


class TestIds:
    @pytest.mark.parametrize(("model", "key"), VECTORS["ids"])
    def test_an_id_finds_its_profile(self, model, key):
        profile = page_profile(model)
        assert (profile.key, profile.vision,
            profile.match) == ((key, True, "known") if key else ("unknown", False, "default"))

    @pytest.mark.parametrize(("model", "key"), [
        ("claude-opus-6", "anthropic-high"), ("claude-fable-5-3", "anthropic-high"),
        ("anthropic/claude-sonnet-5.6:batch", "anthropic-high"),
        ("gpt-6.2-sol", "openai-original-30k"), ("gpt-6.3-astra", "openai-gpt6-astra"),
        ("gpt-5.3-codex", "openai-gpt-5.2"),
        ("gemini-3.9-flash", "gemini-3-4"), ("gemini-4-krypton", "gemini-3-4"), ("x-ai/grok-5", "xai-grok"),
        ("qwen3.9-max", "qwen-32px"),
        ("deepseek-v4.2-flash", "deepseek-flash"), ("kimi-k2.8", "kimi-k2.5+"), ("muse-spark-1.4", "meta-muse-hosted"),
    ])
    def test_a_later_version_of_a_known_family_is_assumed_to_bill_like_it(self, model, key):
        profile = page_profile(model)
        assert (profile.key, profile.match, profile.vision) == (key, "assumed", True)

    @pytest.mark.parametrize("model",
        ["claude-opus-5-20260601", "us.anthropic.claude-fable-5-1-v1:0", "claude-haiku-5-5@default",
                                       "gpt-6-sol-2026-10-01", "grok-4-0709",
                                       "fireworks_ai/accounts/fireworks/models/kimi-k2p6"])
    def test_a_date_or_a_gateway_mark_makes_no_other_version(self, model):
        assert page_profile(model).match == "known"

    @pytest.mark.parametrize("model", ["", "  ", None, 5])
    def test_an_id_that_says_nothing_is_refused(self, model):
        with pytest.raises(ArgumentError, match=r"non-empty string.*got"):
            page_profile(model)

    def test_a_row_carries_its_source_its_date_and_its_confidence(self):
        for profile in PROFILES.values():
            assert profile.source
            assert profile.confidence.startswith(("high", "medium", "low"))
            assert profile.as_of >= "2025-10-01"

    def test_1_bit_pages_go_only_where_their_use_is_on_record(self):
        assert {profile.provider for profile in PROFILES.values() if profile.png_mode == "gray1"} == {"anthropic",
            "openai", "google"}
        assert PROFILES["gemma-4"].png_mode == "gray8"

    def test_a_profile_is_a_value_that_pickles_and_hashes(self):
        profile = page_profile("claude-opus-5-5")
        assert pickle.loads(pickle.dumps(profile)) == profile
        assert hash(profile) == hash(page_profile("claude-opus-5-5"))


class TestRoutes:
    @pytest.mark.parametrize(("model", "route", "images", "image_bytes"), [
        ("gpt-6-astra", None, 1500, None), ("gpt-6-astra", "azure", 50, None),
        ("gpt-6-astra", "openrouter", 50, 5_242_880),
        ("claude-opus-5-5", None, 600, 10_485_760), ("claude-opus-5-5", "anthropic", 600, 10_485_760),
        ("claude-haiku-4-5", None, 100, 10_485_760),
        ("claude-opus-5-5", "bedrock", 600, 5_242_880), ("claude-opus-5-5", "vertex_ai", 600, 5_242_880),
        ("claude-opus-5-5", "openrouter", 600, 5_242_880),
        ("claude-opus-5-5", "github-copilot", 5, 3_145_728), ("gemini-3.8-flash", "vertex", 3000, 7_340_032),
        ("some-model", "github-copilot", 4, 3_145_728),
    ])
    def test_a_route_tightens_the_limits(self, model, route, images, image_bytes):
        profile = page_profile(model, route=route)
        assert (profile.max_images, profile.max_image_bytes) == (images, image_bytes)

    @pytest.mark.parametrize("route", ROUTES)
    @every_profile
    def test_no_route_loosens_a_limit_or_outgrows_its_page_or_has_it_resampled(self, profile, route):
        row = next((row for row in TABLE.routes if row.name == route), None)
        carried = row.tightened(profile) if row else profile
        for name in ("max_images", "max_image_bytes", "max_request_bytes", "max_side_px"):
            assert (getattr(carried, name) or 0) <= (getattr(profile, name) or math.inf)
        assert max(carried.page_height_px, carried.page_width_px) <= (carried.max_side_px or math.inf)
        size = carried.page_height_px, carried.page_width_px
        assert carried.resized(height_px=size[0], width_px=size[1]) == size

    @pytest.mark.parametrize(("model", "route", "guarded"), [
        ("claude-opus-5-5", None, True), ("claude-haiku-4-5", "anthropic", True),
        ("claude-opus-5-5", "bedrock", False), ("claude-opus-5-5", "openrouter", False),
        ("us.anthropic.claude-opus-5-5", None, False), ("vertex_ai/claude-haiku-5-5@default", None, False),
        ("gpt-6-astra", None, False),
    ])
    def test_only_claudes_own_api_is_asked_to_refuse_oversized_images(self, model, route, guarded):
        assert page_profile(model,
            route=route).guard == ({"transformations": {"oversized_image": "error"}} if guarded else None)

    def test_changing_a_guard_does_not_change_the_profile(self):
        page_profile("claude-opus-5").guard["transformations"] = "gone"
        assert page_profile("claude-opus-5").guard == {"transformations": {"oversized_image": "error"}}

    @pytest.mark.parametrize(("model", "route"),
        [("azure/gpt-6.1-sol", "azure"), ("openrouter/anthropic/claude-opus-4.8:batch", "openrouter"),
                                                  ("global.anthropic.claude-fable-5-1", "bedrock"),
                                                  ("github_copilot/claude-haiku-4.5", "github-copilot"),
                                                  ("claude-opus-5-5", None), ("anthropic/claude-opus-5.5", None)])
    def test_an_id_that_names_its_gateway_needs_no_route(self, model, route):
        assert page_profile(model).route == route

    def test_a_given_route_outranks_the_one_in_the_id(self):
        assert page_profile("azure/gpt-6.1-sol", route="openai").max_images == 1500

    def test_open_weights_see_images_only_at_their_maker(self):
        seen = [page_profile("deepseek-v4-flash", route=route).vision for route in (None, "deepseek", "openrouter")]
        assert seen == [True, True, False]
        assert page_profile("deepseek-v4.1-flash", route="openrouter").vision

    def test_an_unknown_route_is_refused_and_the_known_ones_are_named(self):
        with pytest.raises(ArgumentError, match=r"'acme-gateway'.*anthropic.*azure.*openrouter"):
            page_profile("claude-opus-5", route="acme-gateway")


class TestLoader:
    @pytest.mark.parametrize(("old", "new", "said"), [
        ('page = [1904, 1960]', 'page = [1904, 1960]\ncolour = 3',
            "anthropic-high: unknown key 'colour'; known: key, provider, billing"),
        ('cell_px = 28, constant_tokens = 3 }', 'cell_px = 28, constnt = 3 }',
            "unknown key 'constnt'; known: cell_px, multiplier_percent, constant_tokens"),
        ('rule = "patches", cell_px = 28, constant_tokens = 3', 'rule = "squares", cell_px = 28',
            "unknown rule 'squares'; known: patches"),
        ('rule = "patches", cell_px = 28, constant_tokens = 3', 'rule = "patches"', "'patches': missing cell_px"),
        ('cell_px = 28, constant_tokens = 3 }', 'cell_px = -28 }', "cell_px must be a positive integer, got -28"),
        ('page = [1904, 1960]', 'page = [0, 1960]', "page_height_px must be a positive integer, got 0"),
        ('png_mode = "gray1"', 'png_mode = "rgb"', "png_mode must be one of gray1, gray8, got 'rgb'"),
        ('as_of = "2026-09-29"', 'as_of = "autumn"', "as_of must be a date such as '2026-11-30', got 'autumn'"),
        ('provider = "xai"', 'provider = "x"', "unknown provider 'x'; known: anthropic, openai"),
        ('confidence = "high"\n', '', "anthropic-high: missing confidence"),
        ('limits.openai = { max_images = 50 }', 'limits.openai = { pages = 50 }',
            "route azure, limits.openai: unknown key 'pages'"),
        ('limits.openai = { max_images = 50 }', 'limits.acme = { max_images = 50 }',
            "route azure, limits: unknown key 'acme'"),
        ("'dall-e'", "'dall-(e'", "'dall-\\(e' is no regular expression"),
        ('\n[default]', '\n[fallback]', "unknown key 'fallback'; known: not_chat"),
        ('\n[default]', '\ndefault', "no TOML"),
    ])
    def test_a_table_that_cannot_be_used_is_refused_with_the_reason(self, old, new, said):
        text = tables.shipped_text()
        assert old in text
        with pytest.raises(ProfileError, match=said):
            parse_profiles(text.replace(old, new, 1))

    def test_a_row_without_patterns_is_refused(self):
        text = tables.shipped_text().replace("match = ['(?<![a-z0-9])gemma-4']\n", "")
        with pytest.raises(ProfileError, match="gemma-4: missing match"):
            parse_profiles(text)


@pytest.fixture
def reference(shared):
    return json.loads((shared / "reference" / "providers.json").read_text(encoding="utf-8"))


class TestReference:
    def test_every_pattern_of_the_reference_is_ours_in_the_same_order(self, reference):
        top = tables.parse_toml(tables.shipped_text())
        assert [(p["key"], p["match"]) for p in reference["profiles"]] == [(p["key"],
            p["match"]) for p in top["profile"]]
        assert (reference["not_chat"], reference["text_only"]) == (top["not_chat"], top["text_only"])

    def test_the_copied_vectors_are_those_of_the_reference(self, reference):
        vectors = reference["test_vectors"]
        assert [(v["profile"], v["h"], v["w"], v["tokens"]) for v in vectors["tokens"]] == [
            (v["profile"], v["height_px"], v["width_px"], v["tokens"]) for v in VECTORS["tokens"]]
        assert [model for model, _ in vectors["ids"]] == [model for model, _ in VECTORS["ids"]]

    def test_the_first_page_of_the_reference_is_our_page(self, reference):
        for row in reference["profiles"]:
            if row["pages"]:
                page, ours = row["pages"][0], PROFILES[row["key"]]
                assert (ours.page_height_px, ours.page_width_px) == (page["h"], page["w"])
