/** TLS and sign-in at mail servers, and messages that state what an operator can change. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { jwtVerify } from 'jose';
import { AccessTokens } from '../access-tokens.ts';
import { parseSender } from '../sender.ts';
import { SmtpServer, type SmtpServerOptions } from '../smtp.ts';
import { JobFailure } from '../../outbox/job.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { freePort } from '../../../../test-kit/free-port.ts';
import { Mailbox } from '../../../../test-kit/mailbox.ts';
import { ScriptedSmtp, type SmtpScript, testMail } from '../../../../test-kit/scripted-smtp.ts';
import { tls } from '../../../../test-kit/tls.ts';

const serverAt = (url: string, options?: SmtpServerOptions): SmtpServer =>
  new SmtpServer(() => url, parseSender('Example <accounts@example.com>'), options);

async function failureOf(url: string, options?: SmtpServerOptions): Promise<string> {
  const failure: unknown = await serverAt(url, options)
    .send(testMail)
    .catch((error: unknown) => error);
  assert.ok(failure instanceof JobFailure, String(failure));
  assert.equal(failure.scope, 'queue', failure.message);
  return failure.message;
}

/** A mail server that records whether each message came over TLS. */
async function startMailbox(server: object): Promise<Mailbox & { readonly secured: readonly boolean[] }> {
  const secured: boolean[] = [];
  const onMailFrom = (_: unknown, { secure }: { secure: boolean }, done: () => void): void => {
    secured.push(secure);
    done();
  };
  return Object.assign(await Mailbox.start({ server: { onMailFrom, ...server } }), { secured });
}

test('STARTTLS is used wherever it is offered; within the machine the certificate is not verified', async () => {
  await using offering = await startMailbox({ ...tls, disabledCommands: ['AUTH'] });
  await serverAt(`smtp://localhost:${offering.port}`).send(testMail);
  assert.deepEqual(offering.secured, [true]);
  await using plain = await startMailbox({});
  await serverAt(`smtp://127.0.0.1:${plain.port}`).send(testMail);
  assert.deepEqual(plain.secured, [false]);
});

test('a relay on a private network needs no TLS if the operator accepts it, and STARTTLS is used if it is offered', async () => {
  // An address of this machine that is not loopback; the peer has a private address.
  await using plain = await startMailbox({});
  const url = `smtp://0.0.0.0:${plain.port}`;
  assert.match(await failureOf(url), /offers no STARTTLS on this port\..*set KEYREEVE_SMTP_WITHOUT_TLS=accept$/);
  assert.deepEqual(plain.messages, []);
  await serverAt(url, { mayBePlain: true }).send(testMail);
  assert.equal(plain.messages.length, 1);
  await using offering = await startMailbox({ ...tls, disabledCommands: ['AUTH'] });
  await serverAt(`smtp://0.0.0.0:${offering.port}`, { mayBePlain: true }).send(testMail);
  assert.deepEqual(offering.secured, [true]);
});

test('a wrong scheme or port, an unverified certificate and a rejected sign-in state the remedy', async () => {
  await using implicit = await startMailbox({ ...tls, secure: true, disabledCommands: ['AUTH'] });
  await using upgraded = await startMailbox({ ...tls, disabledCommands: ['AUTH'] });
  assert.match(await failureOf(`smtps://localhost:${upgraded.port}`), /begin KEYREEVE_SMTP_URL with smtp:\/\/ instead/);
  assert.match(await failureOf(`smtp://localhost:${implicit.port}`), /begin KEYREEVE_SMTP_URL with smtps:\/\/ instead/);
  assert.match(await failureOf(`smtp://0.0.0.0:${upgraded.port}`), /NODE_EXTRA_CA_CERTS|host name of the server/);
  assert.match(await failureOf(`smtp://127.0.0.1:${await freePort()}`), /Nothing accepts connections on port \d+:/);
  const ehlo = '250-mail.example.com\r\n250 AUTH PLAIN LOGIN XOAUTH2';
  for (const [script, remedy] of [
    [{ EHLO: ehlo, AUTH: '535 5.7.8 authentication failed' }, /Check the user name and the password.*@ as %40$/],
    [
      { EHLO: ehlo, AUTH: '535 5.7.139 Authentication unsuccessful, basic authentication is disabled.' },
      /set KEYREEVE_SMTP_OAUTH_TOKEN_URL/,
    ],
    [{ MAIL: '530 5.7.0 Authentication required' }, /requires a sign-in/],
  ] as const satisfies readonly (readonly [SmtpScript, RegExp])[]) {
    await using server = await ScriptedSmtp.start(script);
    const user = 'EHLO' in script ? 'user:password@' : '';
    assert.match(await failureOf(`smtp://${user}127.0.0.1:${server.port}`), remedy);
  }
});

