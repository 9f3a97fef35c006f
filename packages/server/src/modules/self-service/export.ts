/** The export of an account's own data as one JSON document, read in pages. */
import { limits, type AccountExport, type LinkedIdentity } from '@keyreeve/contract';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { ContentStream, Streams } from '../../http/stream.ts';
import { listEmailChanges } from '../accounts/email-change-store.ts';
import type { ApiKeys } from '../api-keys/api-keys.ts';
import { toFullKey } from '../api-keys/key-view.ts';
import type { MailLog } from '../mail-log/mail-log.ts';
import type { Passkeys } from '../passkeys/passkeys.ts';
import { toServiceAccount } from '../service-accounts/routes.ts';
import type { ServiceAccounts } from '../service-accounts/service-accounts.ts';
import { assertSessionContinues } from '../sessions/store.ts';
import type { TokenPairs } from '../tokens/token-pairs.ts';
import { toOwnAccount } from './account-view.ts';
import type { Activity } from './activity.ts';
import { emailChangesKeptSince } from './email-change-tx.ts';
import type { SelfServiceOptions } from './options.ts';
import type { OwnAccount } from './own-account.ts';

/** The lists of other modules that an export contains. */
export interface ExportedLists {
  readonly apiKeys: Pick<ApiKeys, 'page'>;
  readonly linkedIdentities: { list(principal: AccountPrincipal): Promise<LinkedIdentity[]> };
  readonly mailLog: Pick<MailLog, 'sentTo'>;
  readonly passkeys: Pick<Passkeys, 'list'>;
  readonly serviceAccounts: Pick<ServiceAccounts, 'page'>;
  readonly tokenPairs: Pick<TokenPairs, 'listSessions'>;
}

const rowsPerPage = '500';

interface Page {
  readonly rows: readonly object[];
  readonly nextCursor: string | null;
}

export class AccountExporter {
  readonly #options: Pick<SelfServiceOptions, 'db' | 'clock' | 'requests'>;
  readonly #own: OwnAccount;
  readonly #activity: Activity;

  constructor(options: Pick<SelfServiceOptions, 'db' | 'clock' | 'requests'>, own: OwnAccount, activity: Activity) {
    this.#options = options;
    this.#own = own;
    this.#activity = activity;
  }

  /**
   * @throws DomainError `too_many_requests`, `too_many_in_progress`, `invalid_access_token` if the account has been deleted
   */
  async open(principal: AccountPrincipal, lists: ExportedLists, streams: Streams): Promise<ContentStream> {
    const { db, clock, requests } = this.#options;
    const owner = principal.accountId;
    await requests.countExport(owner);
    const check = (): Promise<void> => assertSessionContinues(db, principal, clock.now());
    return streams.open({ name: 'account', owner, check, parts: this.#parts(principal, lists) });
  }

  /** The text of an {@link AccountExport}, by pages. */
  async *#parts(
    principal: AccountPrincipal,
    { apiKeys, linkedIdentities, mailLog, passkeys, serviceAccounts, tokenPairs }: ExportedLists,
  ): AsyncGenerator<string, void, undefined> {
    const head: Omit<AccountExport, 'mails' | 'serviceAccounts' | 'apiKeys' | 'activity' | 'isActivityComplete'> = {
      exportedAt: toInstant(this.#options.clock.now()),
      account: toOwnAccount(await this.#own.find(principal)),
      emailChanges: await this.#emailChanges(principal),
      identities: await linkedIdentities.list(principal),
      sessions: await tokenPairs.listSessions(principal),
      passkeys: (await passkeys.list(principal)).passkeys,
    };
    yield `${JSON.stringify(head).slice(0, -1)},"mails":`;
    yield* list(async (page) => {
      const { mails: rows, nextCursor } = await mailLog.sentTo(principal.accountId, page);
      return { rows, nextCursor };
    });
    yield ',"serviceAccounts":';
    yield* list(async (page) => {
      const found = await serviceAccounts.page(principal, page);
      return { rows: found.serviceAccounts.map(toServiceAccount), nextCursor: found.nextCursor };
    });
    yield ',"apiKeys":';
    yield* list(async (page) => {
      const { keys, nextCursor } = await apiKeys.page(principal.accountId, page);
      return { rows: keys.map(toFullKey), nextCursor };
    });
    yield ',"activity":';
    const isComplete = yield* list(async (page) => {
      const { activity: rows, nextCursor } = await this.#activity.page(principal, page);
      return { rows, nextCursor };
    }, limits.exportedActivityMax);
    yield `,"isActivityComplete":${isComplete}}\n`;
  }

  /** Picks the fields that the owner gets. */
  async #emailChanges({ accountId }: AccountPrincipal): Promise<AccountExport['emailChanges']> {
    const { db, clock } = this.#options;
    const changes = await listEmailChanges(db, accountId, emailChangesKeptSince(clock.now()));
    return changes.map(({ email, changedAt }) => ({ previousEmail: email, changedAt: toInstant(changedAt) }));
  }
}

/** A JSON array of all pages. @returns whether it has all rows */
async function* list(
  read: (page: { limit: string; cursor?: string }) => Promise<Page>,
  rowsMax = Infinity,
): AsyncGenerator<string, boolean, undefined> {
  let count = 0;
  let cursor: string | null = '';
  yield '[';
  while (cursor !== null && count < rowsMax) {
    const { rows, nextCursor }: Page = await read({ limit: rowsPerPage, ...(cursor === '' ? {} : { cursor }) });
    if (rows.length > 0) yield (count === 0 ? '' : ',') + rows.map((row) => JSON.stringify(row)).join(',');
    count += rows.length;
    cursor = nextCursor;
  }
  yield ']';
  return cursor === null;
}
