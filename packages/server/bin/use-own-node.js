/**
 * After an installation in which the bundled Node cannot run (see `bundled-node.js`): removes it from `node_modules/.bin`,
 * where npm looks first, so that `npm start`, `npm test` and `npx` use the Node that npm itself runs on, if it is
 * recent enough. Plain JavaScript for Node 20.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundledNode, findNode } from './bundled-node.js';

const { problem } = findNode();
if (problem !== undefined) {
  console.error(`keyreeve: ${problem}`);
  // EX_UNAVAILABLE of sysexits.h.
  process.exit(69);
}
const bundled = bundledNode();
// From node_modules/<package>/bin/node.
if (bundled !== undefined) rmSync(join(bundled, '../../../.bin/node'), { force: true });
console.error(
  `keyreeve: the Node that Keyreeve includes does not run on this machine; Keyreeve uses Node ${process.versions.node}.`,
);
