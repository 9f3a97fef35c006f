/** Shell completion: the printed scripts work in the shells. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { completionScript, shells } from '../completion.ts';
import { createProgram } from '../program.ts';

const program = createProgram(() => undefined);
/** @returns the reason to skip tests of a shell. Under CI the tests then fail instead. */
const skipReason = (shell: string): string | false =>
  process.env['CI'] !== 'true' &&
  spawnSync(shell, ['--version']).status !== 0 &&
  `${shell} is not installed: not tried`;

for (const shell of shells) {
  test(`${shell} accepts its completion script`, { skip: skipReason(shell) }, () => {
    using temp = newTempFolder();
    // A file: fish cannot read a script from the socket that is the standard input of a child process.
    const script = join(temp.path, 'script');
    writeFileSync(script, completionScript(shell, program));
    const { status, stderr } = spawnSync(shell, ['-n', script], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
  });
}

/** Calls the completion function as bash does, and prints its results, one per line. */
const completeInBash = String.raw`source "$1"; shift
complete -p keyreeve > /dev/null || exit 1
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_keyreeve
printf '%s\n' "${'$'}{COMPREPLY[@]}"`;

const optionsOfCreate = (
  '--account --nickname --scope --expires-at --address --metadata --sha256 --public-key --environment ' +
  '--rate --burst --quota --trust --github-repository-id --ref --json --help'
).split(' ');
const optionsToClear = ['scopes', 'expires-at', 'addresses', 'metadata', 'rate', 'quota'].map((it) => `--clear-${it}`);
const cases: readonly (readonly [line: string, expected: readonly string[]])[] = [
  ['keyreeve ac', ['account']],
  ['keyreeve --', ['--version', '--env-file', '--url', '--key-file', '--help']],
  ['keyreeve --v', ['--version']],
  ['keyreeve account set-', ['set-email', 'set-role', 'set-limits', 'set-password']],
  ['keyreeve help signing', ['signing-key']],
  ['keyreeve key help ', 'create list show change rotate end-previous usage leaked scan-rules delete help'.split(' ')],
  ['keyreeve key create ', optionsOfCreate],
  ['keyreeve key create --nickname ci --', optionsOfCreate],
  ['keyreeve key create --nickname ', []],
  ['keyreeve key change 1 --clear-', optionsToClear],
  [
    'keyreeve key rotate 1 --',
    '--account --overlap --end-previous --end-current --public-key --trust --github-repository-id --ref --json --help'.split(
      ' ',
    ),
  ],
  ['keyreeve audit export --format ', ['jsonl', 'csv']],
  ['keyreeve account set-role you@example.com ad', ['admin']],
  ['keyreeve completion f', ['fish']],
  ['keyreeve backup --to ', ['a file', 'folder']],
  ['keyreeve import accounts a', ['a file']],
  ['keyreeve restore --journal ', ['folder']],
  ['keyreeve unknown ', []],
  ['keyreeve --env-file settings.env ac', ['account']],
  ['keyreeve --key-file ', ['a file', 'folder']],
  // Bash splits a word at a colon.
  ['keyreeve --url https : //auth.example.com : 8443 --key-file key webhook en', ['enable']],
];

test('shells that show descriptions show the group of each command', () => {
  for (const shell of ['zsh', 'fish'] as const) {
    const script = completionScript(shell, program);
    for (const text of [
      'daily: Create and manage accounts',
      'operate: Run the service',
      'recover: Replay the deletion journal',
    ])
      assert.ok(script.includes(text), `${shell}: ${text}`);
  }
});

suite('bash completes', { skip: skipReason('bash') }, () => {
  for (const [line, expected] of cases) {
    test(line, () => {
      using temp = newTempFolder();
      const script = join(temp.path, 'script');
      writeFileSync(script, completionScript('bash', program));
      const cwd = join(temp.path, 'work');
      mkdirSync(join(cwd, 'folder'), { recursive: true });
      writeFileSync(join(cwd, 'a file'), '');
      const args = ['--norc', '-c', completeInBash, 'bash', script, ...line.split(' ')];
      const { status, stdout, stderr } = spawnSync('bash', args, { cwd, encoding: 'utf8' });
      assert.deepEqual([status, stderr], [0, '']);
      assert.deepEqual(
        stdout
          .split('\n')
          .filter((word) => word !== '')
          .toSorted(),
        expected.toSorted(),
      );
    });
  }
});
