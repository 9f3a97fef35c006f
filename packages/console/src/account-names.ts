/**
 * Names of accounts in place of their ids, for administrators: people's email addresses, and names of service accounts. Pages look
 * up the ids that they show together, before they show them.
 */
import { effect, signal } from '@preact/signals';
import { call, type ResponseOf } from './api.ts';
import { isAdministrator, session } from './session.ts';

type Named = Pick<ResponseOf<'GET /admin/accounts'>['accounts'][number], 'id' | 'email' | 'name'>;

/** By id; null: the account does not exist, because it was deleted. Absent: unknown. */
export const accountNames = signal<ReadonlyMap<string, Named | null>>(new Map());

// The next person who signs in may be another one.
effect(() => {
  if (!session.value) accountNames.value = new Map();
});

/** As of the API. */
const idsMax = 50;

export const isAccountId = (text: string): boolean => /^acc_[0-9A-Za-z]{1,60}$/.test(text);

/**
 * Pages show ids if the lookup fails.
 * @param ids null stands for no account
 * @param isBackground polling: only accounts that are unknown so far are looked up
 */
export async function nameAccounts(
  ids: readonly (string | null)[],
  abort: AbortSignal,
  isBackground = false,
): Promise<void> {
  if (!isAdministrator.peek()) return;
  const isWanted = (id: string | null): id is string =>
    id !== null && isAccountId(id) && !(isBackground && accountNames.peek().has(id));
  const wanted = [...new Set(ids.filter(isWanted))];
  const parts = Array.from({ length: Math.ceil(wanted.length / idsMax) }, (_, part) =>
    wanted.slice(part * idsMax, (part + 1) * idsMax),
  );
  const found = await Promise.all(parts.map((part) => find(part, abort, isBackground).catch(() => [])));
  if (!abort.aborted) accountNames.value = new Map([...accountNames.peek(), ...found.flat()]);
}

async function find(ids: readonly string[], abort: AbortSignal, isBackground: boolean) {
  const { accounts } = await call('GET /admin/accounts', {
    query: { ids: ids.join(',') },
    signal: abort,
    isBackground,
  });
  const byId = new Map(accounts.map((account) => [account.id, account]));
  return ids.map((id) => [id, byId.get(id) ?? null] as const);
}

/** A service account has no email address. */
export const nameOf = ({ id, email, name }: Named): string => email ?? name ?? id;

/** The name of an account, or its id if the name is unknown. */
export function labelOf(id: string): string {
  const account = accountNames.value.get(id);
  return account ? nameOf(account) : id;
}
