/**
 * `npm start` in a checkout: builds the console if its sources have changed, then runs the launcher with the given arguments. If the build
 * fails, the service starts and the console answers 503. Packages and images contain the build, and run the launcher itself. Plain
 * JavaScript for Node 20, because the launcher has the remedy for an older Node.
 */
try {
  const { isBuilt } = await import('./stamp.ts');
  if (!isBuilt()) (await import('./build.ts')).renewDist();
} catch (error) {
  process.stderr.write(
    `keyreeve: The console cannot be built: ${error instanceof Error ? error.message : String(error)}\n` +
      'keyreeve: It answers 503. Run `npm ci --include=dev && npm run console`, and start Keyreeve again.\n',
  );
  // With this condition, package.json exports no file, so the service does not serve an earlier build.
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --conditions=console-not-built`;
}
await import('../server/bin/keyreeve.js');
