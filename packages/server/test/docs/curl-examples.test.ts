/** The curl commands of the API reference, run as they stand: each is a request that its route understands. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import {
  allRoutes,
  errors,
  type ErrorCode,
  type OAuthError,
  type Problem,
  type RouteContract,
} from '@keyreeve/contract';
import { issueCredential, newCanaryApp } from '../../test-kit/canary-credentials.ts';
import { program } from '../../test-kit/device-client.ts';
import { bearer, goodPassword, operator, type TestApp } from '../../test-kit/new-app.ts';
import { githubSettings, publishedVector } from '../../test-kit/github.ts';
import { optionalRoutes } from '../../test-kit/optional-routes.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { ConsoleClient } from '../../test-kit/console-client.ts';
import { newAdministrator } from '../../test-kit/administrators.ts';
import { newPortalBackend } from '../../test-kit/portal.ts';
import { newBackend } from '../../test-kit/service-accounts.ts';
import { hasCurl } from './curl-program.ts';

const run = promisify(execFile);

/** The page with the list of operations, and those of all groups. */
async function readReference(app: TestApp): Promise<string> {
  const { text } = await app.call('GET', '/docs/api');
  const names = new Set([...text.matchAll(/href="(api\/[\w-]+)/g)].map(([, name = '']) => name));
  const pages = await Promise.all([...names].map((name) => app.call('GET', `/docs/${name}`)));
  return [text, ...pages.map((page) => page.text)].join('\n');
}

/** The command that the pages show for a route, and what the first one sets before it. */
function commandsOf(page: string): { readonly variables: string; readonly commands: ReadonlyMap<string, string> } {
  const text = (html: string): string =>
    html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  const commands = new Map<string, string>();
  for (const [, id = '', article = ''] of page.matchAll(/<article aria-labelledby="([\w-]+)">([^]*?)<\/article>/g)) {
    const [, command] = /<pre><code>(curl [^]*?)<\/code><\/pre>/.exec(article) ?? [];
    if (command !== undefined) commands.set(id, text(command));
  }
  return { variables: text(/<pre><code>(BASE_URL=[^]*?)<\/code><\/pre>/.exec(page)?.[1] ?? ''), commands };
}

/** A caller of the kind that the route needs, whom no other command has changed. Only what the command names is created. */
async function environmentOf(
  app: TestApp,
  { auth }: RouteContract,
  command: string,
  keys: Readonly<Record<'SERVICE_KEY' | 'MANAGEMENT_KEY' | 'CANARY_CREDENTIAL', string>>,
): Promise<Record<string, string>> {
  const portal = command.includes('$PORTAL_SECRET') ? await (await newPortalBackend(app)).open() : undefined;
  const environment = {
    BASE_URL: app.url,
    PASSWORD: goodPassword,
    ...keys,
    ...(portal && { PORTAL_SECRET: portal.secret }),
  };
  if (!/\$(?:ACCESS_TOKEN|CONSOLE_COOKIE|API_KEY)\b/.test(command)) return environment;
  const caller = auth === 'administrator' ? await newAdministrator(app) : await app.signIn();
  const headers = bearer(caller.accessToken);
  const created = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'mine' } });
  return {
    ...environment,
    ACCESS_TOKEN: caller.accessToken,
    API_KEY: (created.json as { key: string }).key,
    ...(command.includes('$CONSOLE_COOKIE')
      ? { CONSOLE_COOKIE: await consoleCookieOf(app, caller.account.email) }
      : {}),
  };
}

async function consoleCookieOf(app: TestApp, email: string): Promise<string> {
  const client = new ConsoleClient(app);
  await client.signIn(email);
  return `kr_s=${client.cookie}`;
}

/** Nothing of the kind exists, or the credential in the body is only an example: the request itself is right. */
const isUnderstood = (route: RouteContract, code: ErrorCode): boolean => {
  const { status } = errors[code];
  const isExampleCredential =
    (route.auth === 'refresh_token' && code === 'invalid_refresh_token') ||
    (route.auth === 'one_time_code' && (code === 'code_invalid' || code === 'portal_token_invalid')) ||
    code === 'invalid_grant' ||
    code === 'passkey_invalid' ||
    code === 'passkey_rejected' ||
    code === 'invalid_signature';
  // No OpenID provider listens at the issuer of `optionalRoutes`.
  const isWithoutProvider = code === 'identity_provider_unavailable';
  return (
    route.errors.includes(code) &&
    (status === 404 || status === 409 || code === 'signup_closed' || isExampleCredential || isWithoutProvider)
  );
};

test('every curl command of the API reference runs as it stands, and its route understands it', async (t) => {
  if (!hasCurl(t)) return;
  using folder = newTempFolder();
  const environment = { ...optionalRoutes, ...githubSettings(folder.path, publishedVector) };
  await using app = await newCanaryApp({ environment });
  await app.createAccount('ada@example.com');
  await app.service.services.programs.add(operator, program);
  const keys = {
    SERVICE_KEY: await app.serviceKey(),
    MANAGEMENT_KEY: (await newBackend(app)).key,
    CANARY_CREDENTIAL: (await issueCredential(app)).secret,
  };
  const { variables, commands } = commandsOf(await readReference(app));
  const names = [...variables.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
  assert.equal(commands.size, allRoutes.length);
  const misunderstood: string[] = [];
  const succeeded = new Set<string>();
  for (const route of allRoutes) {
    const command = commands.get(route.id.toLowerCase()) ?? '';
    for (const [, name] of command.matchAll(/\$(\w+)/g)) assert.ok(names.includes(name), `${route.id} $${name}`);
    const env = { PATH: process.env['PATH'] ?? '', ...(await environmentOf(app, route, command, keys)) };
    const { stdout } = await run('/bin/sh', ['-euc', `${command} -s -w '\\n%{http_code}'`], { env });
    const [, body = '', status = ''] = /^([^]*)\n(\d{3})$/.exec(stdout) ?? [];
    if (Number(status) === route.success.status) {
      succeeded.add(route.id);
      continue;
    }
    const problem = JSON.parse(body) as Problem | OAuthError;
    const code = 'code' in problem ? problem.code : problem.error;
    if (!isUnderstood(route, code)) misunderstood.push(`${route.id} ${status} ${body}\n${command}`);
  }
  assert.deepEqual(misunderstood, []);
  const mustSucceed = ['issueTokens', 'createKey', 'listKeys', 'forward', 'verify', 'verifyBatch', 'introspect'];
  assert.deepEqual(
    mustSucceed.filter((id) => !succeeded.has(id)),
    [],
  );
});
