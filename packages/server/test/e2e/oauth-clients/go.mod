module keyreeve/oauth-client

go 1.24.0

require golang.org/x/oauth2 v0.34.0
