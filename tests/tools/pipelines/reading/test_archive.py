"""Archives are opened without trust in them."""

from __future__ import annotations

import io
import stat
import struct
import zipfile

import pytest

from tests.tools.pipelines.reading.files import make_docx, make_zip
from tools.pipelines.reading import ArchiveMember, UnreadableDocument, archive, expand_archive

ROOM = 10 << 20


def opened(content: bytes, most_bytes: int = ROOM) -> dict[str, bytes | str]:
    """Members by name: their bytes, or the reason why there are none."""
    members = list(expand_archive("all.zip", content, most_bytes))
    return {
        member.name: member.error if member.content is None else member.content
        for member in members
    }


def test_documents_in_folders_come_without_what_systems_leave_behind() -> None:
    content = make_zip(
        {
            "a.txt": b"one",
            "folder/": b"",
            "folder/deep/b.md": b"two",
            "win\\c.csv": b"three",
            "./d.txt": b"four",
            "__MACOSX/._a.txt": b"x",
            ".DS_Store": b"x",
            "folder/.git/config": b"x",
            "Thumbs.db": b"x",
            "größe.txt": b"five",
        }
    )
    assert opened(content) == {
        "a.txt": b"one",
        "folder/deep/b.md": b"two",
        "win/c.csv": b"three",
        "d.txt": b"four",
        "größe.txt": b"five",
    }


@pytest.mark.parametrize(
    "name", ["../evil.txt", "a/../../evil.txt", "/etc/evil.txt", "C:\\evil.txt", "..\\evil.txt"]
)
def test_names_that_lead_out_are_refused_and_the_others_kept(name: str) -> None:
    found = opened(make_zip({name: b"x", "good.txt": b"fine"}))
    assert found.pop("good.txt") == b"fine"
    assert list(found.values()) == ["Its name leads out of the archive."]


def test_archive_in_an_archive_is_opened_and_the_next_is_not() -> None:
    innermost = make_zip({"c.txt": b"three"})
    inner = make_zip({"b.txt": b"two", "innermost.zip": innermost})
    assert opened(make_zip({"a.txt": b"one", "inner.zip": inner})) == {
        "a.txt": b"one",
        "inner.zip/b.txt": b"two",
        "inner.zip/innermost.zip": "Archives are opened one level deep, not two.",
    }


def test_word_file_in_an_archive_is_a_document() -> None:
    document = make_docx(lambda made: made.add_paragraph("text"))
    assert opened(make_zip({"a.docx": document})) == {"a.docx": document}


def test_member_that_is_too_large_is_refused_alone() -> None:
    noise = bytes(range(256)) * 8
    assert opened(make_zip({"big.txt": noise, "small.txt": b"x"}), 1000) == {
        "big.txt": "It is larger than 1,000 bytes.",
        "small.txt": b"x",
    }


def test_member_packed_beyond_reason_is_refused() -> None:
    content = make_zip({"bomb.txt": b"\0" * (8 << 20), "fine.txt": b"x"})
    assert len(content) < 10_000
    assert opened(content) == {"bomb.txt": "It is packed more than 200 to 1.", "fine.txt": b"x"}


def test_archive_that_holds_too_much_in_all_ends_with_the_reason() -> None:
    members = {f"{number}.txt": bytes([number]) * 900 for number in range(20)}
    found = opened(make_zip(members), 1000)
    assert found["all.zip"] == "The archive holds more than 10,000 bytes; the rest is left."
    assert len(found) == 12


def test_archives_within_share_the_same_room() -> None:
    inner = make_zip({f"{n}.txt": bytes([n]) * 900 for n in range(8)}, zipfile.ZIP_STORED)
    found = opened(make_zip({"a.zip": inner, "b.zip": inner}), 9000 // 10 * 10)
    assert sum(len(part) for part in found.values() if isinstance(part, bytes)) <= 90_000


def test_archive_of_too_many_members_ends_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_MEMBERS", 3)
    found = opened(make_zip({f"{number}.txt": b"x" for number in range(5)}))
    assert found["all.zip"] == "The archive has more than 3 documents."
    assert len(found) == 4


def test_member_that_lies_about_its_size_gives_no_more_than_it_says() -> None:
    content = bytearray(make_zip({"a.txt": b"x" * 5000, "b.txt": b"fine"}))
    # The claimed size stands in the central directory, 24 bytes behind its mark.
    directory = content.index(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = struct.pack("<I", 10)
    found = opened(bytes(content))
    assert found["a.txt"] == "It is damaged, or packed in a way that is not known."
    assert found["b.txt"] == b"fine"


def test_damaged_member_does_not_lose_the_others() -> None:
    content = make_zip({"a.txt": b"hello there", "b.txt": b"fine"}, zipfile.ZIP_STORED)
    found = opened(content.replace(b"hello there", b"hellO there"))
    assert found == {
        "a.txt": "It is damaged, or packed in a way that is not known.",
        "b.txt": b"fine",
    }


def test_encrypted_member_is_told() -> None:
    content = bytearray(make_zip({"a.txt": b"secret", "b.txt": b"fine"}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + offset] |= 1
    assert opened(bytes(content)) == {"a.txt": "It is protected by a password.", "b.txt": b"fine"}


def test_link_and_second_member_of_a_name_are_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, "/etc/passwd")
        made.writestr("a.txt", b"first")
        made.writestr("./a.txt", b"second")
    assert list(expand_archive("all.zip", out.getvalue(), ROOM)) == [
        ArchiveMember("link.txt", error="It is a link, not a document."),
        ArchiveMember("a.txt", b"first"),
        ArchiveMember("a.txt", error="There are two members of this name."),
    ]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nothing", b"text"])
def test_what_is_no_archive_is_refused_at_the_call(content: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="damaged"):
        expand_archive("a.zip", content, ROOM)
