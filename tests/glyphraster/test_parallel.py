"""``encode_pages``: the bytes of pages, drawn on threads."""

import itertools
import threading

import pytest

import glyphraster as gr
from glyphraster.errors import ArgumentError
from glyphraster.parallel import AHEAD_PER_WORKER, encode_pages

TEXT = "".join(f"{number}: the quick brown fox, ș and 漢\n" for number in range(20_000))


@pytest.fixture(scope="module")
def pages():
    found = gr.render(TEXT, "gpt-4o")
    assert len(found) > 8
    return found


class BrokenPage(gr.Page):
    """A page that cannot be drawn."""

    def png(self, mode=None, *, small=False):
        raise OSError(f"page {self.index} cannot be drawn")


def broken(page):
    fields = (name for name in gr.Page.__slots__ if name != "__weakref__")
    return BrokenPage(**{name: getattr(page, name) for name in fields})


def threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("glyphraster")]


class TestEncodePages:
    @pytest.mark.parametrize("workers", [None, 1, 2, 5, 64])
    def test_the_bytes_are_those_of_each_page_in_order_however_many_threads_draw(self, workers, pages):
        assert list(encode_pages(pages, workers=workers)) == [page.png() for page in pages]

    @pytest.mark.parametrize("workers", [1, 2])
    def test_mode_and_small_are_passed_on(self, workers, pages):
        expected = [page.png("gray8", small=True) for page in pages[:2]]
        assert list(encode_pages(pages[:2], "gray8", small=True, workers=workers)) == expected

    @pytest.mark.parametrize("engine", ["numpy", "numba"])
    def test_threads_that_draw_the_first_pages_at_once_agree(self, engine):
        found = encode_pages(gr.iter_pages(TEXT, "gpt-4o", engine=engine), workers=4)
        assert gr.read(list(found)) == TEXT

    @pytest.mark.parametrize("workers", [1, 3])
    def test_no_pages_give_no_bytes(self, workers):
        assert list(encode_pages([], workers=workers)) == []

    def test_one_worker_is_the_thread_of_the_caller(self, pages):
        next(encode_pages(pages, workers=1))
        assert threads() == []

    def test_of_pages_without_end_only_two_a_worker_are_taken_ahead(self, pages):
        taken = itertools.count(1)
        endless = (page for page in itertools.cycle(pages) if next(taken))
        encoded = encode_pages(endless, workers=3)
        for _ in range(50):
            next(encoded)
        encoded.close()
        assert next(taken) - 1 <= 50 + AHEAD_PER_WORKER * 3

    @pytest.mark.parametrize("workers", [2, 3])
    def test_the_threads_end_when_the_bytes_are_no_longer_wanted(self, workers, pages):
        encoded = encode_pages(itertools.cycle(pages), workers=workers)
        next(encoded)
        assert threads() != []
        encoded.close()
        assert threads() == []

    def test_the_threads_end_with_the_pages(self, pages):
        list(encode_pages(pages, workers=2))
        assert threads() == []

    @pytest.mark.parametrize("workers", [1, 2, 3])
    @pytest.mark.parametrize("at", [0, 1, 5])
    def test_a_page_that_cannot_be_drawn_is_reported_in_its_place(self, workers, at, pages):
        encoded = encode_pages([*pages[:at], broken(pages[at]), *pages[at + 1 :]], workers=workers)
        assert [next(encoded) for _ in range(at)] == [page.png() for page in pages[:at]]
        with pytest.raises(OSError, match=f"page {at + 1} cannot be drawn"):
            next(encoded)
        assert threads() == []

    @pytest.mark.parametrize("workers", [1, 2, 3])
    @pytest.mark.parametrize("at", [0, 1, 5])
    def test_what_the_pages_raise_comes_after_the_bytes_of_those_before(self, workers, at, pages):
        def failing():
            yield from pages[:at]
            raise OSError(f"no text behind page {at}")

        encoded = encode_pages(failing(), workers=workers)
        assert [next(encoded) for _ in range(at)] == [page.png() for page in pages[:at]]
        with pytest.raises(OSError, match=f"no text behind page {at}"):
            next(encoded)
        assert threads() == []

    @pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
    def test_other_workers_are_refused_at_once(self, workers):
        with pytest.raises(ArgumentError, match=f"workers must be an integer of at least 1, .*, got {workers!r}"):
            encode_pages([], workers=workers)
