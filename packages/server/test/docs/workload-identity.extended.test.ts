/**
 * The recipes of docs/workload-identity.md work as they stand, with the tokens of local issuers: each declares an issuer and
 * creates a key, its job gets a secret and sends a request, and after the deletion of the key the request is rejected.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import type { ShapeName } from '../../test-kit/identity-claims.ts';
import { newIdentityIssuer, newIssuerKey, type IdentityIssuer } from '../../test-kit/identity-issuer.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { environmentFor, newProgram, type Environment, type Program } from '../e2e/program.ts';
import { hasCurl } from './curl-program.ts';
import { outputsOf, readPage, root, shellBlocks } from './shell-blocks.ts';
import { assertLike } from './shown-json.ts';

const execute = promisify(execFile);
const page = readPage('docs/workload-identity.md');

interface Recipe {
  readonly section: string;
  readonly shape: ShapeName;
  /** Of the issuer in the page. */
  readonly url: string;
  /** What the page does not state, because the URL does. */
  readonly preset?: string;
  /** Of a fixed JWK set: the URL stays. */
  readonly isFixed?: boolean;
}

const recipes: readonly Recipe[] = [
  {
    section: 'GitHub Actions',
    shape: 'github',
    url: 'https://token.actions.githubusercontent.com',
    preset: 'github',
  },
  { section: 'GitLab CI', shape: 'gitlab', url: 'https://gitlab.com', preset: 'gitlab' },
  { section: 'Kubernetes', shape: 'kubernetes', url: 'https://kubernetes.default.svc', isFixed: true },
  {
    section: 'AWS',
    shape: 'aws',
    url: 'https://11111111-2222-3333-4444-555555555555.tokens.sts.global.api.aws',
  },
  { section: 'Google Cloud', shape: 'google', url: 'https://accounts.google.com', preset: 'google' },
  { section: 'Azure', shape: 'azureV1', url: 'https://sts.windows.net/3f2504e0-4f89-41d3-9a0c-0305e82c3301/' },
];

/** The section with a request. */
const overHttp = 'Create a key';

const sectionOf = (title: string): string => page.split(`\n## ${title}\n`)[1]?.split(/\n## /)[0] ?? '';

/** The commands below `- |` or `- run: |` of a job in YAML. */
function scriptIn(section: string): string {
  const [, space = '', text = ''] = /- (?:run: )?\|\n( +)([^]*?)\n```/.exec(section) ?? [];
  return text.replaceAll(`\n${space}`, '\n');
}

/** What the platforms have: the token of the job is in `IDENTITY`. */
const platform = `
keyreeve() { "${root}/node_modules/.bin/keyreeve" "$@"; }
curl() {
  case "$*" in
    *actions.example.com*) printf '{"value":"%s"}' "$IDENTITY" ;;
    *metadata.google.internal*) printf '%s' "$IDENTITY" ;;
    *169.254.169.254*) printf '{"token_type":"Bearer","access_token":"%s"}' "$IDENTITY" ;;
    *) command curl "$@" ;;
  esac
}
aws() { printf '%s' "$IDENTITY"; }
TOKEN=$IDENTITY
ACTIONS_ID_TOKEN_REQUEST_URL='https://actions.example.com/token?api-version=2'
ACTIONS_ID_TOKEN_REQUEST_TOKEN=secret
`;

interface Place {
  readonly program: Program;
  readonly folder: string;
  readonly issuers: ReadonlyMap<string, IdentityIssuer>;
  readonly environment: Environment & Readonly<Record<'KEYREEVE_PUBLIC_URL' | 'KEYREEVE_EXCHANGE_AUDIENCES', string>>;
}

async function runRecipe({ section: title, shape, url, preset, isFixed = false }: Recipe, place: Place) {
  const { program, folder, issuers, environment } = place;
  const issuer = issuers.get(title)!;
  const section = sectionOf(title);
  const identity = issuer.token(shape, {
    audience: title === 'Azure' ? environment.KEYREEVE_EXCHANGE_AUDIENCES : environment.KEYREEVE_PUBLIC_URL,
    ...(isFixed && { claims: { iss: url } }),
  });
  writeFileSync(join(folder, 'jwks.json'), JSON.stringify(issuer.jwks));
  writeFileSync(join(folder, 'token'), identity);
  const local = (commands: string): string =>
    commands
      .replace(
        '--github-repository-id 4711 --ref refs/heads/main',
        `--trust '{"issuer":"${url}","claims":{"repository_id":"4711","ref":"refs/heads/main"}}'`,
      )
      .replace(/(issuer add \S+)$/m, preset ? `$1 --preset ${preset}` : '$1')
      .replaceAll(url, isFixed ? url : issuer.url)
      .replaceAll('jwks.json', join(folder, 'jwks.json'))
      .replaceAll('/var/run/secrets/keyreeve/token', join(folder, 'token'))
      .replaceAll('https://auth.example.com/auth', `${program.url}/auth`)
      .replaceAll('https://api.example.com/', `${program.url}/auth/forward`)
      .replaceAll('3920480220219155', '$KEY_ID');
  const [declaration = '', inShell = ''] = shellBlocks(section);
  const job = local(inShell || scriptIn(section));
  const request = /^curl -i .*$/m.exec(job)?.[0] ?? '';
  const deletion = /`(keyreeve\s+key\s+delete 3920480220219155)`/.exec(section)?.[1] ?? '';
  assert.ok(declaration && job && request && deletion, title);
  const script = `${platform}
