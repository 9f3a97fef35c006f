-- compatible-from: 2
-- Sessions of the console. Additive. An earlier program accepts only refresh tokens, which such a session does not have.

-- tokens: a session with refresh and access tokens. console: a session with a cookie, whose keyed hash is the token_hash.
alter table sessions add column kind text not null default 'tokens';
-- When the person last proved the password or a passkey. Null: when the session was created.
alter table sessions add column authenticated_at integer;
