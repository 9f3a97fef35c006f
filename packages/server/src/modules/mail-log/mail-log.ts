/** The log of mail: to whom, for which purpose and with which result. Never the content of a mail, a link or a code. */
import { limits, type LoggedMail, type MailPage, type MailPurpose, type SentMail } from '@keyreeve/contract';
import { dayMs, toInstant } from '../../foundation/clock.ts';
import type { Core } from '../../foundation/core.ts';
import { fromCursor, sizeOf, toCursor, type PageRequest } from '../../foundation/cursor.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { parseEmail } from '../accounts/email.ts';
import type { MailTemplate } from '../mail/mail.ts';
import type { TriedMail } from '../mail/delivery.ts';
import {
  deleteExcessMail,
  deleteOldMail,
  findLastSearched,
  listMail,
  saveMailTx,
  type MailFilter,
  type MailPlace,
  type MailRow,
} from './store.ts';

export interface MailSearch extends PageRequest {
  /** An email address. */
  readonly to?: string;
  readonly purpose?: MailPurpose;
  readonly state?: MailRow['state'];
}

const rowsPerDeleteMax = 1_000;
const failureCharsMax = 500;
const newest: MailPlace = { createdAt: Number.MAX_SAFE_INTEGER, id: '' };

export class MailLog {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** @param failure null if the mail server has accepted the mail */
  readonly recordTx = (tx: Transaction, mail: TriedMail, failure: string | null): Promise<void> => {
    const { id, to: email, template, createdAt } = mail;
    const purpose: MailPurpose = template;
    const canonicalEmail = parseEmail(email)?.canonicalEmail ?? '';
    const result = { triedAt: this.#core.clock.now(), failure: failure?.slice(0, failureCharsMax) ?? null };
    return saveMailTx(tx, { id, email, canonicalEmail, purpose, createdAt, ...result });
  };

  /** The most recent first. @throws DomainError `invalid_request` for an invalid cursor */
  async page({ to, purpose, state, ...page }: MailSearch): Promise<MailPage> {
    // A text that is not an email address has no mail.
    const owner =
      to === undefined
        ? ({ by: 'all', of: '' } as const)
        : ({ by: 'email', of: parseEmail(to)?.canonicalEmail ?? to } as const);
    const filter: MailFilter = { ...owner, purpose: purpose ?? '', state: state ?? '' };
    const { rows, nextCursor } = await this.#read(filter, page);
    return { mails: rows.map(toLoggedMail), nextCursor };
  }

  /** What the owner of an account gets of its mail, as {@link page}: that to the email addresses that it has or had. */
  async sentTo(accountId: string, page: PageRequest): Promise<{ mails: SentMail[]; nextCursor: string | null }> {
    const { rows, nextCursor } = await this.#read({ by: 'account', of: accountId, purpose: '', state: '' }, page);
    const mails = rows.map(toLoggedMail).map(({ to, purpose, createdAt, deliveredAt }) => ({
      to,
      purpose,
      createdAt,
      deliveredAt,
    }));
    return { mails, nextCursor };
  }

  async #read(
    filter: MailFilter,
    { limit, cursor }: PageRequest,
  ): Promise<{ rows: MailRow[]; nextCursor: string | null }> {
    const { db } = this.#core;
    const after = cursor === undefined ? newest : placeOf(cursor);
    const part = { after, searchedMax: limits.adminRowsPerPageMax, limit: sizeOf(limit) };
    const rows = await listMail(db, filter, part);
    const last = rows.length === part.limit ? rows.at(-1) : await findLastSearched(db, filter, part);
    return { rows, nextCursor: last ? toCursor(`${last.createdAt} ${last.id}`) : null };
  }

  /** Deletes mails that are too old, and those beyond the bound. @throws DomainError `unavailable` */
  async deleteOld(): Promise<void> {
    const { db, clock } = this.#core;
    const before = clock.now() - limits.mailLogKeptDays * dayMs;
    while ((await deleteOldMail(db, before, rowsPerDeleteMax)) === rowsPerDeleteMax);
    while ((await deleteExcessMail(db, limits.mailLogMax, rowsPerDeleteMax)) === rowsPerDeleteMax);
  }
}

const instantOrNull = (ms: number | null): string | null => (ms === null ? null : toInstant(ms));

const toLoggedMail = ({ id, email, accountId, purpose, state, ...mail }: MailRow): LoggedMail => ({
  id,
  to: email,
  accountId,
  // Of a template of this version, or of one that another version has.
  purpose: purpose as MailTemplate,
  state,
  createdAt: toInstant(mail.createdAt),
  attemptCount: mail.attemptCount,
  lastAttemptAt: toInstant(mail.triedAt),
  deliveredAt: instantOrNull(mail.deliveredAt),
  nextAttemptAt: instantOrNull(mail.nextAttemptAt),
  lastFailure: mail.failure,
});

/** @throws DomainError `invalid_request` */
function placeOf(cursor: string): MailPlace {
  const [createdAt = '', id = ''] = fromCursor(cursor, (text) => /^\d{1,15} [!-~]{1,100}$/.test(text)).split(' ');
  return { createdAt: Number(createdAt), id };
}
