/** `keyreeve --url`: each command prints on a service what it prints on the database of the service. */
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { test } from 'node:test';
import type { Command } from 'commander';
import { testOnBoth } from '../../test-kit/app-on-each-database.ts';
import { operator } from '../../test-kit/new-app.ts';
import { until } from '../../test-kit/until.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { CliCommand } from '../../src/cli/command.ts';
import { createProgram } from '../../src/cli/program.ts';
import { manageScope } from '../../src/modules/api-keys/scopes.ts';
import type { Exit } from './program.ts';
import { assertRefused, email, newRemote } from './remote-kit.ts';

type Run<Output = Exit> = (...args: readonly string[]) => Promise<Output>;

/** The data of these commands differ: the API has no counts, no order by age and no chain of MACs. Other tests run them. */
const different = ['service-account list', 'service-account show', 'audit export'];
const ran = new Set<string>();

/** Also notes the command, for the rule at the end. */
const noting =
  (run: (args: readonly string[]) => Promise<Exit>): Run =>
  (...args) => {
    ran.add(args.slice(0, args[0] === 'overview' ? 1 : 2).join(' '));
    return run(args);
  };

testOnBoth('a command that reads prints the same bytes on the service and on its database', async () => {
  await using at = await newRemote({ KEYREEVE_SCOPES: 'catalogue' });
  const { apiKeys, scopeCatalogue, webhooks, entitlements, issuers } = at.app.service.services;
  // Otherwise the ids decide the order of the accounts.
  at.app.clock.advance({ seconds: 1 });
  const { id: user } = await at.app.createAccount('lara@example.com');
  await scopeCatalogue.set(operator, 'reports:read', { description: 'Read reports', entitled: true });
  await entitlements.set(operator, user, ['reports:read']);
  const request = {
    nickname: 'laptop',
    scopes: ['reports:read'],
    metadata: { plan: 'a', n: [1] },
    addresses: ['192.0.2.0/24'],
  };
  const key = String((await apiKeys.create(operator, user, request)).id);
  const hook = await webhooks.endpoints.create(operator, {
    url: 'https://example.com/hook',
    events: ['account.created'],
  });
  const issuer = await issuers.add(operator, null, { url: 'https://issuer.example.com' });
  await at.login();
  const [local, remote] = [noting(at.local), noting(at.remote)];
  const commands: readonly (readonly string[])[] = [
    ['account', 'list'],
    ['account', 'show', email],
    ['account', 'show', user],
    ['account', 'entitlements', 'LARA@example.com'],
    ['account', 'show', 'nobody@example.com'],
    ['account', 'show', 'acc_0000000000000000000000'],
    ['key', 'list', '--account', 'lara@example.com'],
    ['key', 'list', '--account', 'nobody@example.com'],
    ['key', 'show', key],
    ['key', 'show', key, '--account', email],
    ['key', 'show', '1'],
    ['key', 'show', 'abc'],
    ['key', 'usage', key, '--step', 'day'],
    ['key', 'usage', key, '--from', '2026-11-02T00:00:00Z', '--to', '2026-11-01T00:00:00Z'],
    ['scope', 'list'],
    ['session', 'list', email],
    ['session', 'list', 'lara@example.com'],
    ['signing-key', 'list'],
    ['issuer', 'list'],
    ['issuer', 'show', String(issuer.id)],
    ['issuer', 'show', 'abc'],
    ['webhook', 'list'],
    ['webhook', 'show', hook.id],
    ['webhook', 'show', 'whe_0000000000000000000000'],
  ];
  for (const command of commands)
    for (const args of [command, [...command, '--json']])
      assert.deepEqual(await remote(...args), await local(...args), args.join(' '));
  // The service and the command have the same hour, except when a minute begins between them.
  for (const args of [['overview'], ['overview', '--json']])
    await until(`${args.join(' ')} prints the same`, async () => {
      at.app.clock.advance({ seconds: (systemClock.now() - at.app.clock.now()) / 1_000 });
      return masked(await remote(...args)) === masked(await local(...args));
    });
});

testOnBoth('a command that changes something prints the same on the service and on its database', async () => {
  await using at = await newRemote();
  for (const name of ['lara', 'rita']) await at.app.createAccount(`${name}@example.com`);
  await at.login();
  const onDatabase = await play(noting(at.local), 'lara', ['--manager', email]);
  // The clock of the service stands still, and the signing key of the database is newer.
  at.app.clock.advance({ seconds: 120 });
  const onService = await play(noting(at.remote), 'rita', []);
  assert.deepEqual(onService, onDatabase);
});

