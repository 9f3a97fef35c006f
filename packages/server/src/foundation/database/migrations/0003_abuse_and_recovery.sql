-- compatible-from: 2
-- Abuse and recovery. Additive: the program of schema 2 works on the result, and ignores what it doesn't know.

-- How often a request to enable the account was acknowledged, also when it was enabled already. A disabling of unknown
-- outcome is finished only while this is what it was when the disabling was requested.
alter table accounts add column enabled_count integer not null default 0;

-- When the sign-up began that made the account. Null: it was made in another way, or has been verified.
alter table accounts add column signed_up_at integer;
update accounts set signed_up_at = unverified_since
where unverified_since is not null and password_hash = ''
  and exists (select 1 from audit_events e
    where e.account_id = accounts.id and e.action = 'account.created' and e.actor = 'system')
  and not exists (select 1 from audit_events e where e.account_id = accounts.id and e.action = 'account.invited');
create index accounts_signed_up on accounts (signed_up_at) where signed_up_at is not null;

-- The language of its mail, a BCP 47 tag; null until it is chosen by the sign-up or by the account.
alter table accounts add column language text;

-- 1: an administrator's account granted itself the key's scopes that begin with keyreeve:, so they count only while it is
-- an administrator's. 0: an operator granted them, or there are none.
alter table api_keys add column scopes_need_role integer not null default 0;

-- Changes from one verified email address to another, kept for 30 days: the address before can undo its change for a
-- week, and an administrator can restore it.
create table email_changes (
  -- Keyed hash of the code in the mail to the address before.
  code_hash blob primary key,
  account_pk integer not null references accounts (pk) on delete cascade,
  -- The address before.
  email text not null,
  email_key text not null,
  changed_at integer not null,
  -- The account's session epoch after the change: it gives the order of changes.
  account_epoch integer not null,
  -- Until when the code is good; 0: it is void, or nobody was sent it.
  undo_until integer not null
) strict, without rowid;
create index email_changes_account on email_changes (account_pk, account_epoch);
create index email_changes_changed on email_changes (changed_at);

-- Since a restore brought back an email address that had been changed: until the owner or an operator has confirmed it, no
-- password reset is sent there. Null: nothing is to be confirmed.
alter table accounts add column email_unconfirmed_since integer;

-- The recipes (scheme and parameters) of imported password hashes that wait for their first sign-in, for the work that a
-- sign-in with any email has to match.
create index accounts_imported_hash on accounts (substr(password_hash, 1, instr(password_hash, ',keyid=') - 1))
where substr(password_hash, 1, 10) = '$imported$';

-- The values of KEYREEVE_KEY_PREFIX with which keys were created: of keys only hashes are kept, which do not show it.
create table key_prefixes (
  prefix text primary key,
  first_used_at integer not null
) strict, without rowid;
