/** Which hosts the admin listener serves metrics to. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { AdminHosts } from '../metrics/admin-hosts.ts';
import { assertProblem, fromWire } from '../../../test-kit/assert-problem.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { newApp } from '../../../test-kit/new-app.ts';
import { ask, head } from '../../../test-kit/raw-http.ts';

test('metrics are served under IP addresses, local names and configured names only', () => {
  const names = { adminNames: ['node1.Example.com.'], machine: 'Node1.example.net' };
  const local = new AdminHosts({ adminHost: '127.0.0.1', ...names });
  const network = new AdminHosts({ adminHost: '0.0.0.0', ...names });
  const named = new AdminHosts({ adminHost: 'metrics.example.org', ...names });
  const everywhere = [
    '127.0.0.1',
    '127.0.0.1:8788',
    '10.0.0.11:8788',
    '[::1]:8788',
    '[2001:DB8::1]',
    'localhost:8788',
    'LOCALHOST',
    'localhost.',
    'a.localhost:8788',
    'node1.example.com:8788',
    'NODE1.example.net',
  ];
  const inNetworks = ['keyreeve:8788', 'keyreeve-admin.login.svc', 'keyreeve-admin.login.svc.cluster.local:8788'];
  const nowhere = [
    undefined,
    '',
    ':8788',
    'attacker.example',
    'attacker.example:8788',
    '127.0.0.1.attacker.example',
    'localhost.attacker.example',
    'notlocalhost.example',
    'svc.example',
    'keyreeve.svc.attacker.example',
    'sub.node1.example.com',
    'node1.example.com.attacker.example',
    '127.0.0.1, attacker.example',
    '127.0.0.1@attacker.example',
    '127.0.0.1:8788:attacker.example',
    '[::1',
    '[attacker.example]:8788',
    'metrics.example.org:8788',
  ];
  const permitted = (hosts: AdminHosts) =>
    [...everywhere, ...inNetworks, ...nowhere].filter((host) => hosts.permits(host));
  assert.deepEqual(permitted(local), everywhere);
  assert.deepEqual(permitted(network), [...everywhere, ...inNetworks]);
  assert.deepEqual(permitted(named), [...everywhere, ...inNetworks, 'metrics.example.org:8788']);
});

test('a page of another site cannot read metrics by DNS rebinding; health has no check', async () => {
  await using app = await newApp({ environment: { KEYREEVE_ADMIN_NAMES: 'metrics.example.com' } });
  const get = (path: string, ...lines: readonly string[]) =>
    ask(app.service.adminUrl, head(`GET ${path} HTTP/1.1`, ...lines));
  const { host } = new URL(app.service.adminUrl);
  for (const name of [host, 'localhost:8788', hostname(), 'metrics.example.com:8788']) {
    const { status, body } = await get('/metrics', `Host: ${name}`);
    assert.deepEqual([status, body.includes('keyreeve_')], [200, true], name);
  }
  for (const name of ['attacker.example', 'attacker.example:8788', 'keyreeve:8788']) {
    for (const [path, code] of [
      ['/metrics', 'not_found'],
      ['/metrics?x', 'not_found'],
      [`http://${host}/metrics`, 'malformed_request'],
    ] as const) {
      const answer = await get(path, `Host: ${name}`, `X-Forwarded-Host: ${host}`);
      assertProblem(fromWire(answer), code, `${name} ${path}`);
      assert.ok(!answer.body.includes('keyreeve_'));
    }
    assert.equal((await get('/health/live', `Host: ${name}`)).status, 200, name);
  }
});
