/** Unchanged OAuth clients get a short-lived secret, or sign a person in as a device, and use what they get until its key is deleted. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { test as testOnce } from 'node:test';
import { OAuth2Server } from 'oauth2-mock-server';
import { jwtBearerGrant, tokenExchangeGrant, tokenTypes, type CreatedKey } from '@keyreeve/contract';
import { goEnvironment, runGo, skip as skipGo } from '../../../go/test/go.ts';
import { skip as skipPython } from '../../../python/test/python.ts';
import { test } from '../../test-kit/app-on-each-database.ts';
import { newDeviceClient, program as declared } from '../../test-kit/device-client.ts';
import { FakeClock } from '../../test-kit/fake-clock.ts';
import { freePort } from '../../test-kit/free-port.ts';
import { newIdentityIssuer } from '../../test-kit/identity-issuer.ts';
import { addIssuer } from '../../test-kit/issuers.ts';
import { bearer, newApp, type TestApp } from '../../test-kit/new-app.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { tlsPath } from '../../test-kit/tls.ts';
import { until } from '../../test-kit/until.ts';
import {
  goFolder,
  libraries,
  useAuthlib,
  useGo,
  type ClientRequest,
  type OauthClient,
} from './oauth-clients/clients.ts';
import {
  signInWithAuthlib,
  signInWithGo,
  signInWithOpenidClient,
  type DeviceProgram,
} from './oauth-clients/device-clients.ts';

/** An issuer over HTTPS. */
interface Issuer extends AsyncDisposable {
  readonly url: string;
  /** @param audience the public URL of the service */
  readonly token: (audience: string) => Promise<string>;
}

/** Of each token, as GitHub has it. */
const claims = { repository_id: '4711' };

async function startOwnIssuer(clock: FakeClock): Promise<Issuer> {
  const issuer = await newIdentityIssuer({ clock });
  return {
    url: issuer.url,
    token: (audience) => Promise.resolve(issuer.token('github', { audience, claims })),
    [Symbol.asyncDispose]: () => issuer[Symbol.asyncDispose](),
  };
}

async function startMockServer(clock: FakeClock): Promise<Issuer> {
  const server = new OAuth2Server(tlsPath('server.key'), tlsPath('server.crt'));
  await server.issuer.keys.generate('RS256');
  await server.start(await freePort(), 'localhost');
  const tokenOf = (aud: string): Promise<string> => {
    const iat = Math.floor(clock.now() / 1_000);
    const own = { ...claims, aud, iat, nbf: iat, exp: iat + 300, jti: randomBytes(16).toString('hex') };
    return server.issuer.buildToken({ scopesOrTransform: (_, all) => void Object.assign(all, own) });
  };
  return { url: server.issuer.url ?? '', token: tokenOf, [Symbol.asyncDispose]: () => server.stop() };
}

type Credentials = Pick<ClientRequest, 'clientSecret' | 'parameters'>;

/** Runs the client until the key is deleted, and once more. @returns the outcome after the deletion */
async function outcomeAfterDeletion(
  app: TestApp,
  client: OauthClient,
  creation: { readonly path: string; readonly json: object },
  credentialsOf: (key: CreatedKey) => Promise<Credentials>,
): Promise<unknown> {
  const headers = bearer((await app.signIn()).accessToken);
  const created = await app.call('POST', creation.path, { headers, json: creation.json });
  assert.equal(created.status, 201, created.text);
  const key = created.json as CreatedKey;
  const run = async () =>
    client({
      issuer: app.service.publicUrl,
      tokenUrl: new URL('/auth/oauth/token', app.url).href,
      resourceUrl: new URL('/auth/forward', app.url).href,
      clientId: String(key.id),
      ...(await credentialsOf(key)),
    });
  assert.deepEqual(await run(), { status: 200 });
  const deleted = await app.call('DELETE', `/auth/api-keys/${key.id}`, { headers });
  assert.equal(deleted.status, 200, deleted.text);
  return run();
}

async function checkClientCredentials(client: OauthClient): Promise<void> {
  await using app = await newApp();
  const creation = { path: '/auth/api-keys', json: { nickname: 'ci' } };
  const credentials = ({ key }: CreatedKey): Promise<Credentials> =>
    Promise.resolve({ clientSecret: key, parameters: {} });
  assert.deepEqual(await outcomeAfterDeletion(app, client, creation, credentials), { error: 'invalid_client' });
}

/** The forms of an exchange, and the error of each for a token that is not accepted. */
const exchanges: readonly {
  readonly error: string;
  readonly parameters: (token: string) => Readonly<Record<string, string>>;
}[] = [
  { error: 'invalid_grant', parameters: (assertion) => ({ grant_type: jwtBearerGrant, assertion }) },
  {
    error: 'invalid_request',
    parameters: (token) => ({
      grant_type: tokenExchangeGrant,
      subject_token: token,
      subject_token_type: tokenTypes.jwt,
    }),
  },
];