/** Runs all changes. @param name of everything that they create @returns what was printed, without what differs from run to run */
async function play(run: Run, name: string, manager: readonly string[]): Promise<string[]> {
  const printed: string[] = [];
  const step = async (...args: readonly string[]): Promise<string> => {
    const exit = await run(...args);
    printed.push(`${args[0]} ${args[1]}: ${masked(exit).replaceAll(name, 'NAME')}`);
    return exit.stdout;
  };
  const owner = `${name}@example.com`;
  const account = (...args: readonly string[]): Promise<string> =>
    step('account', args[0] ?? '', owner, ...args.slice(1));
  for (const change of ['disable', 'enable', 'require-second-factor', 'waive-second-factor', 'remove-second-factor']) {
    await account(change);
    await account(change, '--json');
  }
  await account('set-role', 'admin');
  await account('set-role', 'user', '--json');
  await account('set-limits', '--rate', '600/minute', '--quota', '1000/day');
  await account('set-limits', '--clear-rate', '--json');
  await account('set-email', 'not-an-email');
  await step('scope', 'set', `${name}:read`, '--description', 'Read', '--entitled');
  await step('scope', 'set', `${name}:read`, '--no-entitled', '--json');
  await account('entitlements', '--set', `${name}:read`);
  await account('entitlements', '--clear', '--json');
  await step('scope', 'delete', `${name}:read`);
  await step('scope', 'delete', `${name}:none`, '--json');
  await step('session', 'end', owner, 'ses_0000000000000000000000');
  await step('session', 'end', owner, '--all');
  const hook = idIn(
    await step('webhook', 'create', `https://${name}.invalid/`, '--event', 'account.created'),
    /whe_\w+/,
  );
  await step('webhook', 'change', hook, '--new-url', `https://${name}.invalid/2`);
  await step('webhook', 'change', hook, '--event', 'account.deleted', '--json');
  await step('webhook', 'change', hook);
  for (const verb of ['disable', 'enable', 'rotate-secret', 'test', 'delete', 'delete'])
    await step('webhook', verb, hook);
  await step('webhook', 'create', `https://${name}.invalid/`, '--event', 'account.created', '--json');
  await step('webhook', 'create', 'http://example.com/', '--event', 'account.created');
  const issuer = idIn(await step('issuer', 'add', `https://${name}.invalid`), /\d{10,}/);
  await step('issuer', 'add', `https://${name}.invalid`, '--json');
  await step('issuer', 'change', issuer, '--lifetime', '900', '--algorithm', 'ES256', '--list-claim', '/groups');
  await step('issuer', 'change', issuer, '--replay', 'once', '--json');
  await step('issuer', 'refresh', issuer, '--json');
  await keysWithTrust(step, name);
  await step('issuer', 'remove', issuer);
  await step('issuer', 'remove', issuer, '--yes');
  await step('issuer', 'remove', issuer, '--yes', '--json');
  await step('program', 'add', name, '--name', 'A tool', '--scope', 'orders:read', '--lifetime', '90d');
  await step('program', 'add', name, '--name', 'A tool', '--json');
  await step('program', 'list', '--json');
  await step('program', 'show', name);
  await step('program', 'change', name, '--lifetime', '12h', '--clear-scopes');
  await step('program', 'change', name, '--name', 'Another tool', '--json');
  await step('program', 'remove', name);
  await step('program', 'remove', name, '--yes');
  await step('program', 'remove', name, '--delete-keys', '--yes', '--json');
  const create = ['key', 'create', '--account', email, '--nickname', `${name} 1`] as const;
  const key = idIn(await step(...create, '--scope', 'orders:read', '--expires-at', '2099-01-01T00:00:00Z'), /\d{10,}/);
  await step(...create, '--json');
  await step('key', 'create', '--account', email, '--nickname', `${name} 2`, '--json');
  await step('key', 'change', key, '--address', '192.0.2.1', '--rate', '5/second');
  await step('key', 'change', key, '--nickname', `${name} 3`, '--metadata', '{"a":1}', '--clear-scopes', '--json');
  await step('key', 'change', key, '--disable');
  await step('key', 'change', key, '--disable');
  await step('key', 'rotate', key);
  await step('key', 'rotate', key);
  await step('key', 'rotate', key, '--overlap', '60', '--end-previous', '--json');
  await step('key', 'end-previous', key);
  await step('key', 'end-previous', key, '--json');
  await step('key', 'delete', key, '--yes');
  await step('key', 'delete', key, '--yes', '--json');
  await step('key', 'delete', '--account', email, '--nickname', `${name} 2`, '--yes', '--json');
  const backend = idIn(await step('service-account', 'create', name, ...manager), /acc_\w+/);
  const service = (verb: string, ...args: readonly string[]): Promise<string> =>
    step('service-account', verb, backend, ...args);
  await service('change', '--name', `${name} b`, '--external-id', name);
  await service('change', '--clear-external-id', '--json');
  await service('add-manager', owner);
  await service('remove-manager', owner, '--json');
  await service('remove-manager', owner);
  await step('key', 'create', '--account', backend, '--nickname', 'worker');
  await service('delete');
  await service('delete', '--yes');
  await service('delete', '--yes', '--json');
  await step('signing-key', 'rotate', '--now');
  await step('signing-key', 'rotate', '--now', '--json');
  await account('delete');
  await account('delete', '--yes');
  await account('delete', '--yes', '--json');
  return printed;
}

