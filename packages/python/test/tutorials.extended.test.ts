/**
 * The tutorials of FastAPI and Flask work as they stand in empty folders, with the wheel of the library. pip downloads nothing: the
 * other packages are those of the tests' virtual environment, whose programs (`uvicorn`, `flask`) run as modules.
 */
import assert from 'node:assert/strict';
import { globSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { buildWheel } from '../../../scripts/package-python.ts';
import { freePort } from '../../server/test-kit/free-port.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { hasCurl } from '../../server/test/docs/curl-program.ts';
import { outputsOf, placedIn, readPage, root, shellBlocks } from '../../server/test/docs/shell-blocks.ts';
import { newProgram } from '../../server/test/e2e/program.ts';
import { python, skip } from './python.ts';

interface Tutorial {
  readonly page: string;
  /** Of the application. */
  readonly port: string;
  /** The program that starts it. */
  readonly command: string;
  /** Of the tutorial for Express, with which the page begins. */
  readonly earlier: readonly string[];
}

const keysOfExpress = shellBlocks(readPage('docs/tutorials/express.md')).filter((block) =>
  block.includes('key create'),
);
const tutorials: readonly Tutorial[] = [
  { page: 'fastapi', port: '8000', command: 'uvicorn', earlier: [] },
  { page: 'flask', port: '5001', command: 'flask', earlier: keysOfExpress },
];

/** The name of the file that the text before a block names, and the block. */
const fileOf = (page: string): readonly [name: string, text: string] => {
  const [, name = '', indent = '', text = ''] = /`(\w+\.py)`[^`]*?\n\n( *)```python\n([^]*?)^ *```$/m.exec(page) ?? [];
  return [name, text.replaceAll(new RegExp(`^${indent}`, 'gm'), '')];
};

for (const { page: name, port: shownPort, command, earlier } of tutorials)
  test(`the tutorial of ${name} works as it stands, with the wheel, and prints what it shows`, { skip }, async (t) => {
    if (!hasCurl(t)) return;
    using folder = newTempFolder();
    const dist = join(folder.path, 'dist');
    buildWheel(root, dist);
    const page = readPage(`docs/tutorials/${name}.md`);
    const [file, text] = fileOf(page);
    writeFileSync(join(folder.path, file), text);
    const port = String(await freePort());
    const [packages = ''] = globSync('lib/python*/site-packages', { cwd: join(dirname(python), '..') });
    const variables = {
      PATH: `${dirname(python)}:${process.env['PATH']}`,
      PYTHONPATH: join(dirname(python), '..', packages),
      PYTHONDONTWRITEBYTECODE: '1',
      PIP_NO_INDEX: '1',
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
    };
    const exports = Object.entries(variables).map(([variable, value]) => `export ${variable}='${value}'\n`);
    const own = shellBlocks(page).map((block) =>
      placedIn(folder.path, block.replaceAll(shownPort, port))
        .replace(/(?<=&& )cd .*/, `$& && cp '../${file}' .`)
        .replace(RegExp(`(KEYREEVE_URL=.*) ${command} (.*) &`), `$1 python -m ${command} $2 >/dev/null 2>&1 &`),
    );
    const stop = `trap 'kill $! 2>/dev/null || true' EXIT\n`;
    const blocks = [...earlier, ...own];
    await using program = await newProgram();
    const outputs = await outputsOf([exports.join('') + stop + blocks[0], ...blocks.slice(1)], program);
    const shown = blocks.flatMap((block, index) => {
      const [, line] = /^ *# (\{.*)$/m.exec(block) ?? [];
      return line === undefined ? [] : [[line.replace(/…\}$/, ''), outputs[index]?.trim() ?? ''] as const];
    });
    assert.equal(shown.length, 3);
    for (const [line, output] of shown) assert.ok(output.startsWith(line), `${line}\n${output}`);
  });
