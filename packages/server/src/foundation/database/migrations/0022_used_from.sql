-- compatible-from: 2
-- Where credentials were used: client IP ranges (/24 of IPv4, /48 of IPv6), separated by spaces. Undoing an email change keeps new
-- credentials that were used from a range that was trusted before. Null: not used since, or only from unknown client IPs.
alter table passkeys add column used_from text;
-- Of the authenticator app.
alter table second_factors add column used_from text;
-- When an authenticator app was added beside passkeys. Null: the app, if there is one, came with the row.
alter table second_factors add column app_added_at integer;
-- Of the current secret or public key, since the key was created, changed or rotated, and for 14 days after that.
alter table api_keys add column used_from text;
