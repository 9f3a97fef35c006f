/**
 * What `npm start` builds in a checkout, and whether a build is that of the sources as they are. The stamp in the build is a hash of path,
 * size and time of every input, because reading a thousand files would delay each start. A clone has new times, so its first start builds.
 * Packages and images contain builds without a stamp, which are never checked. Plain JavaScript for Node 20, because the launcher needs it.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Has no file extension, so the service does not serve it. */
export const stampName = 'stamp';
const packages = fileURLToPath(new URL('../../', import.meta.url));
const shared = ['contract/src', '../scripts/build.ts', '../package-lock.json'];

/**
 * @typedef {object} Build
 * @property {string} folder that contains the build
 * @property {readonly string[]} inputs below `packages/`
 */

/** @type {Readonly<Record<'console' | 'guides' | 'program', Build>>} */
export const builds = {
  console: {
    folder: join(packages, 'console/dist'),
    inputs: [
      'console/build.ts',
      'console/examples.ts',
      'console/package.json',
      'console/tsconfig.json',
      'console/src',
      'elements/build.ts',
      'elements/src',
      'elements/tsconfig.json',
      'server/src/http/tokens.css',
      'go/README.md',
      '../docs/verification.md',
      '../docs/tutorials/express.md',
      '../docs/tutorials/fastapi.md',
      '../docs/forward-auth/nginx.conf',
      '../docs/forward-auth/Caddyfile',
      ...shared,
    ],
  },
  guides: {
    folder: join(packages, 'guides/dist'),
    inputs: [
      'guides/build.ts',
      'guides/package.json',
      'guides/src',
      'server/src/http/html.ts',
      'server/src/http/tokens.css',
      'console/src/static/icon.svg',
      // The documents, which README.md leads to.
      '../README.md',
      '../docs',
      '../ops',
      'client/README.md',
      'python/README.md',
      'go/README.md',
      'elements/README.md',
      'elements/examples/README.md',
      'python/examples',
      'go/examples/acme',
      '../bench/RESULTS.md',
      '../ARCHITECTURE.md',
      '../CHANGELOG.md',
      '../CONTRIBUTING.md',
      '../SECURITY.md',
      '../LICENSE',
      ...shared,
    ],
  },
  program: {
    // In the npm package, too.
    folder: fileURLToPath(new URL('../dist', import.meta.url)),
    inputs: [
      'server/build.ts',
      'server/package.json',
      'server/src',
      'server/revocation-check',
      'client/src',
      ...shared,
    ],
  },
};

/**
 * @param {Build} build
 * @throws Error if an input cannot be read
 */
export function stampOf({ inputs }) {
  const hash = createHash('sha256');
  /** @param {string} path */
  const add = (path) => {
    const stats = statSync(join(packages, path));
    if (!stats.isDirectory()) hash.update(`${path}\0${stats.size}\0${stats.mtimeMs}\n`);
    else for (const name of readdirSync(join(packages, path)).toSorted()) if (name !== 'test') add(`${path}/${name}`);
  };
  for (const path of inputs) add(path);
  return hash.digest('hex');
}

/**
 * Whether it is that of a package or an image.
 * @param {Build} build
 */
export const isFinal = ({ folder }) =>
  // A file of the build shows that this user can read the folder.
  existsSync(join(folder, 'licences.txt')) && !existsSync(join(folder, stampName));

/** @param {Build} build */
export function isBuilt(build) {
  try {
    return readFileSync(join(build.folder, stampName), 'utf8') === stampOf(build);
  } catch {
    return false;
  }
}
