/** Programs that can send an API key as Basic credential only, each with what it downloads. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';

export interface Credential {
  readonly user: string;
  readonly password: string;
}

export interface BasicClient {
  readonly program: string;
  /** A program that starts slowly runs through one proxy. */
  readonly isSlow?: true;
  /** Sends no user name without a password. */
  readonly needsPassword?: true;
  /** @param folder empty; for files of the client */
  args(url: URL, credential: Credential, folder: string): readonly string[];
  /** What the server has, by path. */
  readonly files: Readonly<Record<string, readonly [type: string, content: string]>>;
  /** Part of the output after the download. */
  readonly output: string;
}

const withCredential = (url: URL, { user, password }: Credential): string =>
  Object.assign(new URL(url), { username: user, password }).href;

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');
const commit = sha1('billing');
const index = 'application/vnd.oci.image.index.v1+json';

const parent = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>parent</artifactId>
  <version>1.0</version>
  <packaging>pom</packaging>
  <properties><downloaded>the downloaded parent</downloaded></properties>
</project>
`;

function writeProject(folder: string, url: URL): string {
  const file = join(folder, 'pom.xml');
  const text = `<project>
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>com.example</groupId>
    <artifactId>parent</artifactId>
    <version>1.0</version>
    <relativePath/>
  </parent>
  <artifactId>billing</artifactId>
  <packaging>pom</packaging>
  <name>\${downloaded}</name>
  <repositories>
    <repository>
      <id>protected</id>
      <url>${url.href}</url>
    </repository>
  </repositories>
</project>
`;
  writeFileSync(file, text);
  return file;
}

function writeSettings(folder: string, { user, password }: Credential): string {
  const file = join(folder, 'settings.xml');
  const server = `<id>protected</id><username>${user}</username><password>${password}</password>`;
  writeFileSync(file, `<settings><servers><server>${server}</server></servers></settings>\n`);
  return file;
}

export const basicClients: readonly BasicClient[] = [
  {
    program: 'git',
    args: (url, credential) => [
      '-c',
      'credential.helper=',
      'ls-remote',
      `${withCredential(url, credential)}billing.git`,
    ],
    // The protocol of a server that only has files.
    files: { '/billing.git/info/refs': ['text/plain', `${commit}\trefs/heads/main\n`] },
    output: commit,
  },
  {
    program: 'pip3',
    args: (url, credential) => [
      'index',
      'versions',
      '--no-cache-dir',
      '--retries=0',
      '--no-input',
      '--disable-pip-version-check',
      `--index-url=${withCredential(url, credential)}simple`,
      'billing',
    ],
    files: { '/simple/billing/': ['text/html', '<a href="billing-1.0-py3-none-any.whl">billing</a>'] },
    output: 'billing (1.0)',
  },
  {
    // The protocol of docker. The program of docker has a daemon.
    program: 'skopeo',
    args: (url, { user, password }) => [
      'inspect',
      '--raw',
      '--tls-verify=false',
      `--creds=${user}:${password}`,
      `docker://${url.host}/billing:1.0`,
    ],
    files: {
      '/v2/': ['application/json', '{}'],
      '/v2/billing/manifests/1.0': [index, `{"schemaVersion":2,"mediaType":"${index}","manifests":[]}`],
    },
    output: index,
  },
  {
    program: 'mvn',
    isSlow: true,
    needsPassword: true,
    args: (url, credential, folder) => {
      const settings = writeSettings(folder, credential);
      const repository = `-Dmaven.repo.local=${join(folder, 'repository')}`;
      return ['-B', '-s', settings, '-gs', settings, repository, '-f', writeProject(folder, url), 'validate'];
    },
    files: {
      '/com/example/parent/1.0/parent-1.0.pom': ['application/xml', parent],
      '/com/example/parent/1.0/parent-1.0.pom.sha1': ['text/plain', sha1(parent)],
    },
    output: 'the downloaded parent',
  },
];

/** Serves the files of a client. @param reached is called first; true if it has answered the request itself */
export const serveFiles =
  ({ files }: BasicClient, reached: RequestListener | undefined): RequestListener =>
  (request, response) => {
    reached?.(request, response);
    if (response.writableEnded) return;
    const [type, content] = files[new URL(request.url ?? '/', 'http://server').pathname] ?? [];
    if (type === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': type }).end(content);
  };

/** @returns whether the client has downloaded what it asked for */
export async function download(client: BasicClient, url: string, credential: Credential): Promise<boolean> {
  using folder = newTempFolder();
  const { HOME, PATH } = process.env;
  // Without settings of this machine for proxies. Java asks for none on loopback.
  const env = { HOME, PATH, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' };
  const args = client.args(new URL(url), credential, folder.path);
  const options = { cwd: folder.path, env, timeout: programMsMax };
  return await new Promise((resolve) => {
    execFile(client.program, args, options, (error, stdout) => resolve(!error && stdout.includes(client.output)));
  });
}
