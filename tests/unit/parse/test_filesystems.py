"""Which file systems lie on a drive: df, /proc/mounts, lsblk."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tailhound.requests import Output
from tailhound_collectors.parse.filesystems import devices_on, disk_free, mounts


def said(text: str) -> Output:
    return Output(text, "", 0)


def test_a_row_of_df_holds_source_mount_and_share() -> None:
    rows = disk_free(
        said(
            "Filesystem     1024-blocks      Used Available Capacity Mounted on\n"
            "udev               4000         0      4000       0% /dev\n"
            "/dev/sda1          1000       600       300      67% /var/lib/a b\n"
            "host:/export       1000       600       300      67% /nfs\n"
        )
    )
    assert [(row.source, row.mount) for row in rows] == [("/dev/sda1", "/var/lib/a b")]
    assert rows[0].used_ratio == 600 / 900


def test_what_is_reserved_counts_neither_as_used_nor_as_free() -> None:
    (row,) = disk_free(said("/dev/sda1 1000 900 0 100% /\n"))
    assert row.used_ratio == 1.0


def test_an_empty_file_system_and_a_torn_row_have_no_share() -> None:
    rows = disk_free(said("/dev/sda1 0 0 0 - /\n/dev/sdb1 x - - 3% /b\n/dev/sdc1 100 5\n"))
    assert [row.used_ratio for row in rows] == [None, None]


def test_mounts_hold_their_options_and_unescaped_names() -> None:
    (row,) = mounts(
        said(
            "proc /proc proc rw 0 0\n"
            "/dev/loop1 /snap squashfs ro 0 0\n"
            "/dev/nvme0n1p1 /mnt/a\\040b ext4 rw,discard,noatime 0 0\n"
        )
    )
    assert (row.source, row.mount, row.kind) == ("/dev/nvme0n1p1", "/mnt/a b", "ext4")
    assert row.options == {"rw", "discard", "noatime"}


def test_a_last_line_that_was_cut_is_not_read() -> None:
    assert mounts(said("/dev/sda1 / ext4 rw,disc")) == ()
    assert disk_free(said("/dev/sda1 1000 900 0 100% /")) == ()


def test_all_that_lies_on_a_drive_is_named() -> None:
    tree = {
        "blockdevices": [
            {"name": "sda", "children": [{"name": "sda1"}]},
            {
                "name": "nvme0n1",
                "children": [{"name": "nvme0n1p1", "children": [{"name": "vg-kv"}]}, {"x": 1}],
            },
        ]
    }
    found = devices_on(said(json.dumps(tree)), "nvme0n1")
    assert found == frozenset({"nvme0n1", "nvme0n1p1", "vg-kv"})
    assert devices_on(said(json.dumps(tree)), "nvme1n1") is None


def test_a_tree_without_end_is_followed_a_little() -> None:
    node: dict[str, object] = {"name": "d0"}
    for depth in range(1, 200):
        node = {"name": f"d{depth}", "children": [node]}
    found = devices_on(said(json.dumps({"blockdevices": [node]})), "d199")
    assert found is not None
    assert len(found) < 20


@given(st.text(max_size=300))
def test_no_text_breaks_them(text: str) -> None:
    disk_free(said(text))
    mounts(said(text))
    devices_on(said(text), "sda")
    assert all(
        row.used_ratio is None or 0 <= row.used_ratio <= 1
        for row in disk_free(said(f"/dev/sda1 {text}\n"))
    )
