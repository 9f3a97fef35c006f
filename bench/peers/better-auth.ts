/**
 * better-auth with its API-key plugin, configured according to its documentation (Installation; adapters SQLite and
 * PostgreSQL; plugins/api-key). Features that would slow it are off: its rate limits, those of keys (ten uses a day by
 * default) and telemetry. Keys are in the database. Its other storage modes save at most the read: with a cache in front of
 * the database, each verification still writes the key's row. With a cache alone, a verification writes back the row that it
 * read, which undoes a deletion in between (3 of 60 deletions with four clients).
 */
import { apiKey } from '@better-auth/api-key';
import { betterAuth } from 'better-auth';
import type { PeerDatabase } from './database.ts';

export const baseUrl = 'http://localhost:3000';

export const createAuth = (database: PeerDatabase) =>
  betterAuth({
    baseURL: baseUrl,
    secret: 'a secret of the benchmark, 32 characters and more',
    database: database.kind === 'sqlite' ? database.sqlite : database.pool,
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    plugins: [apiKey({ rateLimit: { enabled: false } })],
  });
