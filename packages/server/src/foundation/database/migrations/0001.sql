-- compatible-from: 1
-- The first schema. Times are integer milliseconds since 1970 in UTC. Columns that end in _at and may be null are states.

-- One row ties the database to its root key.
create table installation (
  id integer primary key check (id = 1),
  -- Derives from the root key.
  master_key_check blob not null,
  created_at integer not null,
  -- Since then there may be keys of other systems, so texts without a prefix of ours are looked up as well. Null: never.
  keys_imported_at integer,
  -- The last check for unused keys (null: never), and the earliest time from which days without a use count (null: any).
  unused_keys_checked_at integer,
  unused_keys_counted_from integer,
  -- The name of the first environment since the setting was first used; null: it never was.
  first_environment text,
  -- When `keyreeve backup` last succeeded; null: never. A backup has the time of the one before it.
  last_backup_at integer,
  -- The second file that belongs to this one (usage-file.ts), and the number of its commits as of the last minute. Null: none.
  usage_generation text,
  usage_commits integer not null default 0
) strict;

-- A version of the root key, wrapped by a master key.
create table root_keys (
  version integer not null,
  -- Rises with each rotation of the master key. During a rotation, two generations exist.
  generation integer not null,
  -- 16 hexadecimal digits that derive from the master key.
  master_key_id text not null,
  -- AES-256-GCM; the other columns except created_at are authenticated.
  wrapped blob not null,
  -- When the master key was created or added.
  created_at integer not null,
  -- The newest version of the root key when this wrapping was made; null for a wrapping of the newest. It is authenticated, so
  -- an earlier version opens only beside the newest one.
  superseded_by integer,
  primary key (version, generation),
  unique (version, master_key_id)
) strict;

-- A running process. A process deletes its row when it stops.
create table instances (
  id text primary key,
  version text not null,
  started_at integer not null,
  seen_at integer not null,
  -- The master key that the process started with.
  master_key_id text not null,
  -- JSON: keyed hashes of the settings that the process started with, by name.
  settings text not null
) strict;

-- What a process counted in one minute. A process that counted nothing has no row.
create table verification_minutes (
  -- The start of the minute.
  minute integer not null,
  -- In instances.
  instance text not null,
  -- JSON: verifications and sign-ins by result, and histograms of the durations of verifications and database reads.
  counts text not null,
  primary key (minute, instance)
) strict;

-- The audit log. Each event is in one of a fixed number of chains; its MAC covers the one before in the chain.
create table audit_events (
  id integer primary key autoincrement,
  at integer not null,
  -- account:<id>, operator (the command line), system.
  actor text not null,
  action text not null,
  account_id text,
  -- The id of the changed object.
  target text,
  -- JSON.
  details text,
  -- Its place, which the program always sets: `keyreeve audit verify` reports an event without one.
  chain integer,
  position integer,
  mac blob
) strict;
create index audit_events_account on audit_events (account_id, id);
create unique index audit_events_chain on audit_events (chain, position);
-- Finds a change of a key by the time of the change: an account can have millions of audit events.
create index audit_events_key_changes on audit_events (target, at)
  where action in ('api_key.disabled', 'api_key.rotated', 'api_key.previous_ended', 'api_key.updated');
-- Finds out whether a key was deleted: a secret that another system made is not accepted again.
create index audit_events_deleted_keys on audit_events (target) where action = 'api_key.deleted';

-- The number of events of each chain. The row is the lock under which the next event is added.
create table audit_chains (
  chain integer primary key,
  events integer not null,
  -- A transaction appends events only with the key of this version.
  root_key_version integer not null default 1
) strict;

-- Where the key of a chain has changed.
create table audit_key_changes (
  chain integer not null,
  -- Of the root key whose key the following events have.
  version integer not null,
  -- The last event under the earlier key, and its MAC. Position 0: there was none.
  position integer not null,
  mac blob,
  changed_at integer not null,
  -- MAC of the row, under the key of the newest version.
  seal blob not null,
  primary key (chain, version)
) strict, without rowid;

-- The end of the removed part of a chain. A chain without a row has no removed events.
create table audit_cuts (
  chain integer primary key,
  -- The position, the MAC and the id of the last removed event.
  position integer not null,
  mac blob not null,
  event_id integer not null,
  -- All removed events are from before this time.
  events_before integer not null,
  -- The age that events had to reach, in days.
  days integer not null,
  cut_at integer not null,
  -- The MAC over the other columns.
  seal blob not null
) strict;

