"""Posts that were sent and never answered: nobody knows whether they stand, and two are enough."""

from tailhound.notifiers import Delivery, Refusal
from tailhound.slack.draft import Key, key_of


class LostPosts:
    """How many posts of each message were lost, in this life or in an earlier one."""

    def __init__(self) -> None:
        self._lost: dict[Key, int] = {}

    def of(self, delivery: Delivery) -> int:
        """How many posts of this message nobody answered."""
        known = max(delivery.lost_posts, int(delivery.unsure))
        return max(known, self._lost.get(key_of(delivery), 0))

    def add(self, delivery: Delivery) -> None:
        """A post of this message was sent, and nobody answered."""
        self._lost[key_of(delivery)] = self.of(delivery) + 1

    def forget(self, delivery: Delivery) -> None:
        """The message is there: what was lost before does not matter any more."""
        self._lost.pop(key_of(delivery), None)

    def is_unsure(self, delivery: Delivery) -> bool:
        """Whether a post may stand that nobody has seen, or an edit that nobody knows of."""
        return delivery.unsure if delivery.message else self.of(delivery) > 0

    def no_third(self, delivery: Delivery) -> Refusal | None:
        """Why nothing is posted any more where two posts were lost and nobody can look."""
        if self.of(delivery) <= 1:
            return None
        return Refusal(
            f"two posts about incident {delivery.incident.id} to {delivery.place} were sent "
            "and never answered: look whether one stands there; with the scope "
            "channels:history tailhound looks by itself",
            only_this=True,
        )
