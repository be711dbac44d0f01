"""``glyphraster render``, ``read`` and ``font``, as a user runs them."""

import itertools
import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from wide_font import tall_font

import glyphraster as gr
from glyphraster import cli
from glyphraster.png import decode_png

FABLE = ("--model", "claude-fable-5")
SOURCE = Path(__file__).parents[2] / "fonts" / "glyph5x8.glyphs"
EVERY_BYTE = bytes(range(256)) + bytes(reversed(range(256))) + b"\r\n\r\t\0  \n" + "ș€𝄞".encode()[:-1]


class Ran:
    """What a command left behind: exit code, standard output and error."""

    def __init__(self, code, out, err):
        self.code, self.raw, self.out, self.err = code, out, out.decode(errors="replace"), err.decode()


@pytest.fixture
def glyphraster(capfdbinary, monkeypatch, tmp_path):
    """The command line, run in this process from an empty directory."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["glyphraster", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return Ran(ended.value.code or 0, *capfdbinary.readouterr())

    return run


def pages():
    return sorted(Path("pages").iterdir())


def a_megabyte_of_source():
    """Source files of the standard library, one after the other, up to a million bytes and more."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    sizes = itertools.accumulate(file.stat().st_size for file in files)
    count = next(number for number, size in enumerate(sizes, 1) if size >= 1_000_000)
    return b"".join(file.read_bytes() for file in files[:count])


class TestRenderAndRead:
    @pytest.mark.parametrize("content", [
        b"one line", "Zażółć gęślą jaźń, ½ → ☃ 漢字\n\tș ț\n".encode(), b"\r\n" * 3, b" " * 1000, EVERY_BYTE, b"\xff",
    ], ids=["line", "unicode", "newlines", "spaces", "every byte", "one bad byte"])
    def test_the_pages_of_a_file_read_back_to_its_very_bytes(self, content, glyphraster):
        Path("file").write_bytes(content)
        glyphraster("render", "file", *FABLE, "--out", "pages")
        assert glyphraster("read", *pages()).raw == content

    def test_a_megabyte_of_source_reads_back_to_its_very_bytes(self, glyphraster):
        content = a_megabyte_of_source()
        assert len(content) >= 1_000_000
        Path("source.py").write_bytes(content)
        glyphraster("render", "source.py", *FABLE, "--out", "pages")
        glyphraster("read", *pages(), "--out", "back.py")
        assert Path("back.py").read_bytes() == content

    def test_pages_may_be_given_in_any_order(self, glyphraster):
        Path("file").write_bytes(SOURCE.read_bytes())
        glyphraster("render", "file", "--model", "gpt-4o", "--out", "pages")
        assert len(pages()) > 2
        assert glyphraster("read", *reversed(pages())).raw == SOURCE.read_bytes()

    def test_pages_that_do_not_start_at_the_beginning_are_read_when_that_is_asked_for(self, glyphraster):
        glyphraster("render", SOURCE, "--model", "gpt-4o", "--out", "pages")
        rest = glyphraster("read", "--partial", *pages()[1:]).raw
        assert rest
        assert SOURCE.read_bytes().endswith(rest)

    def test_a_text_that_no_file_holds_is_still_written(self, glyphraster):
        Path("lone.png").write_bytes(gr.render("a \ud83d b", "claude-fable-5")[0].png())
        assert glyphraster("read", "lone.png").raw == "a \ud83d b".encode("utf-8", "surrogatepass")


