"""The questions, as data. Who answers them lies in `transports`."""

from tailhound.requests.kubernetes import GetObject, KubeObject, ListObjects
from tailhound.requests.prometheus import Labelled, Query, Ranged, RangeQuery, Ranges, Vector
from tailhound.requests.ssh import Output, RunOnHost

__all__ = [
    "GetObject",
    "KubeObject",
    "Labelled",
    "ListObjects",
    "Output",
    "Query",
    "RangeQuery",
    "Ranged",
    "Ranges",
    "RunOnHost",
    "Vector",
]
