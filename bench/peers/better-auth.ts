/**
 * better-auth with its API-key plugin, set up as its documentation says (Installation; adapters SQLite and PostgreSQL;
 * plugins/api-key), without what would slow it: no rate limits, neither its own nor those of keys (ten uses a day by
 * default), no telemetry. Keys are in the database. Its other storage modes spare the read at most: with the database
 * behind a cache each verification writes the key's row all the same; with a cache alone it writes back what it has
 * read, and a deletion in between is undone (seen in 3 of 60 deletions under four clients).
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
