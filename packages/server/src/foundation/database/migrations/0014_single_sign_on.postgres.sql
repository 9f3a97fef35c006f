-- compatible-from: 2
-- Single sign-on of administrators on PostgreSQL; 0014_single_sign_on.sql explains the tables.

create table sso_identities (
  id text collate "C" primary key,
  account_pk bigint not null references accounts (pk) on delete cascade,
  issuer text collate "C" not null,
  subject text collate "C" not null,
  provisioned integer not null,
  created_at bigint not null,
  last_used_at bigint,
  unique (issuer, subject),
  unique (account_pk, issuer)
);

create table sso_sessions (
  session_id text collate "C" primary key references sessions (id) on delete cascade,
  identity_id text collate "C" not null references sso_identities (id) on delete cascade,
  sid text collate "C"
);
create index sso_sessions_identity on sso_sessions (identity_id);
create index sso_sessions_sid on sso_sessions (sid);
