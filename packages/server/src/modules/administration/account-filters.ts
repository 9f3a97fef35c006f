/** Filters that select an account: the id of an existing account in place of its email address. */
import { findAccount } from '../accounts/store.ts';
import { parseEmail } from '../accounts/email.ts';
import type { Db } from '../../foundation/database/db.ts';

/** @returns the id of the account with the email address; any other text, and that of no account, itself */
export async function accountIdOf(db: Db, text: string): Promise<string> {
  const email = parseEmail(text);
  return (email && (await findAccount(db, '', email.canonicalEmail))?.id) ?? text;
}