CREATED=$(${local(declaration)})
printf '%s\\n' "$CREATED"
KEY_ID=$(printf '%s' "$CREATED" | sed -n 's/^Created API key \\([0-9]*\\).*/\\1/p')
${job}
${local(deletion)} --yes
${request}`;
  const env = { ...environmentFor(program.folder, environment), IDENTITY: identity };
  const { stdout } = await execute('/bin/sh', ['-eu', '-c', script], { cwd: root, env, timeout: programMsMax });
  return stdout;
}

async function newPlace(folder: string): Promise<Place & AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  const keys = [newIssuerKey()];
  const issuers = new Map<string, IdentityIssuer>();
  for (const section of [overHttp, ...recipes.map((recipe) => recipe.section)])
    issuers.set(section, started.use(await newIdentityIssuer({ keys })));
  const targets = [...issuers.values()].map(({ environment }) => environment.KEYREEVE_ISSUER_TARGETS);
  const environment = {
    ...[...issuers.values()][0]!.environment,
    KEYREEVE_ISSUER_TARGETS: targets.join(','),
    KEYREEVE_PUBLIC_URL: 'https://auth.example.com',
    KEYREEVE_EXCHANGE_AUDIENCES: /KEYREEVE_EXCHANGE_AUDIENCES=([^`]+)/.exec(page)?.[1] ?? '',
  };
  const program = started.use(await newProgram(environment));
  const parts = started.move();
  return { program, folder, issuers, environment, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

async function hasJq(t: TestContext): Promise<boolean> {
  const isInstalled = await execute('jq', ['--version']).then(
    () => true,
    () => false,
  );
  assert.ok(isInstalled || process.env['CI'] !== 'true', 'jq is not installed, and CI must try it');
  if (!isInstalled) t.skip('not tried: jq is not installed');
  return isInstalled;
}

/** Signs in as README.md does, and sends the request of the page, for another issuer. */
async function createOverHttp({ program, issuers, environment }: Place): Promise<void> {
  const { url } = issuers.get(overHttp)!;
  const [request = ''] = shellBlocks(sectionOf(overHttp));
  const settings = Object.entries(environment).map(([name, value]) => `export ${name}='${value}'\n`);
  const [, created = ''] = await outputsOf(
    [`${settings.join('')}keyreeve issuer add ${url} --preset github\n`, request.replaceAll(recipes[0]!.url, url)],
    program,
  );
  const [shown = ''] = /(?<=^```json\n)[^]*?(?=^```)/m.exec(sectionOf(overHttp)) ?? [];
  assertLike(JSON.parse(created), JSON.parse(shown), overHttp);
}

test('the request creates a key, and each recipe gives its workload access until the key is deleted', async (t) => {
  if (!hasCurl(t) || !(await hasJq(t))) return;
  using folder = newTempFolder();
  await using place = await newPlace(folder.path);
  await createOverHttp(place);
  for (const recipe of recipes) {
    const output = await runRecipe(recipe, place);
    const statuses = [...output.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status);
    assert.deepEqual(statuses, ['200', '401'], `${recipe.section}: ${output}`);
  }
});
