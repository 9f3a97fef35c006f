/** Functions that return the identity token of a workload. */
import { keyForm } from './service-key.ts';
import { reasonOf } from './unavailable.ts';

export interface TokenRequest {
  /** The claim `aud` that the key expects. */
  readonly audience: string;
  /** Ends after the time limit of the exchange, and when no caller waits for it. */
  readonly signal: AbortSignal;
}

/** Returns a token with the audience that was signed for this call, or that is still valid for some time. */
export type IdentityToken = (request: TokenRequest) => string | Promise<string>;

/** The token of a job of GitHub Actions that has the permission `id-token: write`. */
export const githubToken: IdentityToken = async ({ audience, signal }) => {
  // oxlint-disable-next-line node/no-process-env -- where GitHub states them
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url = '', ACTIONS_ID_TOKEN_REQUEST_TOKEN: token = '' } = process.env;
  if (!URL.canParse(url) || !keyForm.test(token))
    throw new Error('githubToken: the job needs the permission `id-token: write`');
  const target = new URL(url);
  target.searchParams.set('audience', audience);
  const text = await read('githubToken', target, { Authorization: `Bearer ${token}` }, signal);
  try {
    return (JSON.parse(text) as { value: string }).value;
  } catch {
    throw new Error('githubToken: the response is not JSON');
  }
};

/** The token of the service account of a machine, a pod or a function on Google Cloud. */
export const googleToken: IdentityToken = ({ audience, signal }) => {
  // oxlint-disable-next-line node/no-process-env -- the variable of Google's own libraries
  const { GCE_METADATA_HOST: host = 'metadata.google.internal' } = process.env;
  const url = new URL(`http://${host}/computeMetadata/v1/instance/service-accounts/default/identity`);
  url.search = new URLSearchParams({ audience, format: 'full' }).toString();
  return read('googleToken', url, { 'Metadata-Flavor': 'Google' }, signal);
};

/** On Node: a token that the platform renews in a file, such as a projected token of Kubernetes. It determines the audience. */
export const tokenFromFile =
  (path: string): IdentityToken =>
  async ({ signal }) => {
    const { readFile } = await import('node:fs/promises');
    return (await readFile(path, { encoding: 'utf8', signal })).trim();
  };

/** @throws Error without a response of success; the message has no header and no content */
async function read(
  name: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal });
    const text = await response.text();
    if (response.status === 200) return text;
    throw new Error(`status ${response.status}`);
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`${name}: ${reasonOf(error)}`, { cause: error });
  }
}
