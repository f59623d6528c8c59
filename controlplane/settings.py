"""Django settings, driven by the environment table in `controlplane.env`."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django.templatetags.static import static

from controlplane import __version__
from controlplane.env import PROJECT_DIR, database_settings, read_environment, secret_key
from controlplane.logging import logging_settings
from controlplane.runtime.paths import RuntimePaths

ENVIRONMENT = read_environment(os.environ)

BASE_DIR = PROJECT_DIR
VAR_DIR = Path(ENVIRONMENT.var_dir)
RUNTIME_PATHS = RuntimePaths(VAR_DIR)
SECRET_KEY = secret_key(ENVIRONMENT)
DEBUG = ENVIRONMENT.debug
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)
CSRF_TRUSTED_ORIGINS = list(ENVIRONMENT.csrf_trusted_origins)

# Loading the pages is a quarter of a start. Workers show none, nor do commands but those that check them; a web
# process loads them when it has begun to serve.
_PROGRAM = Path(sys.argv[0])
_IS_CELERY = "celery" in {_PROGRAM.name, _PROGRAM.parent.name}
_IS_OTHER_COMMAND = _PROGRAM.name == "manage.py" and not {"runserver", "check"} & {*sys.argv[1:2]}
SHOWS_PAGES = not (_IS_CELERY or _IS_OTHER_COMMAND)

INSTALLED_APPS = [
    "unfold",
    "controlplane.admin_pages.AdminPagesConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_celery_beat",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "controlplane",
    "tools",
    "health",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "controlplane.acting.ActingMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Last: it turns a refused log-in into the page that says so.
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "controlplane.urls"
ASGI_APPLICATION = "controlplane.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        # The notice on every page of the admin, and the zone of its times, go into a template of the theme.
        "DIRS": [PROJECT_DIR / "health" / "overrides"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {"default": database_settings(ENVIRONMENT)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = ENVIRONMENT.redis_url or RUNTIME_PATHS.redis_url

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "/static/"
# Packages carry their static files; WhiteNoise serves them from there without a collect step.
STATIC_ROOT = None
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

DATA_UPLOAD_MAX_MEMORY_SIZE = ENVIRONMENT.max_body_bytes
SESSION_COOKIE_HTTPONLY = True
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
if ENVIRONMENT.https:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # HSTS for subdomains is not ours to promise
    "security.W021",  # nor is a place on browsers' preload lists
]

LOGGING = logging_settings(ENVIRONMENT.service_overrides.get("LOGGING__LEVEL", "INFO"))

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["tools.api.renderers.EncodedJSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["tools.api.parsers.StrictJSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "tools.api.exceptions.to_envelope",
    "UNAUTHENTICATED_USER": None,
    # An API without browsable pages: no ?format=, no method override, nothing to guess at.
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "MCP control plane",
    "DESCRIPTION": "Tools of AI agents: list them, call them, ask how the service is.",
    "VERSION": __version__,
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {
        "DocumentStatus": "tools.services.manage_corpora.STATUSES",
        "HealthStatus": "health.status.CHOICES",
        "ServiceState": "tools.contracts.ServiceState",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "APPEND_COMPONENTS": {
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer"},
            "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        }
    },
    "SECURITY": [{}, {"bearer": []}, {"header": []}],
    "SWAGGER_UI_SETTINGS": {"persistAuthorization": False, "deepLinking": True},
}

UNFOLD = {
    "SITE_TITLE": "MCP control plane",
    "SITE_HEADER": "MCP control plane",
    "SITE_SYMBOL": "hub",
    "SITE_FAVICONS": [
        {
            "rel": "icon",
            "type": "image/svg+xml",
            "href": lambda request: static("controlplane/icon.svg"),
        }
    ],
    "STYLES": [lambda request: static("controlplane/admin.css")],
    "SCRIPTS": [
        lambda request: static("controlplane/autofocus.js"),
        lambda request: static("controlplane/name_fields.js"),
        lambda request: static("controlplane/nav_search.js"),
    ],
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    # The front page only leads back to the admin.
    "SITE_URL": None,
    "DASHBOARD_CALLBACK": "health.admin.dashboard.page.context",
    "GLOBAL_CALLBACK": "health.admin.banner.context",
    "SIDEBAR": {
        "show_search": True,
        "show_all_applications": False,
        "navigation": "tools.admin.navigation.sidebar",
    },
}
# One box to tick for every operation of an imported document; large APIs have thousands.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
# Folders of documents are chosen whole.
DATA_UPLOAD_MAX_NUMBER_FILES = 1000
LOGIN_REDIRECT_URL = "admin:index"

# Whoever guesses passwords is locked out: one name from one address, so that nobody can lock out others; and, after
# many more failures, an address for all names, so that one host cannot try a usual password on everybody.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
ADDRESS_FAILURE_LIMIT = 50
AXES_HANDLER = "controlplane.address_limit.AddressLimit"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "controlplane.lockout.refuse"
# The address of the connection: one that a proxy forwards can be forged.
AXES_CLIENT_IP_CALLABLE = "controlplane.lockout.address_of"
# Our own pages show them.
AXES_ENABLE_ADMIN = False
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False

# Pages load nothing from elsewhere and are shown in no frame. The theme's Alpine.js makes functions of the
# texts in its attributes, which is what `unsafe-eval` allows, and sets styles in place.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, UNSAFE_EVAL],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# Where the documents of the demo are found: examples/corpus and docs below it.
DEMO_DIR = PROJECT_DIR

# What sends messages to workers; loaded by the processes that do.
CELERY_APPLICATION = "controlplane.celery"

# The example server of the demo. Children see nothing of our environment, so it is told where state is.
TODO_SERVER = {
    "command": [sys.executable, "-m", "examples.todo_server", "--var-dir", str(VAR_DIR)],
    "environment": ["TODO_DATABASE_URL"],
    "directory": str(BASE_DIR),
}

CONTROL_PLANE = {
    "VERSION": __version__,
    "SERVICE_OVERRIDES": ENVIRONMENT.service_overrides,
    "MAX_BODY_BYTES": ENVIRONMENT.max_body_bytes,
    "JOURNAL_RETENTION_DAYS": ENVIRONMENT.journal_retention_days,
    "JOURNAL_BODY_BYTES": ENVIRONMENT.journal_body_bytes,
    "ALLOW_KEYLESS_NETWORK": ENVIRONMENT.allow_keyless_network,
    "TASK_KEEP_SECONDS": ENVIRONMENT.task_keep_seconds,
    "TASK_START_SECONDS": ENVIRONMENT.task_start_seconds,
    "TASKS_PER_CALLER": ENVIRONMENT.tasks_per_caller,
    "OAUTH_ISSUER": ENVIRONMENT.oauth_issuer,
    "OAUTH_AUDIENCE": ENVIRONMENT.oauth_audience,
    "OAUTH_JWKS_URL": ENVIRONMENT.oauth_jwks_url,
    "OAUTH_REQUIRED_SCOPES": ENVIRONMENT.oauth_required_scopes,
    "INDEX_DIR": ENVIRONMENT.index_dir or str(VAR_DIR / "indexes"),
    "RAG_STORE": ENVIRONMENT.rag_store,
    "IRIS_URL": ENVIRONMENT.iris_url,
    "MAX_DOCUMENT_BYTES": ENVIRONMENT.max_document_bytes,
    "LLM_URL": ENVIRONMENT.llm_url,
    "LLM_API_KEY": ENVIRONMENT.llm_api_key,
    "LLM_MODEL": ENVIRONMENT.llm_model,
    "LLM_CONTEXT_TOKENS": ENVIRONMENT.llm_context_tokens,
    "EMBEDDINGS_URL": ENVIRONMENT.embeddings_url,
    "EMBEDDINGS_API_KEY": ENVIRONMENT.embeddings_api_key,
    "RERANK_URL": ENVIRONMENT.rerank_url,
    "RERANK_API_KEY": ENVIRONMENT.rerank_api_key,
    "UPSTREAM_COMMANDS": ENVIRONMENT.upstream_commands or {"todo-server": TODO_SERVER},
    "UPSTREAM_MAX_CHILDREN": ENVIRONMENT.upstream_max_children,
    "REGISTRY_KEYS": ENVIRONMENT.registry_keys,
    "HEALTH_LEAST_FREE_MB": ENVIRONMENT.health_least_free_mb,
    "HEALTH_MOST_QUEUED": ENVIRONMENT.health_most_queued,
    "HEALTH_SNAPSHOT_DAYS": ENVIRONMENT.health_snapshot_days,
    "OTEL_EXPORTER_OTLP_ENDPOINT": ENVIRONMENT.otel_exporter_otlp_endpoint,
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": ENVIRONMENT.otel_exporter_otlp_traces_endpoint,
    "OTEL_SERVICE_NAME": ENVIRONMENT.otel_service_name,
    "OTEL_SDK_DISABLED": ENVIRONMENT.otel_sdk_disabled,
}
