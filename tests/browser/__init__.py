"""The admin in a real browser: Debian's Chromium, driven by Playwright, on a whole control plane."""
