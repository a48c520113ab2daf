"""The tasks of docs/python.md, with few rows: both ways give the same."""
import tasks


def test_tasks():
    done = list(tasks.run(3000))
    assert len(done) == 10
    assert [title for title, *_, equal in done if not equal] == []
