/**
 * Each block of the pages for operators has a test or a reason. One page runs here, and the others in
 * `operating-pages.extended.test.ts`.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { environmentFor } from '../e2e/program.ts';
import { OperatingBlocks, runBlock } from './operating-blocks.ts';
import { blocksOf, operatingPages, pagesInNpmTest } from './operating-pages.ts';
import { root } from './shell-blocks.ts';

const operating = new OperatingBlocks(pagesInNpmTest);

test('each block of the pages for operators is run, or has a reason and the test that stands for it', () => {
  const excused = operatingPages.flatMap(blocksOf).filter(({ reason }) => reason !== undefined);
  assert.ok(operatingPages.flatMap(blocksOf).length - excused.length > 20);
  for (const { reason = '', text } of excused) {
    const [path = ''] = /test\/[\w/-]+/.exec(reason) ?? [];
    const files = ['.test.ts', '.extended.test.ts'].map((end) => join(root, 'packages/server', path + end));
    assert.ok(
      files.some((file) => existsSync(file)),
      `${text}: ${reason}`,
    );
  }
});

test('the rotations of the master key of docs/master-key.md', () => {
  using folder = newTempFolder();
  const at = (name: string): string => join(folder.path, name);
  const replaced = { '/etc/keyreeve/': at('etc/') };
  const shell = { folder: folder.path, environment: environmentFor(folder.path), replaced };
  mkdirSync(at('etc'));
  runBlock('keyreeve account create you@example.com --generate', shell);
  runBlock(operating.take('master-key.md', 'keyreeve master-key rotate  '), shell);
  const added = runBlock(operating.take('master-key.md', 'keyreeve master-key rotate --new-file'), shell);
  assert.match(
    added,
    /^Added the master key [0-9a-f]{16}, which is in \S+\/master-key-2\. The previous one is [0-9a-f]{16}\./,
  );
  assert.equal(statSync(at('etc/master-key-2')).mode & 0o777, 0o600);
  operating.assertAllTaken();
});
