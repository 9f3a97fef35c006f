/**
 * `npm start` in a checkout: builds the console, the guides and the program if their sources have changed, then runs the launcher with the
 * given arguments. If a build fails, the service starts: without these pages, which answer 503, or from its sources. Packages and images
 * contain the builds, and run the launcher itself. Plain JavaScript for Node 20, because the launcher has the remedy for an older Node.
 */
import { spawnSync } from 'node:child_process';
import { builds, isBuilt } from '../packages/server/bin/build-stamp.js';

if (!Object.values(builds).every(isBuilt)) {
  // In a process of its own: no tool of the build gets the secrets in the environment of the service.
  const [build, env] = [`${import.meta.dirname}/build.ts`, { PATH: process.env.PATH }];
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', build, '--if-changed'],
    { env, encoding: 'utf8' },
  );
  if (status !== 0) process.stderr.write(stderr.replaceAll(/^(?=.)/gm, 'keyreeve: '));
}
const remedy = 'Run `npm ci --include=dev && npm run build`, and start Keyreeve again.';
if (!isBuilt(builds.program))
  process.stderr.write(`keyreeve: The program is not built, so it starts from its sources, more slowly. ${remedy}\n`);
for (const [name, text] of /** @type {const} */ ([
  ['console', 'The console is'],
  ['guides', 'The documentation is'],
])) {
  if (isBuilt(builds[name])) continue;
  process.stderr.write(`keyreeve: ${text} not built, so it answers 503. ${remedy}\n`);
  // With this condition, package.json exports no file, so the service does not serve an earlier build.
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --conditions=${name}-not-built`;
}
await import('../packages/server/bin/keyreeve.js');
