/** Requests about the API keys of an account. */
import type { AccountRequest } from './account-request.ts';
import type {
  CreatedKey,
  KeyChange,
  KeyDetails,
  KeyQuery,
  KeySummary,
  NewKey,
  Page,
  PageQuery,
  RotatedKey,
  Rotation,
} from './account-types.ts';
import { hideSecret } from './hide-secret.ts';
import type { CallOptions } from './question.ts';

/** Sends requests with a credential: a session, or a client with a management key. */
export interface Caller {
  /** @returns the content of the response @throws KeyreeveError for every response except success, and without one */
  call<T>(request: AccountRequest): Promise<T>;
}

export class Keys {
  readonly #caller: Caller;
  readonly #path: string;

  /** @param path of the keys */
  constructor(caller: Caller, path: string) {
    this.#caller = caller;
    this.#path = path;
  }

  /** @throws KeyreeveError `nickname_taken`, `key_limit_reached`, `scope_not_entitled` and others */
  async create(key: NewKey, options: CallOptions = {}): Promise<CreatedKey> {
    const request = { ...options, method: 'POST', path: this.#path, body: key } as const;
    return hideSecret('CreatedKey', await this.#caller.call<CreatedKey>(request), ({ id }) => id);
  }

  /** @returns a page. {@link Keys.list} reads all of them */
  async page(query: KeyQuery & PageQuery = {}, options: CallOptions = {}): Promise<Page<KeySummary>> {
    // Without a limit, the response would be no page.
    const path = `${this.#path}${queryOf({ ...query, view: 'full', limit: query.limit ?? 100 })}`;
    const read = await this.#caller.call<KeyList>({ ...options, method: 'GET', path });
    return { entries: read.apiKeys, nextCursor: read.nextCursor };
  }

  /** All keys, page by page. */
  list(query: KeyQuery = {}, options: CallOptions = {}): AsyncIterable<KeySummary> {
    return entriesOf((cursor) => this.page({ ...query, ...cursor }, options));
  }

  /** @throws KeyreeveError `key_not_found` */
  async get(id: number, options: CallOptions = {}): Promise<KeyDetails> {
    return this.#caller.call({ ...options, method: 'GET', path: this.#of(id) });
  }

  /** Changes also the limits of the key. */
  async change(id: number, change: KeyChange, options: CallOptions = {}): Promise<KeyDetails> {
    return this.#caller.call({ ...options, method: 'PATCH', path: this.#of(id), body: change });
  }

  /** Replaces the secret. @throws KeyreeveError `overlap_in_progress` and others */
  async rotate(id: number, rotation: Rotation = {}, options: CallOptions = {}): Promise<RotatedKey> {
    const request = { ...options, method: 'POST', path: `${this.#of(id)}/rotate`, body: rotation } as const;
    return hideSecret('RotatedKey', await this.#caller.call<RotatedKey>(request), () => id);
  }

  /** Every verification that starts after the promise is fulfilled rejects the key. Cannot be undone. */
  async delete(id: number, options: CallOptions = {}): Promise<void> {
    await this.#caller.call({ ...options, method: 'DELETE', path: this.#of(id) });
  }

  /** @throws TypeError for what is no id, such as a text with dots, which would lead to the key of another account */
  #of(id: number): string {
    if (!Number.isSafeInteger(id) || id <= 0) throw new TypeError('id must be the number of a key');
    return `${this.#path}/${id}`;
  }
}

interface KeyList {
  readonly apiKeys: readonly KeySummary[];
  readonly nextCursor: string | null;
}

/** Parameters that are undefined are left out. */
export function queryOf(parameters: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/** The entries of all pages. */
export async function* entriesOf<T>(read: (cursor: PageQuery) => Promise<Page<T>>): AsyncGenerator<T> {
  let page = await read({});
  yield* page.entries;
  while (page.nextCursor !== null) {
    page = await read({ cursor: page.nextCursor });
    yield* page.entries;
  }
}
