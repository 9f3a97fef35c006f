-- compatible-from: 2
-- PostgreSQL copies values of a column into its statistics, where they outlive the deletion of the row. No query needs statistics of
-- sealed values. A change of the type, also to the same one, removes the statistics that exist, without a rewrite of the table.
alter table root_keys alter column wrapped type bytea, alter column wrapped set statistics 0;
alter table second_factors
  alter column secret type bytea, alter column secret set statistics 0,
  alter column pending_secret type bytea, alter column pending_secret set statistics 0;
alter table webhook_endpoints alter column secret type bytea, alter column secret set statistics 0;
alter table signing_keys alter column private_jwk type bytea, alter column private_jwk set statistics 0;
alter table outbox alter column payload type bytea, alter column payload set statistics 0;
