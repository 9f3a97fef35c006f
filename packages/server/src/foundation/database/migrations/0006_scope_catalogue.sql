-- compatible-from: 2
-- The scope catalogue and the entitlements of accounts. Additive. An earlier program ignores both.

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

-- The scopes that need an entitlement and that the keys of the account may have, separated by spaces; null: none.
alter table accounts add column entitlements text;
-- As in scopes.
alter table accounts add column entitlements_revision integer not null default 0;
