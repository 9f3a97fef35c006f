/** The programs that `docs/forward-auth/` has a configuration for: how each is started, and what its clients get when Keyreeve fails. */
import { join } from 'node:path';
import type { Proxy } from './proxy-kit.ts';

export interface TestedProxy extends Proxy {
  /** `/orders` needs a scope. Otherwise the client's path and query are part of the request to Keyreeve. */
  readonly hasRuleByPath: boolean;
  /** Removes dot segments and empty segments before everything else; the others reject them. */
  readonly cleansPaths: boolean;
  /** The file bounds bodies; a larger one is answered 413. */
  readonly bodyBytesMax?: number;
  /** What the client gets while nothing listens where Keyreeve should be. */
  readonly whenUnreachable: number;
  /** What the client gets when Keyreeve answers 503. */
  readonly whenUnavailable: number;
  /** What the client gets when Keyreeve takes the question and never answers. */
  readonly whenSilent: number;
  /** What the client gets when something answers 200 without the identity headers, as Keyreeve never does. */
  readonly whenNobodyIsNamed: number;
  /** 400 where the proxy itself may refuse a second Authorization line, before Keyreeve answers 401. */
  readonly twoAuthorizationLines: readonly number[];
}

export const proxies: readonly TestedProxy[] = [
  {
    name: 'nginx',
    program: 'nginx',
    hasRuleByPath: true,
    cleansPaths: false,
    bodyBytesMax: 10 * 2 ** 20,
    files: ['nginx.conf'],
    args: (directory) => ['-p', directory, '-c', join(directory, 'nginx.conf'), '-g', 'daemon off;'],
    whenUnreachable: 503,
    whenUnavailable: 503,
    whenSilent: 503,
    whenNobodyIsNamed: 200,
    twoAuthorizationLines: [400, 401],
  },
  {
    name: 'Caddy',
    program: 'caddy',
    hasRuleByPath: true,
    cleansPaths: false,
    files: ['Caddyfile'],
    args: (directory) => ['run', '--config', join(directory, 'Caddyfile'), '--adapter', 'caddyfile'],
    whenUnreachable: 502,
    whenUnavailable: 503,
    whenSilent: 504,
    whenNobodyIsNamed: 200,
    twoAuthorizationLines: [401],
  },
  {
    name: 'HAProxy',
    program: 'haproxy',
    hasRuleByPath: true,
    cleansPaths: false,
    files: ['haproxy.cfg', 'keyreeve.lua'],
    args: (directory) => ['-C', directory, '-f', 'haproxy.cfg', '-db'],
    whenUnreachable: 503,
    whenUnavailable: 503,
    whenSilent: 503,
    whenNobodyIsNamed: 503,
    twoAuthorizationLines: [401],
  },
  {
    name: 'Traefik',
    program: 'traefik',
    hasRuleByPath: true,
    cleansPaths: true,
    files: ['traefik.yml'],
    args: (directory, port) => [
      `--entryPoints.web.address=127.0.0.1:${port}`,
      ...['Slash', 'BackSlash', 'NullCharacter', 'Semicolon', 'Percent', 'QuestionMark', 'Hash'].map(
        (name) => `--entryPoints.web.http.encodedCharacters.allowEncoded${name}=false`,
      ),
      `--providers.file.filename=${join(directory, 'traefik.yml')}`,
      '--global.checkNewVersion=false',
    ],
    whenUnreachable: 500,
    whenUnavailable: 503,
    whenSilent: 500,
    whenNobodyIsNamed: 200,
    twoAuthorizationLines: [401],
  },
  {
    name: 'Envoy',
    program: 'envoy',
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
    whenNobodyIsNamed: 200,
    twoAuthorizationLines: [401],
  },
];
