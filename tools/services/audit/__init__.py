"""The audit trail: who is acting, what is watched, and how changes are written down."""
