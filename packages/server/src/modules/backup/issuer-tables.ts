/** Tables of issuers of identity tokens. Part of the list in tables.ts. */
import type { Table } from './table.ts';

export const issuerTables: readonly Table[] = [
  {
    name: 'issuers',
    key: 'id',
    columns: {
      id: 'integer',
      account_pk: 'integer',
      url: 'text',
      preset: 'text',
      algorithms: 'text',
      lifetime_seconds: 'integer',
      replay: 'text',
      id_claims: 'text',
      list_claims: 'text',
      jwks: 'text',
      version: 'integer',
      refreshes: 'integer',
      created_at: 'integer',
      updated_at: 'integer',
    },
    isInBackup: true,
  },
  // After a restore, tokens from before it are not accepted by issuers that accept each token once.
  {
    name: 'used_tokens',
    key: ['issuer_id', 'token'],
    columns: { issuer_id: 'integer', token: 'bytes', expires_at: 'integer' },
    isInBackup: false,
  },
];
