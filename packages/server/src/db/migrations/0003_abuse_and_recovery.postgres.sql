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
