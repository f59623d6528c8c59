"""The deterministic router and what measures it."""
