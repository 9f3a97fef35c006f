/**
 * better-auth with its API-key plugin, set up as its documentation says (Installation; adapters SQLite and PostgreSQL;
 * plugins/api-key), with nothing on that would slow it: no rate limits, neither its own nor those of keys (ten a day by
 * default), no telemetry. No secondary storage: it would keep keys in a cache, and a deleted key would stay valid
 * wherever one still holds it.
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
