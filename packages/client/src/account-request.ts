/** Requests to the account and key endpoints over `fetch`, and their errors by code. */
import { serviceUrl } from './service-url.ts';
import { userAgent } from './user-agent.ts';

export interface Service {
  /** Of Keyreeve, such as `https://auth.example.com`. */
  readonly url: string;
  /** Allows `http:` to other hosts than loopback. */
  readonly allowPlainHttp?: boolean | undefined;
}

/** A problem document (RFC 9457) of the service. */
export class KeyreeveError extends Error {
  /** Stable: `invalid_credentials`, `nickname_taken` and so on. `unavailable` without a response of the service. */
  readonly code: string;
  /** 0 without a response. */
  readonly status: number;
  /** Of Retry-After. */
  readonly retryAfterSeconds: number | undefined;
  /** All members of the problem document. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(status: number, problem: Readonly<Record<string, unknown>>, retryAfter?: string | null, cause?: unknown) {
    super(typeof problem['detail'] === 'string' ? problem['detail'] : `status ${status}`, { cause });
    this.name = 'KeyreeveError';
    this.code = typeof problem['code'] === 'string' ? problem['code'] : 'unavailable';
    this.status = status;
    this.retryAfterSeconds = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
    this.problem = problem;
  }
}

export interface AccountRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to the URL of the service, without a slash at the start. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const deadlineMs = 30_000;

/**
 * Sends a request once.
 * @returns the content, undefined if there is none
 * @throws KeyreeveError for every response except success, and without a response within 30 s
 */
export async function send(service: Service, { method, path, headers = {}, body }: AccountRequest): Promise<unknown> {
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const url = serviceUrl(service, path);
  let response: Response;
  let text: string;
  try {
    const signal = AbortSignal.timeout(deadlineMs);
    const all: Record<string, string> = { ...userAgent(), ...type, ...headers };
    response = await fetch(url, { method, headers: all, redirect: 'manual', signal, ...content });
    text = await response.text();
  } catch (error) {
    throw new KeyreeveError(0, { detail: 'Keyreeve gave no response.' }, null, error);
  }
  const value = parse(text);
  if (response.ok) return value;
  const problem = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  throw new KeyreeveError(response.status, problem, response.headers.get('retry-after'));
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