async function checkExchanges(client: OauthClient, start: (clock: FakeClock) => Promise<Issuer>): Promise<void> {
  const clock = new FakeClock();
  await using issuer = await start(clock);
  const environment = { KEYREEVE_ISSUER_TARGETS: new URL(issuer.url).host, KEYREEVE_ISSUER_CA: tlsPath('server.crt') };
  await using app = await newApp({ clock, environment });
  await addIssuer(app.db, { url: issuer.url, preset: 'github' });
  const creation = { path: '/auth/api-keys/public', json: { nickname: 'ci', trust: { issuer: issuer.url, claims } } };
  for (const { error, parameters } of exchanges) {
    const credentials = async (): Promise<Credentials> => ({
      parameters: parameters(await issuer.token(app.service.publicUrl)),
    });
    assert.deepEqual(await outcomeAfterDeletion(app, client, creation, credentials), { error });
  }
}

function testClient(
  name: string,
  skip: string | false,
  use: (check: (client: OauthClient) => Promise<void>) => Promise<void>,
): void {
  test(`${name} gets a secret for the id and the secret of a key, until its deletion`, { skip }, () =>
    use(checkClientCredentials),
  );
  test(`${name} exchanges a token of an issuer, until the deletion of the key`, { skip }, () =>
    use((client) => checkExchanges(client, startOwnIssuer)),
  );
  test(`${name} exchanges a token of oauth2-mock-server, until the deletion of the key`, { skip }, () =>
    use((client) => checkExchanges(client, startMockServer)),
  );
}

for (const [name, client] of Object.entries(libraries)) testClient(name, false, (check) => check(client));

testClient('Authlib', skipPython, (check) => check(useAuthlib));

/** Go and the module of the client, which the tests do not download. */
const hasModule = (): boolean =>
  spawnSync('go', ['list', '-deps', '.'], { cwd: goFolder, env: goEnvironment }).status === 0;
const skipClient =
  skipGo || (process.env['CI'] !== 'true' && !hasModule() && 'the module of oauth-clients is not there: not tried');

async function withGo(check: (program: string) => Promise<void>): Promise<void> {
  using folder = newTempFolder();
  const program = join(folder.path, 'client');
  const { status, output } = await runGo(['build', '-o', program, '.'], goFolder);
  assert.equal(status, 0, output);
  await check(program);
}

testClient('golang.org/x/oauth2', skipClient, (check) => withGo((program) => check(useGo(program))));

const answered = 'http.server.response.finish';

/** Counts the responses of the token endpoint in this process. */
function countTokenResponses(): { readonly count: () => number } & Disposable {
  let count = 0;
  const add = (message: unknown): void => {
    if ((message as { request: IncomingMessage }).request.url === '/auth/oauth/token') count++;
  };
  subscribe(answered, add);
  return { count: () => count, [Symbol.dispose]: () => void unsubscribe(answered, add) };
}

/** Approves for one client and denies for another, after the first poll of each. Both keep the interval of the service. */
async function checkDevice(client: DeviceProgram): Promise<void> {
  await using at = await newDeviceClient();
  using polls = countTokenResponses();
  const signIn = (decide: (userCode: string) => Promise<unknown>): Promise<unknown> =>
    client(
      {
        issuer: at.app.service.publicUrl,
        deviceUrl: new URL('/auth/oauth/device', at.app.url).href,
        tokenUrl: new URL('/auth/oauth/token', at.app.url).href,
        resourceUrl: new URL('/auth/forward', at.app.url).href,
        clientId: declared.id,
        scope: 'orders:read',
      },
      async (userCode) => {
        await until('both clients have polled', () => polls.count() >= 2);
        await decide(userCode);
      },
    );
  const deny = async (code: string): Promise<void> => {
    const { id } = await at.lookUp(code);
    const denied = await at.send(`${id}/deny`, { code });
    assert.equal(denied.status, 200, denied.text);
  };
  const outcomes = [signIn((code) => at.approve(code)), signIn(deny)];
  assert.deepEqual(await Promise.all(outcomes), [{ status: 200 }, { error: 'access_denied' }]);
}

for (const [name, skip, use] of [
  ['openid-client', false, (check) => check(signInWithOpenidClient)],
  ['Authlib', skipPython, (check) => check(signInWithAuthlib)],
  ['golang.org/x/oauth2', skipClient, (check) => withGo((program) => check(signInWithGo(program)))],
] as const satisfies [string, string | false, (check: (client: DeviceProgram) => Promise<void>) => Promise<void>][])
  testOnce(`${name} signs a person in as a device, and gets access_denied if the person denies`, { skip }, () =>
    use(checkDevice),
  );
