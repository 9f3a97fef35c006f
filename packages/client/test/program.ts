/** The test program of this library: starts guards and verifies credentials, as packages/conformance/README.md describes. */
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { createInterface } from 'node:readline';
import type { VerifyOptions } from '../src/question.ts';
import { Keyreeve } from '../src/node.ts';
import { Keyreeve as FetchKeyreeve } from '../src/fetch.ts';
import type { GuardOptions } from '../src/guard.ts';
import { applications } from './applications.ts';

interface Line {
  readonly id: number;
  readonly guard?: {
    readonly framework: string;
    readonly url: string;
    readonly serviceKey: string;
    readonly options: GuardOptions;
  };
  readonly credential?: string;
  readonly options?: VerifyOptions;
}

const { KEYREEVE_URL: url, KEYREEVE_SERVICE_KEY: serviceKey, KEYREEVE_TRANSPORT: transport } = process.env;
const Chosen = transport === 'fetch' ? FetchKeyreeve : Keyreeve;
const client = url === undefined || serviceKey === undefined ? undefined : new Chosen({ url, serviceKey });

async function handle({ guard, credential = '', options }: Line): Promise<object> {
  if (guard) {
    const start = applications[guard.framework];
    if (!start) throw new Error(`no framework ${guard.framework}`);
    const server = await start(new Chosen(guard), guard.options);
    return { url: `http://127.0.0.1:${(await listening(server)).port}` };
  }
  if (!client) throw new Error('KEYREEVE_URL and KEYREEVE_SERVICE_KEY are not set');
  try {
    return { result: await client.verify(credential, options) };
  } catch (error) {
    return { unavailable: String(error) };
  }
}

async function listening(server: Server): Promise<AddressInfo> {
  if (!server.listening) await once(server, 'listening');
  return server.address() as AddressInfo;
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (text) => {
  const line = JSON.parse(text) as Line;
  void handle(line).then((reply) => process.stdout.write(`${JSON.stringify({ id: line.id, ...reply })}\n`));
});
lines.on('close', () => process.exit());
