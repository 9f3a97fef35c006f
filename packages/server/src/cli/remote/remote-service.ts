/** Sends the requests of commands to a remote service, by the routes of the contract, and checks its responses. */
import { openResponse, send, type AccountRequest, type Service } from '@keyreeve/client/account';
import type { RouteContract } from '@keyreeve/contract';
import type { Static, TSchema } from 'typebox';
import { checkOf } from '../../http/validation.ts';
import { UsageError } from '../failure.ts';
import { failureOf, notKeyreeve, RemoteError } from './remote-error.ts';

export interface Credential {
  readonly kind: 'administrator' | 'management_key';
  /** Of the administrator; undefined for a management key. */
  accountId?(): Promise<string>;
  /** Calls `attempt` with the fields of the credential, and again after a failure that another one resolves. */
  send<T>(attempt: (headers: Readonly<Record<string, string>>) => Promise<T>): Promise<T>;
}

export interface Parts {
  readonly params?: Readonly<Record<string, string | number>>;
  /** An undefined value is left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
}

export type ContentOf<C extends RouteContract> = C extends { success: { schema: infer S extends TSchema } }
  ? Static<S>
  : undefined;

export class RemoteService {
  readonly url: string;
  readonly caller: Credential['kind'];
  readonly #service: Service;
  readonly #credential: Credential;

  constructor(service: Service, credential: Credential) {
    this.url = service.url;
    this.caller = credential.kind;
    this.#service = service;
    this.#credential = credential;
  }

  /** @returns the account of the administrator; undefined with a management key */
  async accountId(): Promise<string | undefined> {
    return this.#credential.accountId?.();
  }

  /** @throws DomainError of the service, RemoteError */
  async request<const C extends RouteContract>(contract: C, parts: Parts = {}): Promise<ContentOf<C>> {
    const request = requestOf(contract, parts);
    const isChange = contract.method !== 'GET';
    const content = await this.#credential
      .send((headers) => send(this.#service, { ...request, headers }))
      .catch((error: unknown) => {
        throw failureOf(error, this.url, isChange);
      });
    if (!isContentOf(contract, content)) throw notKeyreeve(this.url, 200, isChange);
    return content as ContentOf<C>;
  }

  /** Content that is not JSON, as it arrives. @throws as {@link request}; also while it is read, if it is not complete */
  async *content(contract: RouteContract, parts: Parts, contentType: string): AsyncGenerator<string> {
    const request = requestOf(contract, parts);
    const silence = new Silence();
    try {
      const response = await this.#credential.send((headers) =>
        openResponse(this.#service, { ...request, headers }, silence.signal),
      );
      if (response.headers.get('content-type') !== contentType) throw notKeyreeve(this.url, response.status, false);
      const decoder = new TextDecoder();
      for await (const part of response.body ?? []) {
        silence.restart();
        yield decoder.decode(part, { stream: true });
      }
      yield decoder.decode();
    } catch (error) {
      const found = failureOf(error, this.url, false);
      // The connection ended in the middle.
      throw found instanceof TypeError ? new RemoteError('unreachable', `${this.url} did not send everything`) : found;
    } finally {
      silence.end();
    }
  }
}

/** Ends a request of which nothing arrives for a minute. */
class Silence {
  readonly #controller = new AbortController();
  readonly #timer = setTimeout(() => this.#controller.abort(new Error('nothing arrived for a minute')), 60_000);

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

function requestOf({ method, path }: RouteContract, { params = {}, query = {}, body }: Parts): AccountRequest {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => segmentOf(String(params[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return {
    method,
    path: `${filled.slice(1)}${search.size > 0 ? `?${search.toString()}` : ''}`,
    ...(body === undefined ? {} : { body }),
  };
}

/** The parser of URLs removes a segment of dots, so that the request would have another path. */
function segmentOf(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new UsageError(`“${text}” is not an id or a name`);
  return encodeURIComponent(text);
}

const checks = new WeakMap<TSchema, (value: unknown) => boolean>();

/** Whether the content has what the contract names. A later release can add members and values of enumerations. */
function isContentOf({ success: { schema } }: RouteContract, content: unknown): boolean {
  if (!schema) return content === undefined;
  const known = checks.get(schema);
  const check = known ?? checkOf(tolerant(schema));
  checks.set(schema, check);
  return check(content);
}

const tolerant = (schema: TSchema): TSchema =>
  JSON.parse(JSON.stringify(schema), (name, value: unknown) => {
    if (name === 'additionalProperties' && value === false) return undefined;
    const isOfTexts = isEnumeration(value) && value.enum.every((item) => typeof item === 'string');
    return isOfTexts ? { type: 'string' } : value;
  }) as TSchema;

const isEnumeration = (value: unknown): value is { readonly enum: readonly unknown[] } =>
  typeof value === 'object' && value !== null && 'enum' in value && Array.isArray(value.enum);
