/** The tutorial for Caddy, run with the real Caddy in front of the backend that the page shows. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { installedProgram } from '../e2e/proxy-kit.ts';
import { newProgram } from '../e2e/program.ts';
import { freePort } from '../../test-kit/free-port.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { hasCurl } from './curl-program.ts';
import { outputsOf, readPage, shellBlocks } from './shell-blocks.ts';

const page = readPage('docs/tutorials/caddy.md');
const caddyfile = 'docs/forward-auth/Caddyfile';

test('the tutorial for Caddy works as it stands, and prints what it shows', async (t) => {
  const caddy = installedProgram(t, 'caddy');
  if (caddy === undefined) return;
  if (!hasCurl(t)) return;
  await using program = await newProgram();
  using folder = newTempFolder();
  const ports: Readonly<Record<string, string>> = {
    '8787': new URL(program.url).port,
    '8080': String(await freePort()),
    '9000': String(await freePort()),
  };
  const withPorts = (text: string): string =>
    text.replaceAll(/(?<=[:(])(?:8787|8080|9000)\b/g, (port) => ports[port] ?? port);
  const [, backend = ''] = /```js\n([^]*?) *```/.exec(page) ?? [];
  writeFileSync(join(folder.path, 'backend.mjs'), withPorts(backend));
  writeFileSync(
    join(folder.path, 'Caddyfile'),
    withPorts(readFileSync(new URL(`../../../../${caddyfile}`, import.meta.url), 'utf8')),
  );
  // Caddy keeps its state below the home folder.
  mkdirSync(join(folder.path, 'home'));

  const [first = '', ...others] = shellBlocks(page).map((block) =>
    withPorts(block)
      .replace('node backend.mjs', `'${process.execPath}' '${folder.path}/backend.mjs' > /dev/null`)
      .replace('caddy run', `HOME='${folder.path}/home' '${caddy}' run`)
      .replace(caddyfile, `'${folder.path}/Caddyfile'`)
      .replace('caddy.log', `'${folder.path}/caddy.log'`),
  );
  const stop = `trap 'kill \${CADDY:-} \${BACKEND:-} 2>/dev/null' EXIT\n`;
  const blocks = [stop + first, ...others];
  const outputs = await outputsOf(blocks, program);
  const shown = blocks.flatMap((block, index) => {
    const [, line] = /^ *# (.*)$/m.exec(block) ?? [];
    return line === undefined ? [] : [[line.replace('…}', ''), (outputs[index] ?? '').trim()] as const];
  });
  assert.equal(shown.length, 5);
  for (const [line, output] of shown) assert.ok(output.startsWith(line), `${line}\n${output}`);
});
