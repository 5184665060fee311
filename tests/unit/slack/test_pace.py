"""What may be said to Slack now, and what waits for what people wait for more."""

import pytest

from tailhound.slack.pace import POST, UPLOAD_URL, Pace, Rank


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = 5000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pace(clock: Clock) -> Pace:
    return Pace(clock)


def edits(pace: Pace, rank: Rank) -> int:
    """How many messages may be edited at this moment."""
    count = 0
    while pace.before_update(f"{rank.name}{count}", rank) == 0.0:
        count += 1
    return count


def test_posts_in_threads_leave_more_edits_over_than_progress_does(pace: Pace) -> None:
    assert edits(pace, Rank.PART) == 4
    assert edits(pace, Rank.PROGRESS) == 2
    assert edits(pace, Rank.PRESSING) == 4


def test_posts_in_threads_leave_posts_to_other_channels(pace: Pace) -> None:
    assert pace.before_post("C1", Rank.PART) == 0.0
    assert pace.before_post("C2", Rank.PART) == 0.0
    assert pace.before_post("C3", Rank.PART) > 0.0
    assert pace.before_post("C3") == 0.0


def test_a_message_of_an_incident_need_not_wait_for_a_post_in_a_thread(pace: Pace) -> None:
    assert pace.before_post("C1", Rank.PART) == 0.0
    assert pace.before_post("C1", Rank.PART) > 0.0
    assert pace.before_post("C1") == 0.0
    assert pace.before_post("C1") > 0.0


def test_once_slack_refuses_a_post_no_channel_gets_two_at_once_for_a_while(
    pace: Pace, clock: Clock
) -> None:
    pace.hold(POST, 1.0)
    for _ in range(19):
        clock.at += 30.0
        assert pace.before_post("C1", Rank.PART) == 0.0
        assert pace.before_post("C1") == pytest.approx(1.0)
    clock.at += 30.0
    assert [pace.before_post("C1") for _ in range(2)] == [0.0, 0.0]


def test_a_channel_gets_one_post_a_second_in_the_long_run(pace: Pace, clock: Clock) -> None:
    done = 0
    for _ in range(600):
        done += pace.before_post("C1") == 0.0
        clock.at += 0.1
    assert 60 <= done <= 61


def test_what_is_edited_again_and_again_is_edited_more_slowly(pace: Pace, clock: Clock) -> None:
    done = 0
    for _ in range(3600 // 2):
        done += pace.before_update("1.1", Rank.PROGRESS) == 0.0
        clock.at += 2.0
    assert done == 10 + 9
    waits = pace.before_update("1.1", Rank.PROGRESS)
    assert 0.0 < waits <= 360.0
    assert pace.before_update("1.1", Rank.PRESSING) == 0.0


def test_a_quiet_hour_gives_all_edits_back(pace: Pace, clock: Clock) -> None:
    for _ in range(10):
        clock.at += 10.0
        assert pace.before_update("1.1", Rank.PROGRESS) == 0.0
    clock.at += 10.0
    assert pace.before_update("1.1", Rank.PROGRESS) > 0.0
    clock.at += 3_600.0
    assert pace.before_update("1.1", Rank.PROGRESS) == 0.0


def test_uploads_keep_below_their_tier(pace: Pace, clock: Clock) -> None:
    done = 0
    for _ in range(600):
        done += pace.before_upload() == 0.0
        clock.at += 0.1
    assert 60 <= done <= 100


def test_a_method_that_slack_refused_waits_and_others_go_on(pace: Pace, clock: Clock) -> None:
    pace.hold(UPLOAD_URL, 7.0)
    assert pace.before_upload() == pytest.approx(7.0)
    assert pace.before_post("C1") == 0.0
    pace.hold(POST, 5.0)
    clock.at += 2.0
    assert pace.before_post("C1") == pytest.approx(3.0)
