/** What the test files of a run share, because each start takes seconds. A file that runs alone starts its own. */
import { chmodSync } from 'node:fs';
import { buildIfChanged } from './build.ts';
import { startBrowserServer } from '../packages/server/test/e2e/browser.ts';
import { startCommandHost } from '../packages/server/test/e2e/command-host.ts';
import { memoryFolder } from '../packages/server/test-kit/memory-folder.ts';
import { startWithTemplate } from '../packages/server/test-kit/postgres/running.ts';
import { makeSqliteTemplate } from '../packages/server/test-kit/sqlite-template.ts';
import { newTempFolder } from '../packages/server/test-kit/temp-folder.ts';

export interface TestResources extends AsyncDisposable {
  /** The variables in which the tests find the resources. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Also builds the console and the guides, once: processes of tests never do.
 * @throws Error if they cannot be built or PostgreSQL does not start. Without Chromium, tests report that it is missing.
 */
export async function startTestResources(): Promise<TestResources> {
  await buildIfChanged('console');
  await buildIfChanged('guides');
  await using started = new AsyncDisposableStack();
  const folder = started.use(newTempFolder(memoryFolder()));
  // As `/tmp`: some programs run as another user.
  chmodSync(folder.path, 0o1777);
  const server = started.use(await startWithTemplate());
  const browser = started.use(await startBrowserServer());
  const host = started.use(await startCommandHost());
  const environment = {
    TEST_POSTGRES_URL: server.url(),
    TMPDIR: folder.path,
    TEST_SQLITE_TEMPLATE: await makeSqliteTemplate(folder.path),
    TEST_COMMAND_HOST: host.path,
    TEST_PACKAGE_FOLDER: folder.path,
    ...(browser && { TEST_BROWSER: browser.endpoint }),
  };
  const resources = started.move();
  return { environment, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
