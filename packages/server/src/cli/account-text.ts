/** An account in the output of commands. */

interface NamedAccount {
  readonly id: string;
  /** The id, or null, for a service account, which has no email address. */
  readonly email: string | null;
}

export const isService = ({ id, email }: NamedAccount): boolean => email === null || email === id;

/** `you@example.com (acc_…)`, or only the id of a service account. */
export const labelOf = (account: NamedAccount): string =>
  isService(account) ? account.id : `${account.email} (${account.id})`;