/** A token endpoint that records the parameters of requests. */
async function startTokenEndpoint(answer: object, status = 200) {
  const requests: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push(new URLSearchParams(body));
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${port}/token`, requests, [Symbol.asyncDispose]: close };
}

const client = { clientId: 'keyreeve', scope: 'https://outlook.office365.com/.default', user: 'accounts@example.com' };
const xoauth2 = { EHLO: '250-mail.example.com\r\n250 AUTH LOGIN XOAUTH2' };

test('the sign-in with client credentials sends an access token, which is requested again after it has expired', async () => {
  await using endpoint = await startTokenEndpoint({ access_token: 'token-1', expires_in: 3_600 });
  await using server = await ScriptedSmtp.start(xoauth2);
  const clock = new FakeClock();
  const accessTokens = new AccessTokens({ ...client, clock, tokenUrl: endpoint.url, clientSecret: () => 'a secret' });
  const smtp = serverAt(`smtp://accounts%40example.com@127.0.0.1:${server.port}`, { accessTokens });
  await smtp.send(testMail);
  await smtp.send(testMail);
  assert.deepEqual(
    endpoint.requests.map((parameters) => Object.fromEntries(parameters)),
    [
      {
        grant_type: 'client_credentials',
        client_id: 'keyreeve',
        client_secret: 'a secret',
        scope: 'https://outlook.office365.com/.default',
      },
    ],
  );
  const [sent = ''] = server.commands.filter((command) => command.startsWith('AUTH'));
  const [, mechanism, proof = ''] = sent.split(' ');
  assert.equal(mechanism, 'XOAUTH2');
  assert.equal(Buffer.from(proof, 'base64').toString(), 'user=accounts@example.com\x01auth=Bearer token-1\x01\x01');
  clock.advance({ seconds: 3_600 });
  await smtp.send(testMail);
  assert.equal(endpoint.requests.length, 2);
});

test('a service account signs an assertion with its private key', async () => {
  await using endpoint = await startTokenEndpoint({ access_token: 'token-2', expires_in: 3_600 });
  await using server = await ScriptedSmtp.start(xoauth2);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const clientSecret = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const clock = new FakeClock();
  const accessTokens = new AccessTokens({ ...client, clock, tokenUrl: endpoint.url, clientSecret: () => clientSecret });
  await serverAt(`smtp://accounts%40example.com@127.0.0.1:${server.port}`, { accessTokens }).send(testMail);
  const [parameters] = endpoint.requests;
  assert.equal(parameters?.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer');
  const { payload } = await jwtVerify(parameters?.get('assertion') ?? '', publicKey, {
    audience: endpoint.url,
    issuer: 'keyreeve',
    subject: 'accounts@example.com',
    currentDate: new Date(clock.now()),
  });
  assert.equal(payload['scope'], client.scope);
});

test('a token endpoint that rejects the client is named, without the secret', async () => {
  await using endpoint = await startTokenEndpoint(
    { error: 'invalid_client', error_description: 'unknown client' },
    401,
  );
  await using server = await ScriptedSmtp.start(xoauth2);
  const options = { ...client, clock: new FakeClock(), tokenUrl: endpoint.url, clientSecret: () => 'a secret' };
  const accessTokens = new AccessTokens(options);
  const failure = await failureOf(`smtp://accounts%40example.com@127.0.0.1:${server.port}`, { accessTokens });
  assert.match(failure, /the token endpoint answered 401 \(invalid_client: unknown client\)/);
  assert.doesNotMatch(failure, /a secret/);
});
