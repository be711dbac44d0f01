"""A page ends with its rows, or with the patch that the provider bills anyway, and reaches the model untouched."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glyphraster as gr
from glyphraster import billing, tables
from glyphraster.errors import ArgumentError
from glyphraster.layout import LAYOUTS
from glyphraster.profiles import page_profile, parse_profiles

TABLE = parse_profiles(tables.shipped_text())
VECTORS = json.loads((Path(__file__).parents[1] / "cases" / "profiles" / "vectors.json").read_text(encoding="utf-8"))
RARER = [
    "gpt-5-nano", "gpt-5.2", "gpt-4.1-nano", "gpt-4o-mini", "o3", "o4-mini", "computer-use-preview", "pixtral-12b",
    "gemma-3-27b", "gemma-4-31b", "deepseek-ocr", "deepseek-ocr-2", "llama-3.2-11b-vision", "glm-4.5v", "nova-pro",
    "muse-glimmer-30b", "some-model",
]
MODELS = {page_profile(model).key: model for model in (*RARER, *(model for model, key in VECTORS["ids"] if key))}
TEXTS = st.lists(st.sampled_from(["word ", "\n", "    ", "é", "☃", "x" * 60, "\tif y:\n", "line\n" * 30]), max_size=40)

every_profile = pytest.mark.parametrize("profile", [*map(page_profile, MODELS.values())], ids=MODELS)


def test_there_is_a_model_for_every_profile():
    assert set(MODELS) == {row.profile.key for row in TABLE.rows} | {TABLE.default.key}


class TestHeight:
    @every_profile
    @given(st.data())
    def test_it_holds_the_rows_in_whole_patches_or_is_that_of_the_page(self, profile, data):
        rows_px = data.draw(st.integers(1, profile.page_height_px))
        height_px = profile.cropped_height_px(rows_px)
        assert rows_px <= height_px <= profile.page_height_px
        assert height_px % billing.patch_px(profile.billing) == 0 or height_px == profile.page_height_px

    @every_profile
    @given(st.data())
    def test_the_provider_leaves_it_alone(self, profile, data):
        height_px = profile.cropped_height_px(data.draw(st.integers(1, profile.page_height_px)))
        size = height_px, profile.page_width_px
        assert profile.resized(height_px=size[0], width_px=size[1]) == size

    @every_profile
    @given(st.data())
    def test_it_costs_what_the_rows_cost_unless_no_lower_page_stays_untouched(self, profile, data):
        rows_px = data.draw(st.integers(1, profile.page_height_px))
        height_px, width_px = profile.cropped_height_px(rows_px), profile.page_width_px
        lower = range(rows_px, height_px - billing.patch_px(profile.billing) + 1)
        if profile.crop == "rows":
            assert all(profile.resized(height_px=h, width_px=width_px) != (h, width_px) for h in lower)
        if not lower:
            rows = rows_px, width_px
            assert profile.tokens(height_px=height_px, width_px=width_px) == billing.bill(profile.billing, rows, rows)

    @pytest.mark.parametrize(("model", "rows_px", "height_px"), [
        ("claude-fable-5", 8, 28), ("claude-fable-5", 28, 28), ("claude-fable-5", 1897, 1904), ("gpt-5.4", 40, 64),
        ("gpt-4o", 40, 40), ("gemini-3-pro", 8, 1584), ("qwen3.7-plus", 40, 64), ("deepseek-flash", 40, 252),
    ])
    def test_it_follows_the_patch_the_tile_or_the_grid(self, model, rows_px, height_px):
        assert page_profile(model).cropped_height_px(rows_px) == height_px

    @pytest.mark.parametrize("rows_px", [0, -8, 1905, 8.5])
    def test_rows_that_no_page_has_are_refused_with_their_height(self, rows_px):
        with pytest.raises(ArgumentError, match=f"rows_px must be an integer from 1 to 1904, got {rows_px}"):
            page_profile("claude-fable-5").cropped_height_px(rows_px)


class TestPages:
    @pytest.mark.parametrize("model", [*MODELS.values()], ids=MODELS)
    @settings(max_examples=8)
    @given(text=TEXTS.map("".join), layout=st.sampled_from(LAYOUTS))
    def test_they_are_of_that_height_and_read_back(self, model, text, layout):
        profile, pages = page_profile(model), gr.render(text, model, layout=layout)
        for page in pages:
            rows_px = page.plan.glyphs.shape[0] * page.geometry.cell_height_px
            size = profile.cropped_height_px(rows_px), profile.page_width_px
            assert page.pixels.shape == size
            assert profile.resized(height_px=size[0], width_px=size[1]) == size
        assert gr.read([page.png() for page in pages]) == text

    def test_below_the_last_row_is_paper(self):
        (page,) = gr.render("####", "claude-fable-5")
        assert page.pixels.shape == (28, 1960)
        assert (page.pixels[8:] == 255).all()