-- One row. Cuts are decided by it, so that one process makes them, and a clock that jumps forward removes nothing.
create table audit_retention (
  id integer primary key check (id = 1),
  -- A time that has certainly passed.
  passed_at integer not null,
  -- The sum of the clock's jumps that count as passed time, in milliseconds. The start of a process and the confirmation of the
  -- clock set it to 0.
  jumped_ms integer not null default 0,
  -- When the last run began; null before the first.
  run_at integer,
  -- Why the last run did not remove all events that are old enough; null if it did.
  blocked text
) strict;

-- Jobs after the commit that requests them: mail, webhooks, and work that must not change the time of a response.
create table outbox (
  -- The same at every attempt.
  id text primary key,
  kind text not null,
  -- Jobs of one queue never wait for those of another.
  queue text not null,
  -- JSON, sealed with the id: it may contain a link with a code.
  payload blob not null,
  created_at integer not null,
  due_at integer not null,
  attempts integer not null,
  -- A process works on it until then.
  claimed_until integer not null,
  last_error text,
  -- Attempts of unknown outcome: the message was sent to its end, and no reply has arrived. Reset when the server has rejected
  -- the message.
  handed_over integer not null default 0
) strict, without rowid;
create index outbox_due on outbox (queue, due_at);

-- Keys that sign access tokens.
create table signing_keys (
  kid text primary key,
  alg text not null,
  public_jwk text not null,
  -- Sealed with the kid.
  private_jwk blob not null,
  created_at integer not null,
  -- It signs from then on, until the next one does.
  activates_at integer not null,
  revoked_at integer
) strict, without rowid;

create table rate_limit_buckets (
  -- Keyed hash of what is counted: no email address and no client IP is stored here.
  bucket blob primary key,
  count integer not null,
  window_started_at integer not null,
  blocked_until integer not null,
  touched_at integer not null
) strict, without rowid;
create index rate_limit_buckets_touched on rate_limit_buckets (touched_at);

create table accounts (
  -- Only in the database: a join over an integer costs less than one over the id.
  pk integer primary key autoincrement,
  id text not null unique,
  -- person, service. The email address of a service account is its id, which equals no email address: the column is not null.
  kind text not null default 'person' check (kind in ('person', 'service')),
  -- As typed, in NFC: mail goes there.
  email text not null,
  -- The canonical email, which is compared.
  email_key text not null unique,
  -- PHC string.
  password_hash text not null,
  role text not null check (role in ('user', 'admin')),
  -- A session is valid only while it has the current epoch of the account.
  session_epoch integer not null,
  created_at integer not null,
  updated_at integer not null,
  disabled_at integer,
  -- How often a request to enable the account was acknowledged, also when it was enabled already. A disabling of unknown
  -- outcome is finished only while this is what it was when the disabling was requested.
  enabled_count integer not null default 0,
  -- Null: the email address is verified.
  unverified_since integer,
  -- When the sign-up began that created the account. Null: it was created in another way, or has been verified.
  signed_up_at integer,
  -- A restore has brought back an email address that had been changed: until the owner or an operator has confirmed it, no
  -- password reset is sent there. Null: nothing is to be confirmed.
  email_unconfirmed_since integer,
  -- 1: a session needs a second factor, also while none is enrolled.
  requires_second_factor integer not null default 0,
  -- The language of its mail, a BCP 47 tag; null until the sign-up or the account chooses it.
  language text,
  -- JSON in canonical form; null: no limits.
  limits text,
  -- The scopes that need an entitlement and that the keys of the account may have, separated by spaces; null: none.
  entitlements text,
  -- Increases with every change of the entitlements. A change of unknown outcome is repeated only while it is unchanged.
  entitlements_revision integer not null default 0,
  -- What the other system stated when the account was imported, as JSON (accounts/import-record.ts). Null for other accounts. A
  -- later import finds out with it what has changed there since, and whether the account has changed here.
  import_record text
) strict;
create index accounts_administrators on accounts (pk) where role = 'admin';
create index accounts_signed_up on accounts (signed_up_at) where signed_up_at is not null;
-- The recipes (scheme and parameters) of imported password hashes that wait for their first sign-in, for the work that a
-- sign-in with any email address has to match.
create index accounts_imported_hash on accounts (substr(password_hash, 1, instr(password_hash, ',keyid=') - 1))
  where substr(password_hash, 1, 10) = '$imported$';

