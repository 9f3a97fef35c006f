/** The accounts that get mail about the keys of an account. */
import type { Reader } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

export interface Recipient {
  readonly accountId: string;
  readonly email: string;
  /** The account that owns the keys, for the text of the mail. */
  readonly owner: string;
}

// A person whose email address is not verified, or is an earlier one after a restore, gets no mail.
const verified = 'r.unverified_since is null and r.email_unconfirmed_since is null';
const selectOwner = sql<Recipient>(
  'select_key_mail_recipient',
  `select r.id as "accountId", r.email, r.email as owner from accounts r where r.id = $1 and ${verified}`,
);

/** The owner, if it may get mail. */
export const findRecipients = (reader: Reader, accountId: string): Promise<Recipient[]> =>
  reader.all(selectOwner, [accountId]);
