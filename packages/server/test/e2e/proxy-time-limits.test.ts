/**
 * The time limits of responses and streams in the configurations of `docs/forward-auth/`, as the programs print them.
 * proxy-silence.extended.test.ts waits with all proxies.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../../test-kit/free-port.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { readPage } from '../docs/shell-blocks.ts';
import { envoyOfEnvoyGateway, envoyOfGatewayApi, envoyOfIstio } from './kubernetes-envoy.ts';
import { installedProgram, startProxy } from './proxy-kit.ts';
import { withGrpc } from './proxy-grpc.ts';
import { proxies, type TestedProxy } from './proxy-programs.ts';

test('nginx ends a response or a stream only after 24 hours without a byte', (t) => {
  const nginx = installedProgram(t, 'nginx');
  if (nginx === undefined) return;
  using folder = newTempFolder();
  const text = withGrpc({ backend: 9000, nginx: 8081 })(readPage('docs/forward-auth/nginx.conf'));
  writeFileSync(join(folder.path, 'nginx.conf'), text);
  const { status, stdout, stderr } = spawnSync(nginx, ['-T', '-p', folder.path, '-c', 'nginx.conf'], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const [before = '', , after] = stdout.split(/(?=location \/_keyreeve\/ \{)|(?=# The status 429 must)/);
  const limits = [...`${before}${after}`.matchAll(/^ *(\w*(?:read|send|body)_timeout) +(\w+);$/gm)];
  assert.deepEqual(Object.fromEntries(limits.map(([, name, value]) => [name, value])), {
    proxy_read_timeout: '24h',
    proxy_send_timeout: '24h',
    send_timeout: '24h',
    grpc_read_timeout: '24h',
    grpc_send_timeout: '24h',
    client_body_timeout: '24h',
  });
  // No location has another one.
  assert.equal(limits.length, 6);
});

test('HAProxy ends a response or a stream only after 24 hours without a byte', () => {
  const limits = [...readPage('docs/forward-auth/haproxy.cfg').matchAll(/^ *timeout +(\S+) +(\w+)$/gm)];
  assert.deepEqual(Object.fromEntries(limits.map(([, name, value]) => [name, value])), {
    connect: '2s',
    'http-request': '10s',
    client: '24h',
    server: '24h',
    tunnel: '24h',
  });
});

interface Manager {
  readonly stream_idle_timeout?: string;
  readonly request_timeout?: string;
  readonly common_http_protocol_options?: Record<string, unknown>;
}

interface RouteAction {
  readonly cluster?: string;
  readonly timeout?: string;
  readonly idle_timeout?: string;
  readonly max_stream_duration?: unknown;
}

/** @returns all objects in a value that have this member */
function objectsWith(value: unknown, member: string): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = member in value ? [value as Record<string, unknown>] : [];
  return [...own, ...Object.values(value).flatMap((each) => objectsWith(each, member))];
}

const envoy = proxies.find(({ name }) => name === 'Envoy') as TestedProxy;

for (const { file, toEnvoy, silence } of [
  { file: 'envoy.yaml', toEnvoy: withGrpc({ backend: 9000, nginx: 0 }), silence: '86400s' },
  { file: 'kubernetes/envoy-gateway.yaml', toEnvoy: envoyOfEnvoyGateway, silence: '86400s' },
  { file: 'kubernetes/istio.yaml', toEnvoy: envoyOfIstio, silence: '86400s' },
  // The API has no field for it, which the page states.
  { file: 'kubernetes/gateway-api.yaml', toEnvoy: envoyOfGatewayApi, silence: undefined },
]) {
  const ended = silence === undefined ? 'no response' : 'no response, and a silent stream after a day only,';
  test(`Envoy with ${file} ends ${ended} by a time limit`, async (t) => {
    const program = installedProgram(t, 'envoy');
    if (program === undefined) return;
    const adminPort = await freePort();
    const admin = { address: { socket_address: { address: '127.0.0.1', port_value: adminPort } } };
    const withAdmin = (text: string): string => {
      const config = toEnvoy(text);
      return config.startsWith('{')
        ? JSON.stringify({ ...(JSON.parse(config) as object), admin })
        : `${config}\nadmin: ${JSON.stringify(admin)}\n`;
    };
    const proxy: TestedProxy = {
      ...envoy,
      files: [file],
      args: (directory, port) =>
        envoy.args(directory, port).map((arg) => arg.replace('envoy.yaml', file.replace(/.*\//, ''))),
    };
    const running = await startProxy(
      proxy,
      program,
      { keyreeve: await freePort(), backend: await freePort() },
      withAdmin,
    );
    try {
      const { configs } = (await (await fetch(`http://127.0.0.1:${adminPort}/config_dump`)).json()) as {
        configs: { '@type': string }[];
      };
      const dump = configs.find((each) => each['@type'].endsWith('.ListenersConfigDump'));
      const [manager, ...more] = objectsWith(dump, 'stat_prefix') as Manager[];
      assert.ok(manager && more.length === 0);
      assert.equal(manager.stream_idle_timeout, silence);
      assert.equal(manager.request_timeout, undefined);
      const { max_stream_duration, max_connection_duration } = manager.common_http_protocol_options ?? {};
      assert.deepEqual([max_stream_duration, max_connection_duration], [undefined, undefined]);
      const routes = objectsWith(dump, 'route').map(({ route }) => route as RouteAction);
      assert.deepEqual(
        routes.map(({ cluster }) => cluster),
        file === 'envoy.yaml' ? ['grpc_backend', 'backend'] : ['backend'],
      );
      for (const { cluster, timeout, idle_timeout, max_stream_duration: longest } of routes)
        assert.deepEqual(
          { timeout, idle_timeout, longest },
          { timeout: '0s', idle_timeout: undefined, longest: undefined },
          String(cluster),
        );
    } finally {
      await running.stop();
    }
  });
}