create table service_accounts (
  account_pk integer primary key references accounts (pk) on delete cascade,
  name text not null,
  -- Chosen by the creator, for example the id of a tenant.
  external_id text,
  -- The account that created it; null after the deletion of that account.
  creator_pk integer references accounts (pk) on delete set null,
  created_at integer not null,
  -- Each change of the row or of its managers has a later time than the previous one.
  updated_at integer not null,
  unique (creator_pk, name)
) strict;
create unique index service_accounts_external_id on service_accounts (external_id, creator_pk)
  where external_id is not null;
-- Names that contain a joiner (U+200C, U+200D), without it: uniqueness ignores joiners.
create index service_accounts_joined on service_accounts
  (creator_pk, nullif(replace(replace(name, char(8204), ''), char(8205), ''), name))
  where nullif(replace(replace(name, char(8204), ''), char(8205), ''), name) is not null;

-- The accounts that manage a service account: people, and service accounts with a management key.
create table service_account_managers (
  service_pk integer not null references service_accounts (account_pk) on delete cascade,
  manager_pk integer not null references accounts (pk) on delete cascade,
  created_at integer not null,
  primary key (service_pk, manager_pk),
  check (service_pk <> manager_pk)
) strict, without rowid;
create index service_account_managers_manager on service_account_managers (manager_pk, created_at);