/** Of an issuer that the caller has declared, and of GitHub. */
async function keysWithTrust(step: Run<string>, name: string): Promise<void> {
  const github = idIn(await step('issuer', 'add', 'https://token.actions.githubusercontent.com'), /\d{10,}/);
  const ofBranch = ['--github-repository-id', '4711', '--ref', 'refs/heads/main'] as const;
  const trustOf = (sub: string): string => JSON.stringify({ issuer: `https://${name}.invalid`, claims: { sub } });
  const create = (nickname: string, ...args: readonly string[]): Promise<string> =>
    step('key', 'create', '--account', email, '--nickname', `${name} ${nickname}`, ...args);
  await create('a', ...ofBranch, '--json');
  const key = idIn(await create('b', '--trust', trustOf('a'), '--scope', 'orders:read'), /\d{10,}/);
  await create('c', '--ref', 'refs/heads/main');
  await create('c', '--trust', '{');
  await create('c', '--trust', JSON.stringify({ issuer: `https://${name}.invalid`, claims: { name: 'a' } }));
  await create('c', '--trust', JSON.stringify({ issuer: 'https://unknown.invalid', claims: { sub: 'a' } }));
  await create('c', '--trust', trustOf('a'), '--scope', 'keyreeve:verify');
  await step('key', 'show', key);
  await step('key', 'rotate', key);
  await step('key', 'rotate', key, '--trust', trustOf('a'));
  await step('key', 'rotate', key, '--trust', trustOf('b'));
  await step('key', 'end-previous', key);
  await step('key', 'rotate', key, ...ofBranch, '--overlap', '0', '--json');
  await step('issuer', 'show', github);
  await step('issuer', 'remove', github, '--yes');
  await step('key', 'show', key, '--json');
}

const idIn = (text: string, id: RegExp): string => id.exec(text)?.[0] ?? assert.fail(text);

const masked = ({ status, stdout, stderr }: Exit): string =>
  `${stdout}${stderr}[${status}]`
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<TIME>')
    // The public URL. On the database, the command has no port.
    .replaceAll(/http:\/\/localhost:\d+/g, '<PUBLIC-URL>')
    .replaceAll(/\b(?:acc|whe|ins)_[0-9A-Za-z]{22}\b/g, '<ID>')
    .replaceAll(/whsec_[\w+/]+=/g, '<SECRET>')
    .replaceAll(/krv_[0-9A-Za-z]{49}/g, '<KEY>')
    .replaceAll(/krv_…[0-9A-Za-z]{4}/g, '<HINT>')
    .replaceAll(/\b[1-9]\d{9,15}\b/g, '<KEY-ID>')
    .replaceAll(/(?<=Created |"kid":")[\w-]{22}(?=, which|")/g, '<KID>');

test('the tests above run every command that works on a service', () => {
  const remote = leavesOf(createProgram(() => undefined))
    .filter(([, command]) => command.remoteUse === 'administrator' || command.remoteUse === 'management_key')
    .map(([path]) => path);
  assert.deepEqual(
    remote.filter((path) => !ran.has(path)),
    different,
  );
});

const leavesOf = (command: Command, path = ''): [string, CliCommand][] =>
  command.commands.flatMap((child) => {
    const name = `${path}${child.name()}`;
    if (child.commands.length > 0) return leavesOf(child, `${name} `);
    return child instanceof CliCommand ? [[name, child] as [string, CliCommand]] : [];
  });

testOnBoth('an administrator reads service accounts and the audit log of a service', async () => {
  await using at = await newRemote();
  await at.login();
  const created = await at.remote(['service-account', 'create', 'backend', '--external-id', 'tenant_182', '--json']);
  assert.equal(created.stderr, '');
  const { id, createdAt } = JSON.parse(created.stdout) as { id: string; createdAt: string };
  const listed = await at.remote(['service-account', 'list', '--external-id', 'tenant_182', '--json']);
  const members = { id, name: 'backend', externalId: 'tenant_182', creatorId: at.accountId, createdAt };
  assert.deepEqual(JSON.parse(listed.stdout), [{ ...members, disabledAt: null }]);
  const shown = await at.remote(['service-account', 'show', id, '--json']);
  const { managers, ...rest } = JSON.parse(shown.stdout) as { managers: { email: string }[] };
  assert.deepEqual(rest, { ...members, disabledAt: null, keys: 0 });
  assert.deepEqual(
    managers.map((manager) => manager.email),
    [email],
  );
  const exported = await at.remote(['audit', 'export', '--account', id]);
  assert.equal(exported.stderr, '');
  const events = exported.stdout.trimEnd().split('\n');
  const actors = events.map((line) => {
    const { action, actor } = JSON.parse(line) as { action: string; actor: string };
    return `${action} ${actor}`;
  });
  assert.ok(actors.includes(`service_account.created account:${at.accountId}`), actors.join());
});

