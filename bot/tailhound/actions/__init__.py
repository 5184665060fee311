"""What tailhound may change, as data. Nothing here talks to anything."""
