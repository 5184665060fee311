"""Fast tests of single parts."""

from hypothesis import HealthCheck, settings

settings.register_profile("tailhound", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tailhound")  # how busy the machine is says nothing about the code
