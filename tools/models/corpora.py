"""Documents to search, and the versions of the index that is made of them."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from typing_extensions import override

from tools.models.audited import AuditedModel
from tools.models.fields import json_object
from tools.models.signals import AnnouncingManager
from tools.models.tool_rules import SLUG_PATTERN

DEFAULT_EMBEDDING_MODEL: Final = "ibm-granite/granite-embedding-30m-english"


class Corpus(AuditedModel):
    """A body of documents and how it is cut, embedded and indexed."""

    slug = models.CharField(
        max_length=64,
        unique=True,
        validators=[RegexValidator(SLUG_PATTERN, "Use lower-case letters, digits and hyphens.")],
        help_text="Its name in addresses and commands.",
    )
    title = models.CharField(max_length=200, blank=True, default="")
    description = models.TextField(blank=True, default="")
    embedding_model = models.CharField(
        max_length=200,
        default=DEFAULT_EMBEDDING_MODEL,
        help_text="The model that the next index version is made with.",
    )
    chunk_tokens = models.PositiveSmallIntegerField(
        default=256,
        validators=[MinValueValidator(32), MaxValueValidator(512)],
        help_text="The most tokens a passage has.",
    )
    chunk_overlap = models.PositiveSmallIntegerField(
        default=0,
        validators=[MaxValueValidator(128)],
        help_text="How many tokens of a passage the next one repeats.",
    )
    largest_loss = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="A new version that loses more nDCG@10 than this on the evaluation set is not "
        "switched to. Empty: no gate.",
    )
    gate_dataset = models.CharField(
        max_length=500,
        blank=True,
        default="",
        help_text="Folder of the evaluation set of that gate.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = AnnouncingManager()

    class Meta:
        ordering = ("slug",)
        verbose_name_plural = "corpora"
        constraints = (
            models.CheckConstraint(
                condition=Q(slug__regex=SLUG_PATTERN), name="corpus_slug_pattern"
            ),
        )

    @override
    def __str__(self) -> str:
        return self.slug

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        self.full_clean()
        super().save(*args, **kwargs)

    @override
    def clean(self) -> None:
        # Empty numbers have their own message.
        if (self.chunk_overlap or 0) * 2 > (self.chunk_tokens or 0):
            raise ValidationError({"chunk_overlap": "At most half of the passage's tokens."})
        if self.largest_loss is not None and not self.gate_dataset:
            raise ValidationError({"gate_dataset": "The gate needs an evaluation set."})


class DocumentStatus(models.TextChoices):
    """What became of a document when it was last read."""

    PENDING = "pending"
    READY = "ready"
    DUPLICATE = "duplicate"
    FAILED = "failed"


class Document(models.Model):
    """One document of a corpus, with its bytes: any worker can read it, on any host."""

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="documents")
    name = models.CharField(
        max_length=500, help_text="Its path within the corpus; a new upload of it replaces it."
    )
    title = models.CharField(max_length=500, blank=True, default="")
    source = models.CharField(
        max_length=1000, blank=True, default="", help_text="Where it is from, as answers cite it."
    )
    media_type = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the content.")
    size = models.PositiveBigIntegerField()
    metadata = models.JSONField(default=dict, blank=True, validators=[json_object])
    status = models.CharField(
        max_length=16, choices=DocumentStatus.choices, default=DocumentStatus.PENDING
    )
    error = models.CharField(max_length=1000, blank=True, default="")
    chunk_count = models.PositiveIntegerField(default=0)
    uploaded_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    # Last: SQLite reads through a large value to get at the columns behind it.
    content = models.BinaryField(editable=False)

    class Meta:
        ordering = ("corpus", "name")
        constraints = (
            models.UniqueConstraint(fields=("corpus", "name"), name="document_name_unique"),
        )
        indexes = (models.Index(fields=("corpus", "digest"), name="document_digest"),)

    @override
    def __str__(self) -> str:
        return self.name


class Chunk(models.Model):
    """One passage of a document as it was last cut, for people to look at."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="chunks")
    ordinal = models.PositiveIntegerField()
    text = models.TextField()
    heading = models.CharField(max_length=500, blank=True, default="")
    page = models.PositiveIntegerField(null=True, blank=True)
    tokens = models.PositiveIntegerField()

    class Meta:
        ordering = ("document", "ordinal")
        constraints = (
            models.UniqueConstraint(fields=("document", "ordinal"), name="chunk_ordinal_unique"),
        )

    @override
    def __str__(self) -> str:
        return f"{self.document_id} #{self.ordinal}"


class VersionState(models.TextChoices):
    """Life of an index version. Only one of a corpus is active."""

    BUILDING = "building"
    READY = "ready"
    ACTIVE = "active"
    RETIRED = "retired"
    REFUSED = "refused"
    FAILED = "failed"


class IndexVersion(models.Model):
    """One index of a corpus: made beside the one in use, then switched to in one step."""

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    state = models.CharField(
        max_length=16, choices=VersionState.choices, default=VersionState.BUILDING
    )
    embedding_model = models.CharField(max_length=200)
    chunking = models.JSONField(default=dict, validators=[json_object])
    store = models.CharField(max_length=16, default="files")
    total_documents = models.PositiveIntegerField(default=0)
    done_documents = models.PositiveIntegerField(default=0)
    failed_documents = models.PositiveIntegerField(default=0)
    chunks = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=1000, blank=True, default="")
    # Remembered here, so that no death of a worker loses it: what was added meanwhile may be missing.
    asked_again = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="The index was asked for again while this was being built: if it lacks something "
        "then, the next version is begun when it has ended.",
    )
    statistics = models.JSONField(default=dict, blank=True, validators=[json_object])
    created_at = models.DateTimeField(auto_now_add=True)
    # Moves while a worker is at it, so that a build whose workers died can be told.
    touched_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    activated_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("corpus", "-number")
        constraints = (
            models.UniqueConstraint(fields=("corpus", "number"), name="version_number_unique"),
            models.UniqueConstraint(
                fields=("corpus",), condition=Q(state="active"), name="one_active_version"
            ),
        )

    @override
    def __str__(self) -> str:
        return f"{self.corpus_id} v{self.number}"


class EntryState(models.TextChoices):
    """What became of a document in an index version."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


class IndexEntry(models.Model):
    """One document of an index version, and the part of the index that was made of it."""

    version = models.ForeignKey(IndexVersion, on_delete=models.CASCADE, related_name="entries")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="entries")
    state = models.CharField(max_length=16, choices=EntryState.choices, default=EntryState.PENDING)
    # The file that holds its passages and vectors; named after all that they depend on.
    part = models.CharField(max_length=64, blank=True, default="")
    chunks = models.PositiveIntegerField(default=0)
    # A document that kills the worker that reads it is given up after a few.
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        verbose_name_plural = "index entries"
        constraints = (
            models.UniqueConstraint(fields=("version", "document"), name="entry_document_unique"),
        )
        indexes = (
            models.Index(fields=("version", "state"), name="entry_state"),
            models.Index(fields=("part",), name="entry_part"),
        )

    @override
    def __str__(self) -> str:
        return f"{self.version_id} {self.document_id}"
