/** Ports of tests that run at the same time in several processes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

/** Of 17,000: without a lease, two processes share 130 of 1,500 ports. */
const portsEach = 1_500;
const module = new URL('./free-port.ts', import.meta.url).href;
const program = `
  import { freePort } from '${module}';
  const ports = [];
  while (ports.length < ${portsEach}) ports.push(await freePort());
  process.stdout.write(JSON.stringify(ports));
  // Keeps the leases until the other process has its ports.
  process.stdin.resume();
`;

test(
  'two processes never have the same port',
  { skip: process.platform !== 'linux' && 'only Linux has leases' },
  async () => {
    const children = [0, 1].map(() =>
      spawn(process.execPath, ['--input-type=module', '--no-warnings', '--eval', program], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
    let waiting = children.length;
    const outputs = children.map(async ({ stdout, stdin }) => {
      stdout.once('data', () => {
        waiting -= 1;
        if (waiting === 0) for (const child of children) child.stdin.end();
      });
      const ports = JSON.parse(await text(stdout)) as number[];
      stdin.destroy();
      return ports;
    });
    const ports = (await Promise.all(outputs)).flat();
    assert.equal(ports.length, 2 * portsEach);
    assert.equal(new Set(ports).size, ports.length);
  },
);
