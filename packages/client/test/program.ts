/** The test program of this library: starts guards and verifies credentials, as packages/conformance/README.md describes. */
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { createInterface } from 'node:readline';
import { Client } from '../src/client.ts';
import { openFetchTransport } from '../src/fetch-transport.ts';
import type { CheckOptions } from '../src/check.ts';
import { manage } from './management-scenario.ts';
import { openNodeTransport } from '../src/node-transport.ts';
import type { VerifyOptions } from '../src/question.ts';
import { applications } from './applications.ts';
import { ManualTimers } from './manual-timers.ts';

interface Line {
  readonly id: number;
  readonly guard?: GuardLine;
  readonly moveClock?: { readonly url: string; readonly ms: number };
  readonly management?: { readonly url: string; readonly managementKey: string };
  readonly credential?: string;
  readonly options?: VerifyOptions;
}

interface GuardLine {
  readonly framework: string;
  readonly url: string;
  readonly serviceKey: string;
  readonly options: CheckOptions;
}

const overFetch = ' over fetch';
const { KEYREEVE_URL: url, KEYREEVE_SERVICE_KEY: serviceKey, KEYREEVE_TRANSPORT: transport } = process.env;
const open = transport === 'fetch' ? openFetchTransport : openNodeTransport;
const client = url === undefined || serviceKey === undefined ? undefined : new Client({ url, serviceKey }, open);
/** By the URLs of the guarded applications. */
const timersOfGuards = new Map<string, ManualTimers>();

async function handle({ guard, moveClock, management, credential = '', options }: Line): Promise<object> {
  if (guard) return { url: await startGuard(guard) };
  if (moveClock) {
    timersOfGuards.get(moveClock.url)?.move(moveClock.ms);
    return {};
  }
  if (management) return { transcript: await manage(management) };
  if (!client) throw new Error('KEYREEVE_URL and KEYREEVE_SERVICE_KEY are not set');
  try {
    return { result: await client.verify(credential, options) };
  } catch (error) {
    return { unavailable: String(error) };
  }
}

async function startGuard(guard: GuardLine): Promise<string> {
  const start = applications[guard.framework.replace(overFetch, '')];
  if (!start) throw new Error(`no framework ${guard.framework}`);
  const timers = new ManualTimers();
  const openGuard = guard.framework.endsWith(overFetch) ? openFetchTransport : openNodeTransport;
  const server = await start(new Client(guard, openGuard, timers), guard.options);
  const guarded = `http://127.0.0.1:${(await listening(server)).port}`;
  timersOfGuards.set(guarded, timers);
  return guarded;
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
