/** `npm start` and `npx --no-install keyreeve serve` in the checkout. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { environmentFor, Program } from './program.ts';

const checkout = fileURLToPath(new URL('../../../../', import.meta.url));

export function checkSigterm([name, ...args]: readonly [string, ...string[]]): void {
  test(`SIGTERM to \`${[name, ...args].join(' ')}\` drains and stops the service`, async () => {
    using folder = newTempFolder();
    const child = spawn(name, args, {
      cwd: checkout,
      env: environmentFor(folder.path),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await using program = new Program(child, folder.path);
    // npm prints two lines before the log.
    const logged = (event: string) => () => program.stdout.includes(`"event":"${event}"`) || undefined;
    await program.waitFor('a record “listening”', logged('listening'));
    program.signal('SIGTERM');
    // The output closes when the service has ended, because the service inherits it.
    await program.exited();
    assert.match(program.stdout, /"event":"stopped","isDrained":true/);
  });
}
