/**
 * Mail about the keys of an account: the persons who get it, who are the owner or the managers of a service account, and how it
 * names a key.
 */
import { limits } from '@keyreeve/contract';
import type { Reader } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

export interface Recipient {
  readonly accountId: string;
  readonly email: string;
  /** The account that has the keys, for the text of the mail. */
  readonly owner: string;
}

interface ShownKey {
  readonly id: number;
  readonly nickname: string;
  readonly hint: string | null;
}

// A person whose email address is not verified, or is an earlier one after a restore, gets no mail.
const verified = `r.kind = 'person' and r.unverified_since is null and r.email_unconfirmed_since is null`;
const max = limits.keyMailServiceAccountsMax;
// A person who created more service accounts is the account of a backend, whose mailbox would get a mail for each tenant.
// Not those that the person manages: another manager could add the person to more of them, and so end the mail.
const fewCreated = `(select count(*) from (select 1 from service_accounts o where o.creator_pk = r.pk limit ${max + 1})
     as created) <= ${max}`;
const selectRecipients = sql<Recipient>(
  'list_key_mail_recipients',
  `select r.id as "accountId", r.email, r.email as owner from accounts r where r.id = $1 and ${verified}
   union all
   select r.id, r.email, s.name || ' (' || a.id || ')'
   from accounts a join service_accounts s on s.account_pk = a.pk
     join service_account_managers m on m.service_pk = a.pk join accounts r on r.pk = m.manager_pk
   where a.id = $1 and r.disabled_at is null and ${verified} and ${fewCreated}
   order by 1`,
);

const selectEmail = sql<{ email: string }>('select_creator_email', 'select email from accounts where id = $1');

/** For the text of a mail. */
export const emailOf = async (reader: Pick<Reader, 'get'>, accountId: string): Promise<string | undefined> =>
  (await reader.get(selectEmail, [accountId]))?.email;

/** In the order of their ids. */
export const listRecipients = (reader: Reader, accountId: string): Promise<Recipient[]> =>
  reader.all(selectRecipients, [accountId]);

/** Language-independent: `laptop (4830184710273911, krv_…x7Qa)`. */
export const describeKey = ({ id, nickname, hint }: ShownKey): string =>
  `${nickname} (${hint === null ? id : `${id}, ${hint}`})`;
