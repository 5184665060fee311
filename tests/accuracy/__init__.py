"""How often the product is right: every scenario and its variants, scored."""