class TestRender:
    def test_it_says_characters_pages_tokens_and_profile(self, glyphraster):
        Path("file").write_text("ș" * 5000, encoding="utf-8")
        ran = glyphraster("render", "file", *FABLE, "--out", "pages")
        assert (ran.code, ran.err) == (0, "")
        assert re.search(
            r"5,000 characters on 1 page\(s\) in pages: [1-9][\d,]* image tokens for claude-fable-5 "
            r"\(profile anthropic-high, known\)",
            ran.out,
        )

    def test_one_line_says_what_the_model_reads_at_this_cell_and_on_what_evidence(self, glyphraster):
        Path("file").write_text("text", encoding="utf-8")
        line = glyphraster("render", "file", *FABLE, "--out", "pages").out.splitlines()[1]
        assert re.search(r"^Claude Fable 5 in cells of 5x8 px .*\[.+, \d{4}-\d\d-\d\d\]", line)

    def test_json_is_one_document_with_the_numbers_of_the_pages_written(self, glyphraster):
        said = json.loads(glyphraster("render", SOURCE, "--model", "gpt-4o", "--out", "pages", "--json").out)
        profile = gr.page_profile("gpt-4o")
        shapes = [decode_png(page.read_bytes())[0].shape for page in pages()]
        tokens = sum(profile.tokens(height_px=height, width_px=width) for height, width in shapes)
        characters = len(SOURCE.read_text(encoding="utf-8"))
        assert said == {
            "pages": len(shapes), "characters": characters, "tokens": tokens, "profile": profile.key,
            "match": "known", "out": "pages", "font": "glyph5x8", "escaped_characters": 0, "escape_cells": 0,
            "changed_characters": 0,
        }

    def test_a_file_of_which_a_view_leaves_nothing_is_refused_and_nothing_written(self, glyphraster):
        Path("file").write_text("\x1b[31m", encoding="utf-8")
        ran = glyphraster("render", "file", *FABLE, "--clean", "terminal", "--out", "pages")
        assert ran.code == 2
        assert "file is empty in the view that was asked for" in ran.err
        assert not Path("pages").exists()

    def test_it_says_how_much_a_view_changed(self, glyphraster):
        Path("file").write_text("\x1b[31mred\x1b[0m\n", encoding="utf-8")
        said = glyphraster("render", "file", *FABLE, "--clean", "terminal", "--out", "pages").out
        assert "the view changed 9 characters: read gives the view, not the file" in said
        again = json.loads(glyphraster("render", "file", *FABLE, "--clean", "terminal", "--out", "new", "--json").out)
        assert again["changed_characters"] == 9
        assert "view changed" not in glyphraster("render", "file", *FABLE, "--out", "exact").out

    def test_it_says_what_has_no_glyph_and_what_that_costs(self, glyphraster):
        Path("file").write_text("a漢b\U0001f680", encoding="utf-8")
        said = glyphraster("render", "file", *FABLE, "--out", "pages").out
        assert "2 characters have no glyph in glyph5x8 and take 14 cells as escapes; --font" in said
        Path("file").write_text("a", encoding="utf-8")
        assert "escapes" not in glyphraster("render", "file", *FABLE, "--out", "pages").out

    def test_fonts_are_taken_in_the_order_given_and_needed_to_read(self, glyphraster):
        tall_font(range(0x6F00, 0x6F30)).save("tall.npz")
        Path("file").write_text("plain\n漢 and\n" * 20, encoding="utf-8")
        fonts = ("--font", "glyph6x10", "--font", "tall.npz")
        said = json.loads(glyphraster("render", "file", *FABLE, *fonts, "--out", "pages", "--json").out)
        assert (said["font"], said["escaped_characters"]) == ("glyph6x10+tall", 0)
        assert glyphraster("read", *pages()).code == 2
        assert glyphraster("read", *pages(), "--font", "tall.npz").raw == Path("file").read_bytes()
        assert glyphraster("verify", "file", *pages(), "--font", "tall.npz").code == 0

    @pytest.mark.parametrize(("tier", "cell"), [("dense", (8, 5)), ("legible", (16, 10))])
    def test_the_tier_decides_the_cell(self, tier, cell, glyphraster):
        Path("file").write_text("x\n" * 5, encoding="utf-8")
        glyphraster("render", "file", *FABLE, "--tier", tier, "--out", "pages")
        geometry = decode_png(pages()[0].read_bytes())[1]["geometry"]
        scale = geometry["scale"]
        assert (geometry["pitch_y_px"] * scale, geometry["pitch_x_px"] * scale) == cell

    def test_a_forced_tier_is_said_to_be_forced(self, glyphraster):
        Path("file").write_text("x", encoding="utf-8")
        ran = glyphraster("render", "file", *FABLE, "--tier", "legible", "--out", "pages")
        assert "The cell was forced (legible)" in ran.out

    def test_scale_and_pitch_decide_the_cell_and_are_said_to_be_forced(self, glyphraster):
        Path("file").write_text("x\n" * 5, encoding="utf-8")
        ran = glyphraster("render", "file", *FABLE, "--scale", 2, "--pitch", "9x6", "--out", "pages")
        geometry = decode_png(pages()[0].read_bytes())[1]["geometry"]
        assert (geometry["scale"], geometry["pitch_y_px"], geometry["pitch_x_px"]) == (2, 9, 6)
        assert "The cell was forced (scale 2, pitch 9x6); evidence for claude-fable-5" in ran.out
        assert glyphraster("read", *pages()).raw == b"x\n" * 5

    @pytest.mark.parametrize(("arguments", "said"), [
        (["--pitch", "9,5"], "as 9x5, got '9,5'"), (["--pitch", "9"], "as 9x5, got '9'"),
        (["--pitch", "5x8"], "a pitch of 5x8 px is below the cell of font 'glyph5x8', 8x5 px: raise the pitch"),
        (["--scale", "0"], "scale must be an integer of at least 1, got 0"),
        (["--scale", "400"], "no cell of 3200x2000 px fits a page of 1904x1960 px"),
        (["--scale", "3", "--tier", "legible"], "tier 'legible' is scale 2, and scale 3 is given as well"),
    ])
    def test_a_cell_that_cannot_be_drawn_is_refused(self, arguments, said, glyphraster):
        Path("file").write_text("x", encoding="utf-8")
        ran = glyphraster("render", "file", *FABLE, "--out", "pages", *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err
        assert not Path("pages").exists()

    @pytest.mark.parametrize("engine", ["numpy", "numba"])
    def test_the_engine_does_not_change_the_pages(self, engine, glyphraster):
        Path("file").write_bytes(EVERY_BYTE)
        glyphraster("render", "file", *FABLE, "--out", "pages")
        before = [page.read_bytes() for page in pages()]
        glyphraster("render", "file", *FABLE, "--out", "pages", "--engine", engine)
        assert [page.read_bytes() for page in pages()] == before

    def test_fewer_pages_than_before_leave_no_stale_page(self, glyphraster):
        glyphraster("render", SOURCE, "--model", "gpt-4o", "--out", "pages")
        Path("short").write_text("short", encoding="utf-8")
        glyphraster("render", "short", "--model", "gpt-4o", "--out", "pages")
        assert [page.name for page in pages()] == ["page-001.png"]

    def test_an_empty_directory_and_missing_parents_are_filled(self, glyphraster):
        Path("empty").mkdir()
        for out in ("empty", "a/b/c"):
            glyphraster("render", SOURCE, *FABLE, "--out", out)
            assert Path(out, "page-001.png").is_file()

    def test_the_files_are_one_bit_even_where_requests_need_eight(self, glyphraster):
        Path("file").write_text("x", encoding="utf-8")
        glyphraster("render", "file", "--model", "grok-4.7", "--out", "pages")
        assert pages()[0].read_bytes()[24] == 1


class TestRenderSeveral:
    def test_each_file_gets_a_directory_of_its_own_and_a_line(self, glyphraster):
        Path("one").write_bytes(EVERY_BYTE)
        Path("two").write_bytes(b"x" * 1234)
        ran = glyphraster("render", "one", "two", *FABLE, "--out", "pages", "--workers", 2)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.splitlines()[1] == "two: 1,234 characters on 1 page(s) in pages/two"
        assert glyphraster("read", *sorted(Path("pages/one").iterdir())).raw == EVERY_BYTE

    def test_failures_are_named_and_the_others_are_drawn(self, glyphraster):
        Path("one").write_bytes(b"one")
        Path("two").write_bytes(b"two")
        ran = glyphraster("render", "one", "missing", "two", *FABLE, "--out", "pages")
        assert ran.code == 2
        assert [line.split(":")[0] for line in ran.out.splitlines()] == ["one", "two"]
        assert ran.err.startswith("glyphraster: missing: cannot read missing: No such file or directory")
        assert len(ran.err.splitlines()) == 1

    def test_json_is_one_document_with_a_row_for_each_file(self, glyphraster):
        Path("one").write_bytes(b"one")
        ran = glyphraster("render", "one", "missing", *FABLE, "--out", "pages", "--json")
        one, missing = json.loads(ran.out)
        assert one == {"file": "one", "out": "pages/one", "pages": 1, "characters": 3, "error": None}
        assert (ran.code, missing["file"], missing["pages"]) == (2, "missing", 0)
        assert "cannot read missing" in missing["error"]

    def test_an_option_that_suits_no_file_is_said_once(self, glyphraster):
        ran = glyphraster("render", "one", "two", *FABLE, "--out", "pages", "--tier", "huge")
        assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)

    @pytest.mark.parametrize("workers", [1, 3])
    def test_the_pages_of_one_file_do_not_depend_on_the_threads(self, workers, glyphraster):
        glyphraster("render", SOURCE, "--model", "gpt-4o", "--out", "pages", "--workers", workers)
        assert len(pages()) > 2
        assert glyphraster("read", *pages()).raw == SOURCE.read_bytes()


