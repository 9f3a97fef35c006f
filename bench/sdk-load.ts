/**
 * A client program that verifies credentials in closed loops: with the client library, or with one request for each over
 * `node:http`. It runs as a separate process and prints one JSON line.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { Keyreeve } from '../packages/client/src/node.ts';
import type { Pool } from './request.ts';

export interface SdkLoadOptions {
  readonly port: number;
  readonly serviceKey: string;
  readonly keys: Pool;
  readonly how: 'library' | 'one request each';
  /** Verifications in progress. */
  readonly loops: number;
  readonly seconds: number;
}

const { port, serviceKey, keys, how, loops, seconds } = JSON.parse(process.argv[2] ?? '{}') as SdkLoadOptions;
const records = readFileSync(keys.path, 'latin1');
const count = records.length / keys.recordBytes;
const url = `http://127.0.0.1:${port}`;

const agent = new Agent({ keepAlive: true });
const headers = { Authorization: `Bearer ${serviceKey}`, 'Content-Type': 'application/json' };

const ask = (credential: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({ credential });
    const length = { 'Content-Length': Buffer.byteLength(body) };
    const sent = request(`${url}/auth/verify`, { agent, method: 'POST', headers: { ...headers, ...length } });
    sent.on('error', reject).on('response', (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (part: string) => (text += part))
        .on('end', () => resolve((JSON.parse(text) as { valid: boolean }).valid));
    });
    sent.end(body);
  });

const client = new Keyreeve({ url, serviceKey });
const verify = how === 'library' ? async (text: string) => (await client.verify(text)).valid : ask;

const latencies: number[] = [];
let failures = 0;
const startedAt = performance.now();

async function loop(): Promise<void> {
  while (performance.now() - startedAt < seconds * 1000) {
    const start = Math.floor(Math.random() * count) * keys.recordBytes;
    const credential = records.slice(start, start + keys.recordBytes).trim();
    const sentAt = performance.now();
    if (!(await verify(credential).catch(() => false))) failures++;
    latencies.push(performance.now() - sentAt);
  }
}

await Promise.all(Array.from({ length: loops }, loop));
const took = (performance.now() - startedAt) / 1000;
latencies.sort((a, b) => a - b);
const quantile = (q: number): number => latencies[Math.floor(latencies.length * q)] ?? Number.NaN;
const result = {
  requests: latencies.length,
  seconds: took,
  perSecond: latencies.length / took,
  failures,
  msP50: quantile(0.5),
  msP99: quantile(0.99),
};
console.log(JSON.stringify(result));
process.exit();