testOnBoth('a management key manages the keys of its service accounts, and nothing else', async () => {
  await using at = await newRemote();
  const { id: person } = await at.app.createAccount('owner@example.com');
  const { secret } = await at.app.service.services.apiKeys.create(operator, person, {
    nickname: 'backend',
    scopes: [manageScope],
  });
  const file = at.writeKey(secret.reveal());
  const run = (...args: readonly string[]): Promise<Exit> => at.remote([...args, '--key-file', file]);
  const json = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const exit = await run(...args, '--json');
    assert.deepEqual([exit.status, exit.stderr], [0, ''], args.join(' '));
    return JSON.parse(exit.stdout) as Record<string, unknown>;
  };
  const id = String((await json('service-account', 'create', 'tenant', '--external-id', 't1'))['id']);
  assert.equal((await json('service-account', 'show', id))['name'], 'tenant');
  assert.equal((await json('service-account', 'change', id, '--name', 'tenant 1'))['name'], 'tenant 1');
  assert.match((await run('service-account', 'list')).stdout, /tenant 1 +t1 +not known\n1 service account\n$/);
  const created = await json('key', 'create', '--account', id, '--nickname', 'worker', '--scope', 'orders:read');
  assert.deepEqual([created['scopes'], created['environment']], [['orders:read'], null]);
  const key = String(created['id']);
  const named = [key, '--account', id];
  assert.equal((await json('key', 'show', ...named))['nickname'], 'worker');
  assert.equal((await json('key', 'change', ...named, '--nickname', 'w2'))['nickname'], 'w2');
  assert.match(String((await json('key', 'rotate', ...named))['key']), /^krv_/);
  assert.equal((await json('key', 'end-previous', ...named))['previousEnded'], true);
  assert.equal((await run('key', 'usage', ...named)).status, 0);
  const digest = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
  assert.equal(
    (await json('key', 'create', '--account', id, '--nickname', 'old', '--sha256', digest))['key'],
    undefined,
  );
  assert.equal((await json('key', 'delete', ...named, '--yes'))['deleted'], true);
  assert.match((await run('key', 'list', '--account', id)).stdout, /old[^]*\n1 key\n$/);
  const github = 'https://token.actions.githubusercontent.com';
  await at.app.service.services.issuers.add(operator, null, { url: github });
  const ofBranch = ['--github-repository-id', '4711', '--ref', 'refs/heads/main'];
  const deploy = String((await json('key', 'create', '--account', id, '--nickname', 'deploy', ...ofBranch))['id']);
  const claimsOf = async () => (await json('key', 'show', deploy, '--account', id))['trust'] as { claims: object };
  assert.deepEqual((await claimsOf()).claims, { '/ref': 'refs/heads/main', '/repository_id': '4711' });
  const next = JSON.stringify({ issuer: github, claims: { repository_id: '4712' } });
  await json('key', 'rotate', deploy, '--account', id, '--trust', next, '--overlap', '0');
  assert.deepEqual((await claimsOf()).claims, { '/repository_id': '4712' });
  // Without the service account, the API cannot find a key; and the owner of the key is no service account.
  assert.match((await run('key', 'show', key)).stderr, /name the service account of the key: --account <id>/);
  assert.match((await run('key', 'list', '--account', person)).stderr, /You manage no service account with this id/);
  const both = ['--rate', '5/second', '--quota', '10/day'];
  const limits = { rate: { limit: 5, windowSeconds: 1, burst: 5 }, quota: { limit: 10, per: 'day' } };
  assert.deepEqual((await json('account', 'set-limits', id, ...both))['limits'], limits);
  assert.match((await run('account', 'set-limits', id, '--clear-rate')).stderr, /with --key-file, name both limits/);
  assert.deepEqual(await json('account', 'entitlements', id, '--clear'), { id, entitlements: [] });
  assert.match((await run('account', 'entitlements', id)).stderr, /add --set or --clear/);
  assert.match((await run('account', 'list')).stderr, /unknown option '--key-file'/);
  assert.equal((await json('service-account', 'delete', id, '--yes'))['deleted'], true);
  const piped = await at.remote(['service-account', 'list', '--key-file', '-'], `${secret.reveal()}\n`);
  assert.equal(piped.stdout.split('\n').at(-2), '0 service accounts');
  chmodSync(file, 0o644);
  assertRefused(await run('service-account', 'list'), 64, /the file \S+ can be read by others; it must have mode 0600/);
});
