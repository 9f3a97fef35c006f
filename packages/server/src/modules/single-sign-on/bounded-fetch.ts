/** Requests to the OpenID provider: without redirects, and with bounds on time and size. */
import { limits } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { isLoopback } from '../../foundation/ip-address.ts';

/** Responses with these statuses have no content (Fetch standard). */
const withoutContent = [204, 205, 304];

type FetchOptions = NonNullable<Parameters<typeof fetch>[1]>;

/** The parts of a request that the libraries set. */
export interface ProviderRequest {
  readonly method?: string;
  readonly headers?: FetchOptions['headers'] | undefined;
  readonly body?: FetchOptions['body'] | undefined;
}

/** Whether requests to the URL are protected: https, or http within this machine. */
export function isProtected(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:') return true;
  return url?.protocol === 'http:' && isLoopback(url.hostname.replaceAll(/^\[|\]$/g, ''));
}

/**
 * As `fetch`, with the complete response. The discovery document of the provider states most URLs, so each is checked.
 * @throws DomainError `identity_provider_unavailable` for a failed connection, a server error or a response out of bounds
 */
export async function boundedFetch(url: string, { method = 'GET', headers, body }: ProviderRequest): Promise<Response> {
  if (!isProtected(url)) throw unavailable(new Error(`${url} uses neither https nor a loopback address`));
  try {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(limits.identityProviderSecondsMax * 1000),
      ...(headers ? { headers } : {}),
      ...(body === undefined || body === null ? {} : { body }),
    });
    const { status } = response;
    if (status >= 500) throw new Error(`${url} returned the status ${status}`);
    const bytes = await readBounded(response);
    const content = withoutContent.includes(status) ? null : bytes;
    return new Response(content, { status, headers: response.headers });
  } catch (error) {
    throw unavailable(error);
  }
}

export const unavailable = (cause: unknown): DomainError => new DomainError('identity_provider_unavailable', { cause });

/** @throws Error when the content has too many bytes */
async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > limits.identityProviderBytesMax)
      throw new Error(`${response.url} returned more than ${limits.identityProviderBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
