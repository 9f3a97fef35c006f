/**
 * `npm start` in a checkout: builds the console if its sources have changed, then runs the launcher with the given arguments. If the build
 * fails, the service starts and the console answers 503. Packages and images contain the build, and run the launcher itself. Plain
 * JavaScript for Node 20, because the launcher has the remedy for an older Node.
 */
import { spawnSync } from 'node:child_process';

try {
  const { isBuilt } = await import('./stamp.ts');
  if (!isBuilt()) {
    // In a process of its own: no tool of the build gets the secrets in the environment of the service.
    const [build, env] = [`${import.meta.dirname}/build.ts`, { PATH: process.env.PATH }];
    const { status, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', build], { env });
    // Without the stack trace.
    if (status !== 0)
      throw new Error(/(?:^|\n)\w*Error(?: \[\w+\])?: ([^]*?)(?:\n +at |$)/.exec(stderr)?.[1] ?? String(stderr));
  }
} catch (error) {
  process.stderr.write(
    `keyreeve: The console cannot be built: ${error instanceof Error ? error.message : String(error)}\n` +
      'keyreeve: It answers 503. Run `npm ci --include=dev && npm run console`, and start Keyreeve again.\n',
  );
  // With this condition, package.json exports no file, so the service does not serve an earlier build.
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --conditions=console-not-built`;
}
await import('../server/bin/keyreeve.js');