class TestFont:
    def test_build_packs_the_source_into_the_shipped_font(self, glyphraster):
        ran = glyphraster("font", "build", SOURCE, "--out", "font.npz")
        font = gr.load_font("font.npz")
        assert font.digest == gr.load_font("glyph5x8").digest
        assert f"glyph5x8: {len(font.codepoints)} glyphs of 8x5 px, digest {font.digest}, in font.npz" in ran.out

    def test_show_draws_every_glyph(self, glyphraster):
        glyphraster("font", "show", "glyph5x8", "--out", "specimen.png", "--scale", 1)
        pixels, _ = decode_png(Path("specimen.png").read_bytes())
        font = gr.load_font("glyph5x8")
        assert (pixels == 0).sum() == sum(int(byte).bit_count() for byte in font.bitmaps.reshape(-1))

    def test_show_scales_the_glyphs(self, glyphraster):
        inks = []
        for scale in (1, 3):
            glyphraster("font", "show", "glyph5x8", "--out", "specimen.png", "--scale", scale)
            inks.append(int((decode_png(Path("specimen.png").read_bytes())[0] == 0).sum()))
        assert inks[1] == 9 * inks[0]


def test_reading_into_a_pipe_that_closes_early_leaves_no_traceback(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("page.png").write_bytes(gr.render("x" * 90_000, "claude-fable-5")[0].png())
    command = [sys.executable, "-m", "glyphraster.cli", "read", "page.png"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reading:
        reading.stdout.close()
        assert b"Traceback" not in reading.stderr.read()


class TestVerify:
    def test_pages_that_hold_the_file_are_proved(self, glyphraster):
        Path("file").write_text("def f():\n    return 1\n", encoding="utf-8")
        around = ("--layout", "lines", "--line-numbers", "--caption", "file")
        glyphraster("render", "file", *FABLE, "--out", "pages", *around)
        ran = glyphraster("verify", "file", *pages())
        assert (ran.code, ran.out) == (0, "1 page(s) hold all 22 characters of file, and nothing else\n")

    def test_pages_of_another_file_are_told_with_the_place(self, glyphraster):
        Path("file").write_text("one two", encoding="utf-8")
        glyphraster("render", "file", *FABLE, "--out", "pages")
        Path("file").write_text("one ten", encoding="utf-8")
        ran = glyphraster("verify", "file", *pages())
        assert (ran.code, ran.out) == (1, "the pages hold 7 characters, file 7; they part at character 5\n")

    def test_pages_drawn_through_a_view_are_compared_with_what_it_shows(self, glyphraster):
        Path("file").write_text("\x1b[31mred\x1b[0m\n", encoding="utf-8")
        glyphraster("render", "file", *FABLE, "--out", "pages", "--clean", "terminal")
        assert glyphraster("verify", "file", *pages()).code == 1
        assert glyphraster("verify", "file", *pages(), "--clean", "terminal").code == 0
