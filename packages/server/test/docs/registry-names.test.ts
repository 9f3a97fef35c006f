/** No document, and no text of the program, has a command that asks a public registry for a name of this project. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areNamesOurs } from '../../../../scripts/package-names.ts';
import { texts } from './tree.ts';

/** Documents, files for operators, and everything that the program, the libraries and the console show. */
const shown = [...texts].filter(
  ([path]) =>
    (path.endsWith('.md') || /^(?:docs|ops|packages|scripts)\/|^(?:openapi\.json|package\.json)$/.test(path)) &&
    !/(?:\/test\/|\/test-kit\/|_test\.go$)/.test(path),
);

/** Commands that install or run a package, with what may stand before the names of packages. */
const installers = [
  String.raw`(?:npm|pnpm|yarn|bun|cnpm)(?: +-\S+| +\S*\/\S*)* +(?:install|i|in|add|ci|update|upgrade|up|exec|x|dlx|create|init|view|pack)`,
  String.raw`(?:npx|bunx|pnpx)`,
  String.raw`(?:deno +(?:add|install|run))`,
  String.raw`(?:pip3?|uv|uvx|pipx|poetry|pdm|conda|rye)(?: +(?:pip|tool|run|add|install|download|wheel))*`,
  String.raw`go +(?:get|install|run)`,
];
/** A name of this project that is no part of a path: `keyreeve`, `keyreeve@1`, `keyreeve[fastapi]`, `@keyreeve/client`. */
const ownName = String.raw`["']?(?:npm:|jsr:)?(?:keyreeve|@keyreeve\/[\w-]+)(?:(?:@|==|>=|~=|\[)[^\s"'\`]*)?["']?(?=[\s\`;&|)]|$)`;
const asking = new RegExp(String.raw`\b(?:${installers.join('|')})(?<args>(?: +[^\s;&|]+)*?) +${ownName}`);

/** With this option, npm runs an installed program only. */
const isLocal = (command: string): boolean => /^(?:npx|npm) .*--no(?:-install)?\b/.test(command);

/** Words of a command that are no line of it, as in Markdown and in strings of the sources. */
const linesOf = (text: string): string[] => text.replaceAll(/\\\n\s*/g, ' ').split(/\n|`|&&|[;|]/);

const commandsIn = (text: string): string[] =>
  linesOf(text).flatMap((line) => {
    const found = asking.exec(line.replaceAll(/\s+/g, ' '))?.[0];
    return found === undefined || isLocal(found) ? [] : [found];
  });

test('the search finds commands that ask a registry, and no others', () => {
  for (const command of [
    'npm install keyreeve',
    'npm install keyreeve && npx --no-install keyreeve serve',
    'npm i -g keyreeve@latest',
    'npm install --prefix /opt/keyreeve keyreeve@latest',
    'npm install express @keyreeve/client',
    'npm install express \\\n  @keyreeve/client@1',
    'npm init --yes && npm pkg set type=module && npm install express @keyreeve/client',
    'npm exec keyreeve serve',
    'pnpm add @keyreeve/otel',
    'yarn add "@keyreeve/client"',
    'npx keyreeve serve',
    'PASSWORD=$(npx keyreeve account create you@example.com)',
    'npx --yes keyreeve@1.0.0 doctor',
    'deno add npm:@keyreeve/client',
    'pip install keyreeve',
    'pip install fastapi uvicorn keyreeve[fastapi]',
    'python3 -m pip install --user keyreeve==1.0.0',
    'uv add keyreeve',
    'uv pip install keyreeve',
    'go get keyreeve@latest',
    'go install keyreeve',
    'Run `npm install express @keyreeve/client`, and write',
  ])
    assert.equal(commandsIn(command).length, 1, command);
  for (const command of [
    'npm install "$KEYREEVE"/dist/keyreeve-client-*.tgz',
    'npm install ./keyreeve-[0-9]*.tgz && node_modules/.bin/keyreeve serve',
    'npm install --prefix /opt/keyreeve /root/keyreeve-1.0.0.tgz',
    'npm --prefix "$KEYREEVE" run packages',
    'npx --no-install keyreeve serve',
    'pip install fastapi uvicorn "$KEYREEVE"/dist/keyreeve-*.whl',
    'go mod edit -require keyreeve@v1.0.0 -replace keyreeve=./keyreeve',
    'helm install keyreeve ops/helm/keyreeve',
    'docker build -t keyreeve .',
    'cd /srv/keyreeve && node_modules/.bin/keyreeve audit verify',
    'npm ci && npm start',
    'keyreeve serve',
  ])
    assert.deepEqual(commandsIn(command), [], command);
});

test(
  'no document asks a public registry for a name that does not belong to this project',
  { skip: areNamesOurs },
  () => {
    assert.ok(shown.length > 400);
    const found = shown.flatMap(([path, text]) => commandsIn(text).map((command) => ({ path, command })));
    assert.deepEqual(found, []);
  },
);