-- One-time codes, in a mail or shown once. A code works for its own purpose only.
create table one_time_codes (
  code_hash blob primary key,
  purpose text not null,
  -- Null for the code of the first administrator, who has no account yet.
  account_pk integer references accounts (pk) on delete cascade,
  -- The new email address of an email change.
  email text,
  email_key text,
  -- The password of the sign-up that the code was sent for.
  password_hash text,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
create index one_time_codes_account on one_time_codes (account_pk);
create index one_time_codes_expires on one_time_codes (expires_at);
-- The log of mail finds the account by the email address of a requested change.
create index one_time_codes_email on one_time_codes (email_key) where email_key is not null;

-- Changes from one verified email address to another, kept for 30 days: the previous email address can undo its change for a
-- week, and an administrator can restore it.
create table email_changes (
  account_pk integer not null references accounts (pk) on delete cascade,
  -- The previous email address.
  email text not null,
  email_key text not null,
  changed_at integer not null,
  -- The session epoch of the account after the change: it gives the order of changes.
  account_epoch integer not null,
  primary key (account_pk, account_epoch)
) strict, without rowid;
create index email_changes_changed on email_changes (changed_at);
create index email_changes_email on email_changes (email_key);

-- Mails that were handed to the mail server, or could not be, without their content.
create table mail_log (
  -- Of the job in the outbox, which exists while attempts follow.
  id text primary key,
  -- The account that has, had or requested the email address.
  account_pk integer not null references accounts (pk) on delete cascade,
  -- The recipient.
  email text not null,
  email_key text not null,
  -- The name of the template.
  purpose text not null,
  created_at integer not null,
  -- The last attempt.
  tried_at integer not null,
  attempt_count integer not null,
  -- When the mail server accepted it.
  delivered_at integer,
  -- Of the last attempt.
  failure text
) strict, without rowid;
create index mail_log_order on mail_log (created_at, id);
create index mail_log_email on mail_log (email_key, created_at, id);
create index mail_log_account on mail_log (account_pk, created_at, id);

create table second_factors (
  account_pk integer primary key references accounts (pk) on delete cascade,
  -- Of the authenticator app, sealed with the account's id. Null: passkeys alone.
  secret blob,
  created_at integer not null,
  -- Null while it is being enrolled.
  confirmed_at integer,
  -- The time step of the last accepted code: none up to it is accepted again (RFC 6238 section 5.2). 0 for passkeys alone.
  last_step integer not null,
  -- The secret of an authenticator app that is being enrolled beside passkeys, and the time at which that began.
  pending_secret blob,
  pending_at integer,
  -- When an authenticator app was added beside passkeys. Null: the app, if there is one, came with the row.
  app_added_at integer,
  -- Where the authenticator app was used: client IP ranges (/24 of IPv4, /48 of IPv6), separated by spaces. Undoing an email
  -- change keeps new credentials that were used from a range that was trusted before. Null: not used since, or only from unknown
  -- client IPs.
  used_from text
) strict;

create table recovery_codes (
  code_hash blob primary key,
  account_pk integer not null references accounts (pk) on delete cascade,
  created_at integer not null
) strict, without rowid;
create index recovery_codes_account on recovery_codes (account_pk);

-- Passkeys (WebAuthn). They refer to the second factor, so its removal removes them as well.
create table passkeys (
  id text primary key,
  account_pk integer not null references second_factors (account_pk) on delete cascade,
  credential_id blob not null unique,
  -- COSE_Key (RFC 9052).
  public_key blob not null,
  -- The signature counter of the last use. Always 0 for most passkeys that a password manager synchronises.
  counter integer not null,
  -- The relying party id that the authenticator has it for.
  rp_id text not null,
  -- Separated by commas: how browsers can reach the authenticator.
  transports text not null,
  -- 1 if it is backed up, and so possibly on several devices.
  backed_up integer not null,
  name text not null,
  created_at integer not null,
  last_used_at integer,
  -- As in second_factors.
  used_from text
) strict;
create index passkeys_account on passkeys (account_pk);

-- Challenges that a passkey has answered. Each works once. Unused challenges are not stored.
create table used_challenges (
  mac blob primary key,
  expires_at integer not null
) strict;
create index used_challenges_expiry on used_challenges (expires_at);

create table sessions (
  id text primary key,
  -- tokens: a session with refresh and access tokens. console: a session with a cookie, whose keyed hash is the token_hash.
  kind text not null default 'tokens',
  account_pk integer not null references accounts (pk) on delete cascade,
  account_epoch integer not null,
  created_at integer not null,
  -- When the person last proved the password or a passkey. Null: when the session was created.
  authenticated_at integer,
  -- Of the current refresh token, and when it became the current one.
  generation integer not null,
  token_hash blob not null,
  rotated_at integer not null,
  idle_expires_at integer not null,
  expires_at integer not null,
  -- The client IP and the user agent (shortened) of the sign-in.
  client_ip text not null default '',
  user_agent text not null default ''
) strict, without rowid;
create index sessions_account on sessions (account_pk, created_at);
create index sessions_expires on sessions (expires_at);

-- Single sign-on of administrators: identities at OpenID providers, each linked to one account.
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

-- The scope catalogue.
create table scopes (
  name text primary key,
  description text not null,
  -- 1: in force only on keys of accounts that have the scope as an entitlement.
  needs_entitlement integer not null,
  created_at integer not null,
  updated_at integer not null,
  -- A deleted scope is in force on no key, until it is declared again.
  deleted_at integer,
  -- Increases with every change. A change of unknown outcome is repeated only while the revision is unchanged.
  revision integer not null
) strict, without rowid;

create table api_keys (
  -- The first 53 bits of key_hash, and the order of the table: a verification finds the row in one descent over integers
  -- (docs/decisions/01-verification.md). key_hash decides.
  lookup integer primary key,
  key_hash blob not null,
  -- The lowest version of the rules that may judge the key (foundation/database/key-rules.ts): other programs reject it.
  rules integer not null default 1,
  -- The name of a further environment (KEYREEVE_ENVIRONMENTS); null: the first one.
  environment text,
  id integer not null unique,
  account_pk integer not null references accounts (pk) on delete cascade,
  nickname text not null,
  -- Separated by spaces.
  scopes text not null,
  -- 1: an administrator's account granted itself the key's scopes that begin with keyreeve:, so they count only while it is
  -- an administrator's. 0: an operator granted them, or there are none.
  scopes_need_role integer not null default 0,
  expires_at integer,
  created_at integer not null,
  updated_at integer not null,
  disabled_at integer,
  -- CIDR ranges in canonical form, separated by spaces; null: the key is valid from any IP address.
  addresses text,
  -- A JSON object of the owner, which a verification result contains; null: none.
  metadata text,
  -- JSON in canonical form; null: no limits.
  limits text,
  -- owner, administrator, dormant, restore; null if the key is not disabled.
  disabled_reason text,
  -- The prefix and the last four characters of the secret; null for imported keys.
  hint text,
  -- Increases with every change. A change of unknown outcome is repeated as a whole only while the revision is unchanged;
  -- afterwards, only its removal of rights is repeated.
  revision integer not null default 0,
  -- When the current secret was reported as leaked; null: not since the last rotation. The hash of the secret is then replaced
  -- by random bytes, and the key stays disabled until it is rotated.
  leaked_at integer,
  -- A JWK (RFC 7517) in canonical form; null: the key has a secret. lookup and key_hash are random otherwise.
  public_key text,
  -- The nickname as a search compares it (foundation/fold.ts). SQL cannot compute it: SQLite changes the case of ASCII letters only.
  folded text not null,
  unique (account_pk, nickname)
) strict;
create index api_keys_expiry on api_keys (expires_at / 86400000, account_pk, id) where expires_at is not null;
-- The last four characters of the hint, the last one first.
create index api_keys_hint on api_keys
  (substr(hint, -1, 1) || substr(hint, -2, 1) || substr(hint, -3, 1) || substr(hint, -4, 1), id) where hint is not null;
-- As service_accounts_joined.
create index api_keys_joined on api_keys
  (account_pk, nullif(replace(replace(nickname, char(8204), ''), char(8205), ''), nickname))
  where nullif(replace(replace(nickname, char(8204), ''), char(8205), ''), nickname) is not null;

-- Sequences of three characters of `folded`, by the id of the key. The table has no copy of the names, and no positions.
create virtual table api_key_names using fts5(folded, content = '', columnsize = 0, detail = none, tokenize = 'trigram case_sensitive 1');
-- The keys whose names the table above does not contain yet, or still contains. A creation or deletion that changed that table would
-- take a fifth longer; the service changes it later, for many keys at once.
create table api_key_names_queue (
  key_id integer primary key,
  -- The name that the table above contains; null: none.
  held text
) strict;
-- If the key is in the queue already, as after a restore, its row has the name that the table contains.
create trigger api_keys_named after insert on api_keys begin
  insert into api_key_names_queue (key_id) values (new.id) on conflict do nothing;
  end;
create trigger api_keys_unnamed after delete on api_keys begin
  insert into api_key_names_queue (key_id, held) values (old.id, old.folded) on conflict do nothing;
  end;
create trigger api_keys_refolded after update of folded on api_keys when old.folded <> new.folded begin
  insert into api_key_names_queue (key_id, held) values (old.id, old.folded) on conflict do nothing;
  end;

-- Previous secrets: after a rotation, the replaced secret of a key is valid until its expiry.
create table api_key_secrets (
  -- As in api_keys.
  lookup integer primary key,
  key_hash blob not null,
  key_id integer not null unique references api_keys (id) on delete cascade,
  expires_at integer not null,
  -- The last use of the key before the rotation; null: none is known. Later uses are in key_last_uses.
  last_used_at integer,
  -- The previous public key.
  public_key text
) strict;

-- Secrets that were issued for an assertion (RFC 7523).
create table short_lived_secrets (
  -- As in api_keys.
  lookup integer primary key,
  key_hash blob not null,
  key_id integer not null references api_keys (id) on delete cascade,
  -- The lookup of the public key that verified the assertion, in api_keys or api_key_secrets. The secret ends with it.
  issued_by integer not null,
  -- The claim jti of the assertion, which yields only one secret.
  assertion_id text not null,
  created_at integer not null,
  -- Earlier than planned for a secret that has been ended.
  expires_at integer not null,
  unique (key_id, assertion_id)
) strict;
create index short_lived_secrets_created on short_lived_secrets (created_at);
create index short_lived_secrets_live on short_lived_secrets (key_id, expires_at);

-- Secrets that have leaked, as api_keys.lookup: no key can get one of them again. Rows stay when the key is deleted.
create table leaked_secrets (
  lookup integer primary key,
  leaked_at integer not null
) strict;

-- Ids of deleted keys without an event: the retention has removed it after an import, or a restored backup lacks it. An
-- imported key derives its id from its hash: it must not be imported again.
create table deleted_keys (
  id integer primary key
) strict;

-- What `keyreeve apply` has created or found, for ever: an entry whose object does not exist was deleted, and is not created again.
create table applied_entries (
  -- Derives from the email address, the name or the SHA-256 of the entry. The id of an object that apply creates is the same.
  id text primary key,
  -- account, service_account, key, scope, webhook; null for a deletion that only the deletion journal has recorded.
  kind text,
  -- The id of the object, or the name of the scope.
  target text,
  -- 1: apply created the object. 0: it existed before.
  is_created integer not null,
  applied_at integer not null
) strict, without rowid;

-- One row: the file that was applied last. It is locked while a file is applied.
create table applied_file (
  id integer primary key check (id = 1),
  generation integer not null,
  -- SHA-256 of its content, 64 hexadecimal digits.
  digest text not null,
  applied_at integer not null
) strict;

-- The prefixes with which keys were created: of keys only hashes are stored, which do not show it.
create table key_prefixes (
  prefix text primary key,
  -- The environment whose new keys have the prefix; null: the first one.
  environment text
) strict, without rowid;

-- What instances have drawn of each limit. A row without a foreign key, so that a deletion does not wait for a draw; rows of
-- deleted keys and accounts are deleted later.
create table key_meters (
  -- The id of a key or an account.
  subject text not null,
  -- rate, quota
  kind text not null,
  -- Of a rate: the theoretical arrival time of the generic cell rate algorithm, in microseconds.
  tat integer not null default 0,
  -- Of a quota: what is drawn in the period.
  used integer not null default 0,
  -- Of a quota: a day (2026-11-22), a month (2026-11) or `ever`, in UTC.
  period text not null default '',
  primary key (subject, kind)
) strict, without rowid;

-- Used-up quotas that have their audit event. Not a column of key_meters: the transaction of the event would lock its row,
-- and draws would wait for it.
create table quota_notices (
  -- The id of a key or an account.
  subject text not null,
  -- As in key_meters.
  period text not null,
  -- The limit of the quota.
  quantity integer not null,
  primary key (subject, period, quantity)
) strict, without rowid;

-- Progress of the expiry notices: for each notice, the next day of expiry and the last processed key of that day. All keys
-- of a day are processed together, so that an account gets one mail for them.
create table expiry_notices (
  -- Days from the notice to the expiry: 14 or 3.
  days integer primary key,
  -- Day of expiry: days since 1970, in UTC.
  day integer not null,
  -- 0: no key of the day has been processed.
  account_pk integer not null,
  key_id integer not null
) strict;

create table webhook_endpoints (
  id text primary key,
  url text not null,
  -- JSON, with the previous secret while that is still valid. Sealed with the id.
  secret blob not null,
  -- Event names, separated by spaces.
  events text not null,
  created_at integer not null,
  updated_at integer not null,
  disabled_at integer,
  -- The results of its deliveries. Their times have a resolution of a minute.
  last_delivered_at integer,
  last_failed_at integer,
  last_failure text,
  -- The first failure after the last success. Null if the last attempt succeeded.
  failing_since integer
) strict, without rowid;

-- Up to which event of each chain of the audit log webhooks were published.
create table webhook_progress (
  chain integer primary key,
  position integer not null
) strict;

-- A delivery of an event to an endpoint, from its first attempt on. No foreign key: a deletion of an endpoint does not wait for
-- its deliveries, which housekeeping deletes.
create table webhook_deliveries (
  -- The id of the message, which an event has for this endpoint.
  id text primary key,
  endpoint_id text not null,
  -- The type of the event, for example account.created, and its time.
  type text not null,
  event_at integer not null,
  -- The place of the audit event.
  chain integer not null,
  position integer not null,
  -- The time of the first and of the last attempt.
  started_at integer not null,
  tried_at integer not null,
  -- 1 if the last attempt succeeded.
  delivered integer not null,
  -- All of them, and the last ones as a JSON array of [at, status, ms, error].
  attempt_count integer not null,
  attempts text not null
) strict;
create index webhook_deliveries_order on webhook_deliveries (endpoint_id, started_at, id);
create index webhook_deliveries_started on webhook_deliveries (started_at);
-- A cut of the audit log keeps the events of deliveries that can be replayed.
create index webhook_deliveries_event on webhook_deliveries (chain, position);
