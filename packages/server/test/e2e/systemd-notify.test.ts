/** What systemd learns from the service, through its protocol: a socket that Python opens, and `systemd-notify`. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { until } from '../../test-kit/until.ts';
import { newProgram } from './program.ts';
import { installedProgram } from './proxy-kit.ts';

/** Prints each message as a line. systemd-notify waits until the receiver has closed a descriptor that it sends. */
const receiver = `
import os, socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print('bound', flush=True)
while True:
    data, files, _, _ = socket.recv_fds(receiver, 4096, 4)
    for file in files:
        os.close(file)
    for line in data.decode().splitlines():
        print(line, flush=True)
`;

/** The socket of a supervisor. */
async function startReceiver() {
  const folder = newTempFolder();
  const path = join(folder.path, 'notify');
  const child = spawn('python3', ['-c', receiver, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await until('the socket is open', () => text.startsWith('bound\n'));
  return {
    path,
    messages: () =>
      text
        .split('\n')
        .slice(1, -1)
        .filter((line) => line !== 'BARRIER=1'),
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, 'close');
      folder[Symbol.dispose]();
    },
  };
}

test('systemd learns that the service is ready, responds and stops', async (t) => {
  if (installedProgram(t, 'systemd-notify') === undefined) return;
  await using supervisor = await startReceiver();
  const { messages } = supervisor;
  const environment = { NOTIFY_SOCKET: supervisor.path, WATCHDOG_USEC: '600000' };
  await using program = await newProgram({ ...environment, KEYREEVE_DRAIN_SECONDS: '8' });
  await until('the service is ready', () => messages().length > 0);
  assert.equal(messages()[0], 'READY=1');
  assert.equal((await fetch(`${program.adminUrl}/health/ready`)).status, 200);
  await until('the service has responded three times', () => messages().length > 3);
  assert.deepEqual([...new Set(messages())], ['READY=1', 'WATCHDOG=1']);
  assert.equal((await program.stop()).status, 0);
  await until('systemd knows of the end', () => messages().includes('STOPPING=1'));
  assert.deepEqual([...new Set(messages())], ['READY=1', 'WATCHDOG=1', 'STOPPING=1']);
  assert.deepEqual(program.records('notify_failed'), []);
});

test('a service without systemd-notify runs, and logs what it could not send', async (t) => {
  if (installedProgram(t, 'systemd-notify') === undefined) return;
  using folder = newTempFolder();
  const program = join(folder.path, 'systemd-notify');
  writeFileSync(program, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const environment = { NOTIFY_SOCKET: join(folder.path, 'missing'), PATH: `${folder.path}:${process.env['PATH']}` };
  await using service = await newProgram(environment);
  const { level, message } = await service.waitForRecord('notify_failed');
  assert.deepEqual([level, message], ['error', 'READY=1']);
  assert.equal((await fetch(`${service.adminUrl}/health/ready`)).status, 200);
});
