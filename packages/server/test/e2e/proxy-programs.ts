/** The proxies with a configuration in `docs/forward-auth/`: commands, properties, and their responses when Keyreeve fails. */
import { join } from 'node:path';
import { readPage } from '../docs/shell-blocks.ts';
import type { Proxy } from './proxy-kit.ts';

export interface TestedProxy extends Proxy {
  /** `/orders` requires a scope. If false, the request to Keyreeve contains the client's path and query. */
  readonly hasRuleByPath: boolean;
  /** Removes dot segments and empty segments first; the others reject them. */
  readonly cleansPaths: boolean;
  /** The limit of bodies in the file; a larger one gets 413. */
  readonly bodyBytesMax?: number;
  /** Opens a connection to Keyreeve for most requests of concurrent clients, which its configuration cannot change. */
  readonly opensConnections?: boolean;
  /** The status if connections to Keyreeve are refused. */
  readonly whenUnreachable: number;
  /** The status if Keyreeve returns 503. */
  readonly whenUnavailable: number;
  /** The status if Keyreeve does not respond. */
  readonly whenSilent: number;
  /** The status after a 200 without identity headers, which Keyreeve never sends. */
  readonly whenIdentityMissing: number;
  /** With two Authorization lines: 400 if the proxy itself may reject them, otherwise Keyreeve's 401. */
  readonly twoAuthorizationLines: readonly number[];
}

/** The static configuration, in the first lines of the file. */
const flagsOfTraefik = readPage('docs/forward-auth/traefik.yml')
  .split('\n')
  .flatMap((line) => (line.startsWith('#') ? line.split(' ') : []))
  .filter((word) => word.startsWith('--entryPoints.'));

export const proxies: readonly TestedProxy[] = [
  {
    name: 'nginx',
    program: 'nginx',
    hasRuleByPath: true,
    cleansPaths: false,
    bodyBytesMax: 10 * 2 ** 20,
    files: ['nginx.conf'],
    // Its processes end with it.
    stopSignal: 'SIGTERM',
    args: (directory) => ['-p', directory, '-c', join(directory, 'nginx.conf'), '-g', 'daemon off;'],
    whenUnreachable: 503,
    whenUnavailable: 503,
    whenSilent: 503,
    whenIdentityMissing: 200,
    twoAuthorizationLines: [400, 401],
  },
  {
    name: 'Caddy',
    program: 'caddy',
    stopSignal: 'SIGKILL',
    hasRuleByPath: true,
    cleansPaths: false,
    files: ['Caddyfile'],
    args: (directory) => ['run', '--config', join(directory, 'Caddyfile'), '--adapter', 'caddyfile'],
    whenUnreachable: 502,
    whenUnavailable: 503,
    whenSilent: 504,
    whenIdentityMissing: 200,
    twoAuthorizationLines: [401],
  },
  {
    name: 'HAProxy',
    program: 'haproxy',
    stopSignal: 'SIGKILL',
    hasRuleByPath: true,
    cleansPaths: false,
    files: ['haproxy.cfg', 'keyreeve.lua'],
    args: (directory) => ['-C', directory, '-f', 'haproxy.cfg', '-db'],
    whenUnreachable: 503,
    whenUnavailable: 503,
    whenSilent: 503,
    whenIdentityMissing: 503,
    twoAuthorizationLines: [401],
  },
  {
    name: 'Traefik',
    program: 'traefik',
    stopSignal: 'SIGKILL',
    hasRuleByPath: true,
    cleansPaths: true,
    opensConnections: true,
    files: ['traefik.yml'],
    args: (directory, port) => [
      ...flagsOfTraefik.map((flag) => flag.replace('127.0.0.1:8080', `127.0.0.1:${port}`)),
      `--providers.file.filename=${join(directory, 'traefik.yml')}`,
      '--global.checkNewVersion=false',
    ],
    whenUnreachable: 500,
    whenUnavailable: 503,
    whenSilent: 500,
    whenIdentityMissing: 200,
    twoAuthorizationLines: [401],
  },
  {
    name: 'Envoy',
    program: 'envoy',
    stopSignal: 'SIGKILL',
    hasRuleByPath: false,
    cleansPaths: true,
    files: ['envoy.yaml'],
    args: (directory) => [
      '-c',
      join(directory, 'envoy.yaml'),
      '--concurrency',
      '2',
      '--use-dynamic-base-id',
      '--log-level',
      'warning',
    ],
    whenUnreachable: 503,
    whenUnavailable: 503,
    whenSilent: 503,
    whenIdentityMissing: 200,
    twoAuthorizationLines: [401],
  },
];

/** Of `npm test`; the extended lane runs the others. */
const areInProductLane = new Set(['nginx', 'Envoy']);
export const productProxies = proxies.filter(({ name }) => areInProductLane.has(name));
export const extendedProxies = proxies.filter(({ name }) => !areInProductLane.has(name));
