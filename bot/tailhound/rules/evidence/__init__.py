"""Evidence that YAML defines, compiled to collectors: PromQL, Kubernetes, SSH.

`tailhound.rules.yaml_evidence` is the way in.
"""
