"""Which cell a model gets, and what is said about it."""

import pytest

from glyphraster.errors import ArgumentError, ProfileError
from glyphraster.font import load_font
from glyphraster.legibility import parse_cells, parse_evidence, reading_cell, shipped_cells, shipped_evidence
from glyphraster.profiles import page_profile
from glyphraster.raster import render

ROW = {
    "line": "Acme 1", "models": ["acme-1"], "source": "Acme", "as_of": "2026-11-01",
    "results": [{"cell": "5x8", "content": "gist", "score": "9/10", "need": "gist"}],
}


class TestCell:
    @pytest.mark.parametrize(("model", "need", "scale"), [
        ("claude-fable-5", "gist", 1), ("claude-fable-5", "exact", 1), ("claude-opus-5", "gist", 1),
        ("claude-opus-5", "exact", 2),
        ("gemini-3.6-flash", "gist", 1), ("gemini-3.6-flash", "exact", 1), ("claude-opus-4-8", "gist", 2),
        ("gpt-5.5", "gist", 2),
        ("gpt-5.6-sol", "gist", 2), ("x-ai/grok-4.5", "gist", 2), ("kimi-k3", "gist", 2), ("some-model", "gist", 2),
    ])
    def test_the_dense_cell_goes_only_to_models_shown_to_read_it(self, model, need, scale):
        choice = reading_cell(model, need)
        assert (choice.font, choice.scale, choice.cell_height_px, choice.cell_width_px) == ("glyph5x8", scale,
            8 * scale, 5 * scale)
        assert (choice.pitch_y_px, choice.pitch_x_px) == (8, 5)

    @pytest.mark.parametrize("model", [
        "claude-fable-5", "Claude-Fable-5", "claude-fable-5-20260601", "us.anthropic.claude-fable-5-20260601-v1:0",
        "anthropic.claude-fable-5-v1:0",
        "openrouter/anthropic/claude-fable-5:batch", "vertex_ai/claude-fable-5@default",
        "databricks/databricks-claude-fable-5",
        "anthropic/claude-fable-5-fast", "claude-fable-5[1m]",
    ])
    def test_a_date_or_a_gateway_does_not_change_the_weights(self, model):
        assert reading_cell(model).scale == 1

    @pytest.mark.parametrize("model", [
        "claude-fable-5-1", "claude-fable-5.1", "claude-fable-5p1", "claude-fable-5-2-20261001", "claude-fable-50",
        "claude-opus-5-5", "claude-opus-5.5:batch",
        "gemini-3.6-flash-lite", "gemini-3.7-flash", "claude-fable-5-mini", "my-claude-fable-5x",
    ])
    def test_another_version_has_no_evidence(self, model):
        choice = reading_cell(model)
        assert choice.scale == 2
        assert "was not measured" in choice.statement

    @pytest.mark.parametrize("need", ["", "both", None])
    def test_an_unknown_need_is_refused_and_the_known_ones_are_named(self, need):
        with pytest.raises(ArgumentError, match=f"need must be one of gist, exact, got {need!r}"):
            reading_cell("claude-opus-5", need)

    @pytest.mark.parametrize("model", ["", None])
    def test_an_id_that_says_nothing_is_refused(self, model):
        with pytest.raises(ArgumentError, match="non-empty string"):
            reading_cell(model)


CELL = {"font": "glyph8x13", "scale": 1, "pitch": [22, 8], "source": "Acme", "as_of": "2026-11-01"}


class TestTable:
    @pytest.fixture
    def airy(self, monkeypatch):
        cells = parse_cells([CELL, {**CELL, "font": "glyph6x10", "pitch": [10, 6]}])
        monkeypatch.setattr("glyphraster.legibility.shipped_cells", lambda: cells)

    def test_a_pitch_with_a_measurement_is_what_the_measured_model_gets(self, airy):
        choice = reading_cell("kimi-k3")
        assert (choice.font, choice.pitch_y_px, choice.pitch_x_px, choice.size) == ("glyph8x13", 22, 8, "8x22")
        assert choice.statement.startswith("Kimi K3 in cells of 8x22 px still holds tool output, F1 (.915)")

    def test_a_model_without_that_measurement_gets_the_last_cell(self, airy):
        assert reading_cell("some-model").size == reading_cell("kimi-k3", "exact").size == "6x10"

    def test_pages_are_set_at_that_pitch_where_the_font_is_the_measured_one(self, airy):
        pitches = [
            (page.geometry.pitch_y_px, page.geometry.pitch_x_px)
            for fonts in (None, "glyph5x8") for page in render("x", "kimi-k3", fonts=fonts)
        ]
        assert pitches == [(22, 8), (8, 5)]

    @pytest.mark.parametrize("cell", shipped_cells(), ids=lambda cell: cell.size)
    def test_a_shipped_cell_holds_the_glyphs_of_its_font(self, cell):
        font = load_font(cell.font)
        assert (cell.pitch_y_px >= font.cell_height_px, cell.pitch_x_px >= font.cell_width_px) == (True, True)

    @pytest.mark.parametrize(("rows", "said"), [
        ([], r"no \[\[cell\]\] row"),
        ([CELL, {**CELL, "colour": 3}], "cell row 2: unknown key 'colour'; known: font, scale, pitch"),
        ([{key: CELL[key] for key in ("font", "scale", "pitch", "as_of")}], "cell row 1: missing source"),
        ([{**CELL, "pitch": 22}], "cell row 1: pitch must be two integers, rows first, got 22"),
        ([{**CELL, "pitch": [22, 8, 1]}], r"pitch must be two integers, rows first, got \[22, 8, 1\]"),
        ([{**CELL, "pitch": [22, 0]}], "cell of glyph8x13: pitch_x_px must be a positive integer, got 0"),
        ([{**CELL, "scale": 1.5}], "cell of glyph8x13: scale must be a positive integer, got 1.5"),
    ])
    def test_a_row_that_cannot_be_used_is_refused_with_the_reason(self, rows, said):
        with pytest.raises(ProfileError, match=said):
            parse_cells(rows)


