-- compatible-from: 2
-- Abuse and recovery on PostgreSQL; what the columns mean stands in 0003_abuse_and_recovery.sql.

alter table accounts add column enabled_count bigint not null default 0;

alter table accounts add column signed_up_at bigint;
update accounts set signed_up_at = unverified_since
where unverified_since is not null and password_hash = ''
  and exists (select 1 from audit_events e
    where e.account_id = accounts.id and e.action = 'account.created' and e.actor = 'system')
  and not exists (select 1 from audit_events e where e.account_id = accounts.id and e.action = 'account.invited');
create index accounts_signed_up on accounts (signed_up_at) where signed_up_at is not null;

alter table accounts add column language text;

alter table api_keys add column scopes_need_role bigint not null default 0;

create table email_changes (
  code_hash bytea primary key,
  account_pk bigint not null references accounts (pk) on delete cascade,
  email text not null,
  email_key text collate "C" not null,
  changed_at bigint not null,
  account_epoch bigint not null,
  undo_until bigint not null
);
create index email_changes_account on email_changes (account_pk, account_epoch);
create index email_changes_changed on email_changes (changed_at);

alter table accounts add column email_unconfirmed_since bigint;

create index accounts_imported_hash on accounts ((substr(password_hash, 1, strpos(password_hash, ',keyid=') - 1)))
where substr(password_hash, 1, 10) = '$imported$';

create table key_prefixes (
  prefix text primary key,
  first_used_at bigint not null
);
