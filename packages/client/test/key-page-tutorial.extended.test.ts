/** The tutorial about the key page works as it stands in an empty folder, with Next.js, a real service and a real browser. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Browser, Frame, Page } from 'playwright-core';
import { buildArchive } from '../../../scripts/package-archive.ts';
import { buildElementsPackage } from '../../../scripts/package-elements.ts';
import type { LockFile } from '../../../scripts/package-manifest.ts';
import { readJson } from '../../../scripts/package.ts';
import { hasFrameworks } from '../../elements/test/kit/frameworks.ts';
import { freePort } from '../../server/test-kit/free-port.ts';
import { awaited, until } from '../../server/test-kit/until.ts';
import { hasCurl } from '../../server/test/docs/curl-program.ts';
import { outputsOf, placedIn, readPage, root, shellBlocks } from '../../server/test/docs/shell-blocks.ts';
import { openBrowser } from '../../server/test/e2e/browser.ts';
import { newProgram } from '../../server/test/e2e/program.ts';
import { TutorialFolder } from './tutorial.ts';

const page = readPage('docs/tutorials/key-page.md');

/** The name of each file of the page, and its text. */
const files = [...page.matchAll(/Write `([\w./-]+)`[^`]*?\n\n *```jsx?\n([^]*?)^ *```$/gm)].map(
  ([, name = '', text = '']) => [name, text.replaceAll(/^ {3}/gm, '')] as const,
);

test('the tutorial about the key page shows all files of the tested example', () => {
  const example = join(root, 'packages/elements/examples/next');
  const names = readdirSync(example, { recursive: true, encoding: 'utf8' }).filter((name) => /\.jsx?$/.test(name));
  assert.deepEqual(files.map(([name]) => name).toSorted(), names.toSorted());
  for (const [name, text] of files) assert.equal(text, readFileSync(join(example, name), 'utf8'), name);
});

/** Next.js and what it needs, with paths in the checkout. */
function frameworksLock(): LockFile {
  const lock = readJson(join(root, '.ci/frameworks/package-lock.json')) as LockFile;
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
  return { ...lock, packages: Object.fromEntries(packages.map(([path, each]) => [`.ci/frameworks/${path}`, each])) };
}

test('the tutorial about the key page works as it stands, and prints what it shows', async (t) => {
  if (!hasCurl(t) || !hasFrameworks(t)) return;
  const browser = await openBrowser(t);
  if (!browser) return;
  await using stack = new AsyncDisposableStack();
  stack.defer(() => awaited('the browser ends', browser.close()));
  const folder = stack.use(await TutorialFolder.create(process.execPath, [frameworksLock()]));
  const at = (name: string): string => join(folder.path, name);
  folder.addArchive(buildArchive(root, at('elements'), buildElementsPackage));
  for (const [name, text] of files) {
    mkdirSync(dirname(at(`files/${name}`)), { recursive: true });
    writeFileSync(at(`files/${name}`), text);
  }
  const port = String(await freePort());
  const [install = '', key = '', start = '', use = '', end = '', ...others] = shellBlocks(page).map((block) =>
    placedIn(folder.path, block.replaceAll('3000', port)),
  );
  assert.deepEqual(others, []);
  const wait = (name: string): string => `until [ -e '${at(name)}' ]; do sleep 0.1; done\n`;
  const variables = `${folder.exports}export NEXT_TELEMETRY_DISABLED=1\ntrap 'kill "\${!:-0}" 2>/dev/null || true' EXIT\n`;
  const blocks = [
    variables + install,
    `${key}cp -r ../files/. .\n`,
    start.replaceAll(/next build|next start .*(?= &)/g, (command) => {
      const ownPort = command.includes('start') ? ` --port ${port}` : '';
      return `${command}${ownPort} >> ../next.log 2>&1`;
    }),
    wait('created') + use.replace('krv_…', `"$(cat '${at('created')}')"`),
    wait('deleted') + end,
  ];
  const program = stack.use(await newProgram());
  const note: Note = (name, text) => writeFileSync(at(name), text);
  const person = async (): Promise<void> => {
    const url = `http://localhost:${port}/api-keys`;
    try {
      await until('the application listens', () => isOpen(url));
      await managesKeys(await open(browser, url), note);
    } catch (error) {
      // Otherwise, the terminal waits.
      for (const name of ['created', 'deleted'] as const) note(name, '');
      throw error;
    }
  };
  const [outputs] = await Promise.all([outputsOf(blocks, program), person()]).catch((error: unknown) => {
    t.diagnostic(existsSync(at('next.log')) ? readFileSync(at('next.log'), 'utf8') : 'the application was not built');
    throw error;
  });
  assert.deepEqual([outputs[3]?.trim(), outputs[4]?.trim()], ['200', '401']);
  assert.deepEqual(
    [use, end].map((block) => /^ *# (.*)$/m.exec(block)?.[1]),
    ['200', '401'],
  );
});

const isOpen = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

async function open(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext();
  const opened = await context.newPage();
  await opened.goto(url);
  return opened;
}

/** For the terminal. */
type Note = (name: 'created' | 'deleted', text: string) => void;

/** A person creates a key in the frame, uses it, and deletes it. @param note what the person has done, for the terminal */
async function managesKeys(host: Page, note: Note): Promise<void> {
  const find = (): Frame | undefined => host.frames().find((each) => each.url().includes('/portal/'));
  await until('the key page is in the frame', () => find() !== undefined);
  const frame = find()!;
  await frame.getByRole('button', { name: 'Create key' }).first().click();
  const dialog = frame.getByRole('dialog');
  await dialog.getByLabel('Nickname').fill('from the page');
  const secret = dialog.getByRole('textbox', { name: 'Secret' });
  await submit(frame, () => secret.isVisible());
  const key = await secret.inputValue();
  assert.match(key, /^krv_\w{49}$/);
  note('created', key);
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await frame.getByText('from the page', { exact: true }).click();
  await frame.getByRole('button', { name: 'Delete key' }).click();
  await dialog.waitFor();
  // The dialog requires it if the use of the key has been recorded.
  const nickname = dialog.getByLabel('Type the nickname to confirm');
  const isHidden = dialog.waitFor({ state: 'hidden' });
  await submit(frame, async () => {
    if (await nickname.isVisible()) await Promise.race([nickname.fill('from the page'), isHidden]);
    return !(await dialog.isVisible());
  });
  await frame.getByText('No API keys yet').waitFor();
  note('deleted', '');
}

/** The second step of an operation accepts nothing in its first moment: the person presses again. */
const submit = (frame: Frame, isDone: () => Promise<boolean>): Promise<void> =>
  until('the dialog accepts the operation', async () => {
    if (await isDone()) return true;
    // Unlike a locator, it does not wait for a button of a dialog that closes.
    await frame.evaluate(`document.querySelector('dialog [type=submit]')?.click()`);
    return false;
  });
