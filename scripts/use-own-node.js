/**
 * After an installation in which the bundled Node cannot run (see `packages/server/bin/bundled-node.js`): removes it from
 * `node_modules/.bin`, where npm looks first, so that `npm start` and `npm test` use the Node that npm itself runs on, if
 * it is recent enough. Plain JavaScript for Node 20.
 */
import { rmSync } from 'node:fs';
import { findNode } from '../packages/server/bin/bundled-node.js';

const { problem } = findNode();
if (problem !== undefined) {
  console.error(`keyreeve: ${problem}`);
  // EX_UNAVAILABLE of sysexits.h.
  process.exit(69);
}
rmSync(new URL('../node_modules/.bin/node', import.meta.url), { force: true });
console.error(
  `keyreeve: the Node that Keyreeve includes does not run on this machine; Keyreeve uses Node ${process.versions.node}.`,
);
