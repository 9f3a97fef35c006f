/**
 * Proxies with a host name of Keyreeve in place of its IP address follow a change of the name, without a restart. Each edit is what
 * docs/forward-auth.md tells the operator. Traefik uses the resolver of the system, which a test cannot replace.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../../test-kit/until.ts';
import { startKeyreeve } from './forward-auth-server.ts';
import { startNameServer } from './name-server.ts';
import { startTap } from './proxy-kit.ts';
import { proxies } from './proxy-programs.ts';
import { runChecks } from './proxy-run.ts';
import { bearer, type ProxySetup } from './proxy-setup.ts';
import { startedOnce } from './shared-keyreeve.ts';

/** The name and the port of Keyreeve, and the port of the DNS server. */
interface Names {
  readonly host: string;
  readonly port: number;
  readonly dns: number;
}

const cares = 'type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig';

const edits: Readonly<Record<string, (text: string, names: Names) => string>> = {
  nginx: (text, { host, port, dns }) =>
    text
      .replace('http {\n', `http {\n    resolver 127.0.0.1:${dns} valid=1s;\n`)
      .replaceAll('proxy_pass http://keyreeve/', `set $keyreeve ${host}:${port};\nproxy_pass http://$keyreeve/`),
  Caddy: (text, { host, port, dns }) =>
    text
      .replaceAll('forward_auth 127.0.0.1:8787', `forward_auth ${host}:${port}`)
      .replace('dial_timeout 2s', `dial_timeout 2s\nresolvers udp/127.0.0.1:${dns}`),
  HAProxy: (text, { host, port, dns }) =>
    text
      .replace('setenv KEYREEVE_ORIGIN http://127.0.0.1:8787', `setenv KEYREEVE_ORIGIN http://${host}:${port}`)
      .replace(
        'defaults\n',
        `resolvers default\n    nameserver test 127.0.0.1:${dns}\n    hold valid 1s\n\ndefaults\n`,
      ),
  Envoy: (text, { host, port, dns }) =>
    text.replace('address: 127.0.0.1, port_value: 8787', `address: ${host}, port_value: ${port}`).replace(
      'dns_lookup_family: ALL',
      `dns_lookup_family: ALL
      typed_dns_resolver_config:
        name: envoy.network.dns_resolver.cares
        typed_config:
          '@type': ${cares}
          resolvers: [{ socket_address: { address: 127.0.0.1, port_value: ${dns} } }]`,
    ),
};

const start = startedOnce(() => startKeyreeve());

void describe('a name of Keyreeve in the configurations in docs/forward-auth', { concurrency: true }, () => {
  for (const proxy of proxies) {
    const edit = edits[proxy.name];
    if (!edit) continue;
    void test(`${proxy.name} follows the name of Keyreeve to another address`, async (t) => {
      const keyreeve = await start();
      await using dns = await startNameServer('127.0.0.2');
      const first = await startTap(keyreeve.port, { host: '127.0.0.2' });
      const second = await startTap(keyreeve.port, { host: '127.0.0.3', port: first.port });
      const names = { host: 'keyreeve.test', port: first.port, dns: dns.port };
      const check = async (setup: ProxySetup): Promise<void> => {
        const isAccepted = async (): Promise<boolean> => {
          const { status } = await setup.send({ headers: [bearer(keyreeve.key.key)] });
          setup.backend.takeRequests();
          return status === 200;
        };
        await until('the proxy has resolved the name', isAccepted);
        assert.deepEqual([first.connections() > 0, second.connections()], [true, 0]);
        dns.pointTo('127.0.0.3');
        await first.refuse();
        await until('the proxy has resolved the name again', isAccepted);
        assert.ok(second.connections() > 0);
      };
      try {
        await runChecks(t, { ...proxy, edit: (text) => edit(text, names) }, keyreeve, {
          'after a change of its address': check,
        });
      } finally {
        await first.stop();
        await second.stop();
      }
    });
  }
});
