/**
 * Fills a database for oidc-provider: one token created through its model, and copies of that row with other tokens. Writes
 * a pool for the load generator.
 */
import { randomBytes } from 'node:crypto';
import { writePool } from '../request.ts';
import { analyze, closeDatabase, multiplyRow, openDatabase } from './database.ts';
import { client, createProvider } from './oidc-provider.ts';

interface SeedOptions {
  readonly databaseUrl: string;
  readonly tokens: number;
  readonly poolPath: string;
}

const options = JSON.parse(process.argv[2] ?? '{}') as SeedOptions;
const database = openDatabase(options.databaseUrl);
const provider = await createProvider(database);
const owner = await provider.Client.find(client.id);
if (!owner) throw new Error('the client is missing');
const template = await new provider.ClientCredentials({ client: owner, scope: 'read' }).save();
const sample = await provider.ClientCredentials.adapter.find(template);
// 256 bits in base64url, as oidc-provider creates them.
const texts = Array.from({ length: options.tokens }, () => randomBytes(32).toString('base64url'));
const rows = texts.map((text) => [text, JSON.stringify({ ...sample, jti: text })]);
await multiplyRow(database, { table: 'oidc_models', id: template }, ['id', 'payload'], rows);
await analyze(database);
console.log(JSON.stringify({ tokens: writePool(options.poolPath, texts), client: `${client.id}:${client.secret}` }));
await closeDatabase(database);
