"""krait-lab on embedded stores, which need no server but their library. Where levels promise something, nothing may be found; what they are known to let through shows in most runs, so several are tried.

    test_lab_embedded.py NAME     runs test_NAME; 77: the driver was not built
"""

from lab import TRACE, check, keeps, main, read, run

EVERYTHING = ("registers", "registers:rmw=80", "append", "sets", "counters", "bank", "ranges", "ranges:mix=2")


def test_lmdb():
    """Serializable in real time, in the order that its transactions' numbers give: readers are in it, too, and those that asked to write and did not."""
    for workload in EVERYTHING:
        _, said = keeps("lmdb", "serializable", workload)
        assert check("-l", "ser", "--checker", "enne")["ser"] == "satisfied", workload
        assert all("serial" in txn for txn in read()[1] if txn["status"] == "committed"), said
    _, said = run("-d", "lmdb", "--connect", TRACE, status=254)
    assert "private stores only" in said, said


if __name__ == "__main__":
    main(globals())