class TestStatement:
    def test_it_says_what_is_no_longer_read_with_figures_and_source(self):
        said = reading_cell("claude-opus-5").statement
        assert said.startswith("Claude Opus 5 in cells of 5x8 px no longer reads 12-character hex in dense JSON")
        assert "(3/26, 10 silently wrong); still holds novel arithmetic (100/100), gist (94/98)" in said
        assert said.endswith("[pxpipe, FINDINGS.md, 2026-08-20].")

    def test_a_score_short_of_full_is_called_a_miscopy(self):
        said = reading_cell("claude-fable-5").statement
        assert "now and then miscopies 12-character hex in dense JSON (13/15)" in said

    def test_a_full_score_is_called_a_copy(self):
        said = reading_cell("claude-opus-5", "exact").statement
        assert "9x16 px copies mixed exact values in a 14 px face (100/100)" in said

    def test_an_unmeasured_model_is_told_the_nearest_measurement(self):
        said = reading_cell("some-model").statement
        assert said.startswith("some-model in cells of 10x16 px was not measured")
        assert "nearest measurement: Claude Opus 4.8 in cells of 10x16 px now and then miscopies identifiers" in said

    def test_a_measured_line_is_told_its_own_nearest_cell(self):
        assert "nearest measurement: GPT-5.6 Sol in cells of 9x16 px" in reading_cell("gpt-5.6-sol").statement

    @pytest.mark.parametrize("model", ["some-model", *sorted({row.models[0] for row in shipped_evidence()})])
    @pytest.mark.parametrize("need", ["gist", "exact"])
    def test_it_is_one_line_about_evidence_of_one_cell(self, model, need):
        choice = reading_cell(model, need)
        assert "\n" not in choice.statement
        assert len({(row.line, row.cell) for row in choice.evidence}) == 1
        assert all(row.score in choice.statement for row in choice.evidence)


class TestEvidence:
    @pytest.mark.parametrize("row", shipped_evidence(), ids=lambda row: f"{row.line}-{row.cell}-{row.content}")
    def test_a_result_supports_a_need_from_85_in_100(self, row):
        reached, _, trials = row.score.partition(",")[0].partition("/")
        share = float(reached) / float(trials or 1)
        assert (share >= 0.85) == (row.need != "none")

    @pytest.mark.parametrize("row", shipped_evidence(), ids=lambda row: f"{row.line}-{row.cell}-{row.content}")
    def test_exact_evidence_is_about_copied_strings(self, row):
        copied = any(word in row.content for word in ("exact", "hex", "identifiers"))
        assert row.need in ({"exact", "none"} if copied else {"gist", "none"})

    def test_exact_includes_gist_and_not_the_other_way(self):
        exact = parse_evidence([{**ROW, "results": [{**ROW["results"][0], "need": "exact"}]}])[0]
        gist = parse_evidence([ROW])[0]
        assert (exact.supports("gist"), exact.supports("exact")) == (True, True)
        assert (gist.supports("gist"), gist.supports("exact")) == (True, False)

    @pytest.mark.parametrize(("row", "said"), [
        ({**ROW, "colour": 3},
            "evidence row 1 \\(Acme 1\\): unknown key 'colour'; known: line, models, results, source, as_of"),
        ({key: ROW[key] for key in ROW if key != "source"}, "missing source"),
        ({**ROW, "results": [{**ROW["results"][0], "cell": "5*8"}]}, "cell must be WIDTHxHEIGHT.*'5\\*8'"),
        ({**ROW, "results": [{**ROW["results"][0], "need": "some"}]},
            "need must be one of exact, gist, none, got 'some'"),
        ({**ROW, "results": [{"cell": "5x8"}]}, "missing content, score, need"),
    ])
    def test_a_row_that_cannot_be_used_is_refused_with_the_reason(self, row, said):
        with pytest.raises(ProfileError, match=said):
            parse_evidence([row])

    def test_every_measured_id_has_a_profile(self):
        measured = {row.models[0] for row in shipped_evidence()}
        assert {page_profile(model).match for model in measured} == {"known"}
