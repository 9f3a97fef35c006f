/** The code blocks of README.md work in other shells too. */
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { assertWorksIn } from './readme-blocks.ts';

for (const shell of ['/bin/bash', '/bin/zsh'].filter((path) => existsSync(path))) {
  test(`each block works as it stands in ${shell}: account, token, key, 200, deletion, 401`, (t) =>
    assertWorksIn(shell, t));
}
