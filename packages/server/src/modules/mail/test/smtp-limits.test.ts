/** The time limits of RFC 5321 section 4.5.3.2, and what a missing reply means at each step. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { parseSender } from '../sender.ts';
import { SmtpServer } from '../smtp.ts';
import { JobFailure, LostJob } from '../../outbox/job.ts';
import { disconnect, ScriptedSmtp, silent, type SmtpStep, testMail } from '../../../../test-kit/scripted-smtp.ts';
import { awaited } from '../../../../test-kit/until.ts';

const serverAt = ({ port }: ScriptedSmtp): SmtpServer =>
  new SmtpServer(() => `smtp://127.0.0.1:${port}`, parseSender('Example <accounts@example.com>'));

function mockTimeouts(): Disposable & { readonly tick: (ms: number) => void } {
  mock.timers.enable({ apis: ['setTimeout'] });
  return { tick: (ms) => mock.timers.tick(ms), [Symbol.dispose]: () => mock.timers.reset() };
}

/** Polls without a timer, because the timers stand still. */
const reached = (server: ScriptedSmtp, step: SmtpStep): Promise<void> =>
  awaited(`the server is at ${step}`, async (signal) => {
    while (!server.steps.includes(step)) {
      signal.throwIfAborted();
      await new Promise(setImmediate);
    }
  });

/** The session closes its connections, and clears its timers, before the timers become real again. */
async function turns(): Promise<void> {
  for (let count = 0; count < 20; count++) await new Promise(setImmediate);
}

const minute = 60_000;

/** MAIL, RCPT and DATA have one limit: the sum of 5, 5 and 2 minutes. */
const limits: readonly (readonly [step: SmtpStep, ms: number, scope: JobFailure['scope'], reason: RegExp])[] = [
  ['greeting', 5 * minute, 'queue', /waited 5 minutes for the greeting/],
  ['EHLO', 10 * minute, 'queue', /waited 10 minutes for the reply to EHLO/],
  ['MAIL', 12 * minute, 'queue', /waited 12 minutes for the replies to sender/],
  ['RCPT', 12 * minute, 'queue', /waited 12 minutes/],
  ['DATA', 12 * minute, 'queue', /waited 12 minutes/],
  ['message', 10 * minute, 'unknown', /waited 10 minutes for the reply to the message; it may have accepted/],
];

for (const [step, ms, scope, reason] of limits) {
  test(`a server that does not reply to ${step} gets ${ms / minute} minutes, then the scope of the failure is ${scope}`, async () => {
    using timers = mockTimeouts();
    await using server = await ScriptedSmtp.start({ [step]: silent });
    const failures: unknown[] = [];
    const sending = serverAt(server)
      .send(testMail)
      .catch((error: unknown) => failures.push(error));
    await reached(server, step);
    // The client begins to wait after the bytes are sent.
    await new Promise(setImmediate);
    timers.tick(ms - 1);
    await new Promise(setImmediate);
    assert.equal(failures.length, 0);
    timers.tick(1);
    await sending;
    await turns();
    const [failure] = failures;
    assert.ok(failure instanceof JobFailure, String(failure));
    assert.equal(failure.scope, scope);
    assert.match(failure.message, reason);
  });
}

test('a connection that breaks after the end of the message has an unknown outcome, and an earlier one has not', async () => {
  for (const [step, scope] of [
    ['greeting', 'queue'],
    ['MAIL', 'queue'],
    ['RCPT', 'queue'],
    ['DATA', 'queue'],
    ['message', 'unknown'],
  ] as const) {
    await using server = await ScriptedSmtp.start({ [step]: disconnect });
    const failure: unknown = await serverAt(server)
      .send(testMail)
      .catch((error: unknown) => error);
    assert.ok(failure instanceof JobFailure, step);
    assert.equal(failure.scope, scope, step);
  }
});

test('a reply that rejects the message is no unknown outcome', async () => {
  for (const [reply, scope] of [
    ['451 4.3.0 later', 'job'],
    ['554 5.6.0 rejected', 'job'],
    ['421 4.3.2 shutting down', 'queue'],
  ] as const) {
    await using server = await ScriptedSmtp.start({ message: reply });
    const failure: unknown = await serverAt(server)
      .send(testMail)
      .catch((error: unknown) => error);
    assert.ok(failure instanceof JobFailure, reply);
    assert.equal(failure.scope, scope, reply);
  }
});

test('the end of a message is sent only after the caller has recorded it', async () => {
  await using server = await ScriptedSmtp.start();
  const stepsBefore: SmtpStep[] = [];
  const beforeEnd = async (): Promise<void> => {
    await new Promise(setImmediate);
    stepsBefore.push(...server.steps);
  };
  await serverAt(server).send(testMail, { beforeEnd });
  assert.deepEqual(stepsBefore, ['greeting', 'EHLO', 'MAIL', 'RCPT', 'DATA']);
  assert.deepEqual(server.steps, [...stepsBefore, 'message']);
});

test('if the end of a message cannot be recorded, the server does not get it, and the caller gets the reason', async () => {
  await using server = await ScriptedSmtp.start();
  const reason = new LostJob('another process has the job');
  const sending = serverAt(server).send(testMail, { beforeEnd: () => Promise.reject(reason) });
  await assert.rejects(sending, reason);
  assert.ok(!server.steps.includes('message'), server.steps.join());
});

test('a test mail has a limit for the whole session', async () => {
  using timers = mockTimeouts();
  await using server = await ScriptedSmtp.start({ RCPT: silent });
  const sending = serverAt(server)
    .send(testMail, { msMax: minute })
    .catch((error: unknown) => error);
  await reached(server, 'RCPT');
  timers.tick(minute);
  const failure: unknown = await sending;
  await turns();
  assert.match(String(failure), /waited 60 seconds for the end of the session/);
});
