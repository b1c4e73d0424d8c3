"""Search engines as they are used: asked, measured and judged."""
