/** The blocks of the pages for operators: which of them a test runs, and why the others cannot run here. */
import { readPage } from './shell-blocks.ts';

export interface Block {
  readonly page: string;
  readonly text: string;
  /** Undefined for a block that a test runs. */
  readonly reason: string | undefined;
}

const systemPackages = 'changes the packages and users of the machine; test/e2e/package installs the package';
const cluster = 'needs a Kubernetes cluster; test/docs/helm validates the manifests';
const containerEngine = 'needs Docker; test/e2e/container builds the image and runs the commands with buildah and runc';
const run = undefined;

/** By page: the beginning of each block of shell or SQL in order, and its reason. */
const listed: Readonly<Record<string, readonly (readonly [start: string, reason: string | undefined])[]>> = {
  'operating.md': [
    ['npm ci && npm run packages', 'test/e2e/package installs the packed package and runs it'],
    ['minisign -V', 'needs a published release; test/docs/release signs and verifies one'],
    ['KEYREEVE_PUBLIC_URL=', run],
    ['keyreeve account create', run],
    ['keyreeve signing-key rotate', run],
    ['npm ci && npm run image', containerEngine],
    ['docker exec', containerEngine],
  ],
  'deploy.md': [
    ['apt-get install', systemPackages],
    ['install -d -m 0755', run],
    ['(umask 077; openssl', run],
    ['cp /opt/keyreeve/', run],
    ['systemctl reload caddy', 'needs systemd as the first process; test/docs/caddy-tutorial runs Caddy'],
    ['install -m 0755 /opt/keyreeve/', run],
    ['install -d -o keyreeve', run],
    ['keyreeve signing-key rotate', run],
    ['new=/etc/keyreeve/master-key-', run],
    ['keyreeve master-key rotate', run],
    ['keyreeve backup --to', run],
  ],
  'cluster.md': [
    ['kubectl create secret', cluster],
    ['export KEYREEVE_DATABASE_URL=', run],
    ['kubectl exec', cluster],
    ['keyreeve prove-revocation', 'test/e2e/prove-revocation runs it on several instances'],
    ['kubectl create job', cluster],
    ['new=master-key-', cluster],
    ['kubectl create job', cluster],
    ['kubectl scale', 'needs a Kubernetes cluster; test/e2e/root-key runs the commands of the job'],
    ['kubectl create job', cluster],
    ['kubectl scale', cluster],
    ['file=/backups', cluster],
    ['grant pg_read_all_stats', 'needs a standby; test/revocation-check/earlier-primary runs with this right'],
    ['keyreeve doctor  ', 'needs a standby, like test/revocation-check/earlier-primary'],
    ['keyreeve journal replay', 'needs a standby, like test/revocation-check/earlier-primary'],
  ],
  'backup.md': [
    ['keyreeve backup --to backups/', run],
    ['keyreeve backup --to backups --keep', run],
    ['age-keygen', 'needs age and a second machine; test/e2e/backup-streams runs the commands'],
    ['export KEYREEVE_STORAGE_ENDPOINT=', 'needs storage; test/e2e/backup-storage runs the command'],
    ['keyreeve restore', run],
    ['keyreeve journal replay', run],
    ['export KEYREEVE_DATABASE_URL=sqlite:/tmp/drill', run],
    ['keyreeve move', run],
    ['KEYREEVE_DATABASE_URL=postgres', run],
  ],
  'master-key.md': [
    ['keyreeve master-key rotate --new-file', run],
    ['keyreeve master-key rotate  ', run],
    ['keyreeve master-key rotate', 'changes the root key; test/e2e/root-key runs these commands on each database'],
  ],
  'upgrade.md': [['keyreeve doctor', run]],
  'postgresql.md': [['create role keyreeve_runtime', 'test/e2e/postgres runs a service with such a role']],
  'retention.md': [],
};

/** @returns the blocks of the page, in order @throws Error if the page has other blocks than the list */
export function blocksOf(page: string): Block[] {
  const texts = [...readPage(`docs/${page}`).matchAll(/^ *```(?:sh|sql)\n([^]*?)^ *```$/gm)].map(
    ([, text = '']) => text,
  );
  const entries = listed[page] ?? [];
  return Array.from({ length: Math.max(texts.length, entries.length) }, (_, index) => {
    const [text = '', [start = '', reason] = []] = [texts[index], entries[index]];
    if (start === '' || !text.startsWith(start))
      throw new Error(`docs/${page} has other blocks than the list in operating-pages.ts: “${start}”, “${text}”`);
    return { page, text, reason };
  });
}

export const operatingPages = Object.keys(listed);

/** Pages whose blocks `npm test` runs. */
export const pagesInNpmTest: readonly string[] = ['master-key.md'];
