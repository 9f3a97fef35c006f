/** Requests to the account and key endpoints over `fetch`, and their errors by code. */
import type { ManagementErrorCode } from './account-types.ts';
import type { CallOptions } from './question.ts';
import { serviceUrl } from './service-url.ts';
import { reasonOf, secondsOf } from './unavailable.ts';
import { userAgent } from './user-agent.ts';

export interface Service {
  /** Of Keyreeve, such as `https://auth.example.com`. */
  readonly url: string;
  /** Allows `http:` to other hosts than loopback. */
  readonly allowPlainHttp?: boolean | undefined;
  /** Of the requests, instead of that of this package. The list of sessions shows it. */
  readonly userAgent?: string | undefined;
  /** Sends the requests, for example through a proxy. Default: that of the runtime. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

const codeForm = /^[a-z_]{1,64}$/;

/**
 * A problem document (RFC 9457) of the service, or an error of its OAuth endpoint (RFC 6749 section 5.2). The message has no control
 * characters, which a terminal would follow.
 */
export class KeyreeveError extends Error {
  /** Stable: `invalid_credentials`, `nickname_taken` and so on. `unavailable` without a response of the service. */
  readonly code: ManagementErrorCode | (string & {});
  /** 0 without a response. */
  readonly status: number;
  /** Of Retry-After. */
  readonly retryAfterSeconds: number | undefined;
  /** All members of the problem document, as the server sent them. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(status: number, problem: Readonly<Record<string, unknown>>, retryAfter?: string | null, cause?: unknown) {
    // RFC 6749 section 5.2 has other names.
    const { detail = problem['error_description'], code = problem['error'] } = problem;
    super(typeof detail === 'string' ? detail.replaceAll(/\p{Cc}/gu, ' ') : `status ${status}`, { cause });
    this.name = 'KeyreeveError';
    this.code = typeof code === 'string' && codeForm.test(code) ? code : 'unavailable';
    this.status = status;
    this.retryAfterSeconds = secondsOf(retryAfter);
    this.problem = problem;
  }
}

/** Without the content, which may have a secret. */
export const otherForm = (status = 200): KeyreeveError =>
  new KeyreeveError(status, { detail: 'the response has another form than expected' });

/** `timeoutMs` is 30,000 by default. */
export interface AccountRequest extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the URL of the service, without a slash at the start. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; `URLSearchParams` as a form. */
  readonly body?: unknown;
  /** Whether a success other than 204 may have no content (RFC 7009 section 2.2). Default: false. */
  readonly mayBeEmpty?: boolean;
}

const deadlineMs = 30_000;
const contentBytesMax = 16_777_216;

/**
 * Sends a request once.
 * @returns the content, undefined if there is none
 * @throws KeyreeveError for every response except success, for content that is absent or no JSON object, and without a complete response of at
 *   most 16 MiB within the time
 * @throws the reason of the signal
 */
export async function send(service: Service, request: AccountRequest): Promise<unknown> {
  const { signal: given, timeoutMs = deadlineMs } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await openResponse(service, request, given ? AbortSignal.any([given, timeout]) : timeout);
    const content = parse(await textOf(response));
    const isObject = typeof content === 'object' && content !== null;
    if (!isObject && response.status !== 204 && request.mayBeEmpty !== true) throw otherForm(response.status);
    return content;
  } catch (error) {
    given?.throwIfAborted();
    throw error;
  }
}

/**
 * Sends a request once.
 * @param signal ends the request, also while the content is read
 * @returns a response of success, whose content the caller reads
 * @throws KeyreeveError for every other response, also a redirect, and without one
 */
export async function openResponse(
  service: Service,
  { method, path, headers = {}, body }: AccountRequest,
  signal: AbortSignal,
): Promise<Response> {
  const [content, type] = contentOf(body);
  const agent = service.userAgent === undefined ? userAgent() : { 'User-Agent': service.userAgent };
  const url = serviceUrl(service, path);
  const all: Record<string, string> = { ...agent, ...type, ...headers };
  // Not as a method of the service.
  const request = service.fetch ?? fetch;
  const response = await request(url, { method, headers: all, redirect: 'manual', signal, ...content }).catch(
    noResponse,
  );
  if (response.ok) return response;
  const value = parse(await textOf(response));
  const problem = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  throw new KeyreeveError(response.status, problem, response.headers.get('retry-after'));
}

function contentOf(body: unknown): [content: { body?: string }, headers: Readonly<Record<string, string>>] {
  if (body === undefined) return [{}, {}];
  if (body instanceof URLSearchParams)
    return [{ body: body.toString() }, { 'Content-Type': 'application/x-www-form-urlencoded' }];
  return [{ body: JSON.stringify(body) }, { 'Content-Type': 'application/json' }];
}

function noResponse(error: unknown): never {
  throw new KeyreeveError(0, { detail: `Keyreeve gave no response: ${reasonOf(error)}` }, null, error);
}

/** Without the limit, a host that is not Keyreeve could fill the memory. */
async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = '';
  let bytes = 0;
  try {
    for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
      bytes += part.value.length;
      if (bytes > contentBytesMax) throw new Error('the response is too long');
      text += decoder.decode(part.value, { stream: true });
    }
  } catch (error) {
    void reader?.cancel().catch(() => undefined);
    noResponse(error);
  }
  return text + decoder.decode();
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
