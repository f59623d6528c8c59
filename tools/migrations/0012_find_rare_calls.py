"""Indexes for what is rare and looked for: failures, slow calls, calls of one correlation or thread.

On PostgreSQL they are made on the partitioned table, and so on each of its days.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tools", "0011_sum_figures_over_days")]

    operations = [
        migrations.AddIndex(
            model_name="toolrequest",
            index=models.Index(
                condition=models.Q(("correlation_id", ""), _negated=True),
                fields=["correlation_id", "-received_at"],
                name="journal_correlated",
            ),
        ),
        migrations.RemoveIndex(model_name="toolrequest", name="journal_by_correlation"),
        migrations.AddIndex(
            model_name="toolrequest",
            index=models.Index(
                condition=models.Q(("thread_id", ""), _negated=True),
                fields=["thread_id", "-received_at"],
                name="journal_by_thread",
            ),
        ),
        migrations.AddIndex(
            model_name="toolrequest",
            index=models.Index(
                condition=models.Q(("code", ""), _negated=True),
                fields=["-received_at", "-call_id"],
                name="journal_failures",
            ),
        ),
        migrations.AddIndex(
            model_name="toolrequest",
            index=models.Index(
                condition=models.Q(("duration_ms__gte", 1000.0)),
                fields=["-received_at", "-call_id"],
                name="journal_slow",
            ),
        ),
    ]
