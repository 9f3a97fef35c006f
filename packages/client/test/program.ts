/** The test program of this library: starts guards and verifies credentials, as packages/conformance/README.md describes. */
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { createInterface } from 'node:readline';
import { Client } from '../src/client.ts';
import { openFetchTransport } from '../src/fetch-transport.ts';
import type { CheckOptions } from '../src/check.ts';
import { deviceLogout, type DeviceLogoutOptions } from '../src/device-login.ts';
import { Logins, type LoginLine } from './program-logins.ts';
import {
  ExchangedSecrets,
  githubToken,
  googleToken,
  KeyreeveError,
  tokenFromFile,
  type IdentityToken,
} from '../src/exchange.ts';
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
  readonly exchange?: ExchangeLine;
  readonly secret?: { readonly source: string };
  readonly drop?: { readonly source: string; readonly secret: string };
  readonly deviceLogin?: LoginLine;
  readonly deviceLogout?: DeviceLogoutOptions;
  readonly waits?: { readonly login: string };
  readonly key?: { readonly login: string };
  readonly cancel?: { readonly login: string };
  readonly credential?: string;
  readonly options?: VerifyOptions;
}

interface GuardLine {
  readonly framework: string;
  readonly url: string;
  readonly serviceKey: string;
  readonly options: CheckOptions;
}

interface ExchangeLine {
  readonly url: string;
  readonly keyId?: number;
  readonly audience?: string;
  readonly token: readonly [kind: string, place: string];
}

const overFetch = ' over fetch';
const { KEYREEVE_URL: url, KEYREEVE_SERVICE_KEY: serviceKey, KEYREEVE_TRANSPORT: transport } = process.env;
const open = transport === 'fetch' ? openFetchTransport : openNodeTransport;
const client = url === undefined || serviceKey === undefined ? undefined : new Client({ url, serviceKey }, open);
/** By the URLs of the guarded applications, and the names of the sources. */
const timersOf = new Map<string, ManualTimers>();
const sources = new Map<string, ExchangedSecrets>();
const logins = new Logins(timersOf);

async function handle({ guard, moveClock, management, credential = '', options, ...line }: Line): Promise<object> {
  if (guard) return { url: await startGuard(guard) };
  if (moveClock) {
    timersOf.get(moveClock.url)?.move(moveClock.ms);
    return {};
  }
  if (line.exchange) return { source: startExchange(line.exchange) };
  if (line.secret) return secretOf(sources.get(line.secret.source));
  if (line.drop) {
    sources.get(line.drop.source)?.drop(line.drop.secret);
    return {};
  }
  if (line.deviceLogin) return { login: logins.start(line.deviceLogin) };
  if (line.deviceLogout) return deviceLogout(line.deviceLogout).then(() => ({}), failureOf);
  if (line.waits) return { waits: timersOf.get(line.waits.login)?.waits() };
  if (line.key) return logins.outcome(line.key.login).catch(failureOf);
  if (line.cancel) {
    logins.cancel(line.cancel.login);
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
  timersOf.set(guarded, timers);
  return guarded;
}

const tokenFunctions: Readonly<Record<string, (place: string) => IdentityToken>> = {
  file: tokenFromFile,
  github: (place) => {
    process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] = place;
    process.env['ACTIONS_ID_TOKEN_REQUEST_TOKEN'] = 'request-token';
    return githubToken;
  },
  google: (host) => {
    process.env['GCE_METADATA_HOST'] = host;
    return googleToken;
  },
};

function startExchange({ token: [kind, place], ...options }: ExchangeLine): string {
  const identityToken = tokenFunctions[kind]?.(place);
  if (!identityToken) throw new Error(`no function for ${kind}`);
  const timers = new ManualTimers();
  const source = `source ${sources.size}`;
  sources.set(source, new ExchangedSecrets({ ...options, identityToken }, timers));
  timersOf.set(source, timers);
  return source;
}

async function secretOf(source: ExchangedSecrets | undefined): Promise<object> {
  try {
    return { secret: await source?.secret() };
  } catch (error) {
    return failureOf(error);
  }
}

function failureOf(error: unknown): object {
  const { message } = error as Error;
  if (!(error instanceof KeyreeveError)) return { failure: { message } };
  return { failure: { message, status: error.status, code: error.code } };
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
