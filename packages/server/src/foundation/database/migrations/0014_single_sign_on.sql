-- compatible-from: 2
-- Single sign-on of administrators. Additive. An earlier program does not accept it, and keeps the sessions until they end.

-- Identities at OpenID providers, each linked to one account.
create table sso_identities (
  id text primary key,
  account_pk integer not null references accounts (pk) on delete cascade,
  issuer text not null,
  subject text not null,
  -- 1 if single sign-on created the account: then the provider decides about its role.
  provisioned integer not null,
  created_at integer not null,
  last_used_at integer,
  unique (issuer, subject),
  unique (account_pk, issuer)
) strict;

-- Sessions that began with single sign-on.
create table sso_sessions (
  session_id text primary key references sessions (id) on delete cascade,
  identity_id text not null references sso_identities (id) on delete cascade,
  -- The id of the session at the provider, if it states one.
  sid text
) strict;
create index sso_sessions_identity on sso_sessions (identity_id);
create index sso_sessions_sid on sso_sessions (sid);
