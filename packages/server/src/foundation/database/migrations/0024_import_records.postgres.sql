-- compatible-from: 2
-- Records of imported accounts, on PostgreSQL; 0024_import_records.sql explains the column. No query needs statistics of it.
alter table accounts add column import_record text collate "C";
alter table accounts alter column import_record set statistics 0;
