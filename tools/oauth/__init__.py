"""Access tokens of an OAuth 2.1 issuer: this service as a resource server.

`issuer` asks the issuer for its keys, `keys` reads them, `jwks` keeps them at hand, `verifier`
checks tokens against them, `metadata` tells clients where to get a token, `current` holds the one
verifier of this process.
"""
