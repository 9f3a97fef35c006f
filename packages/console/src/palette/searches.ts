/**
 * What the command palette finds: pages by their labels, and keys, accounts and service accounts over the API. Each request returns
 * a few entries and has the bounds of its list.
 */
import { nameOf } from '../account-names.ts';
import { call } from '../api.ts';
import { mainPages } from '../main-pages.ts';
import { accountPath } from '../parts/account-name.tsx';
import { adminPages } from '../pages/admin/admin-pages.ts';
import { ownedKeyPath } from '../pages/admin/keys/administered-keys.ts';
import { keyQueryOf } from '../pages/admin/keys/key-search.ts';
import { root } from '../root.ts';
import { isAdministrator, session, showsServiceAccounts } from '../session.ts';
import { adminText } from '../text/admin-text.ts';
import { text } from '../text/text.ts';

export interface Entry {
  readonly href: string;
  readonly label: string;
  /** What tells it apart from others with the same label. */
  readonly detail?: string | undefined;
}

export interface Group {
  readonly label: string;
  readonly entries: readonly Entry[];
}

/** Of each group. */
const entriesMax = 5;
const limit = String(entriesMax);
/** Shorter texts match too much. */
const searchedCharsMin = 2;
const serviceAccountsMax = '100';

const contains = (label: string, part: string): boolean => label.toLowerCase().includes(part.toLowerCase());

export function findPages(typed: string): Group {
  const pages: readonly Entry[] = [
    ...mainPages().map(({ href, label }) => ({ href, label })),
    ...(isAdministrator.value ? adminPages().map((page) => ({ ...page, detail: text.general.administration })) : []),
  ];
  return { label: text.palette.pages, entries: pages.filter(({ label }) => contains(label, typed)) };
}

/** @returns groups with entries. @throws Problem */
export async function search(typed: string, signal: AbortSignal): Promise<readonly Group[]> {
  if (typed.length < searchedCharsMin) return [];
  const groups = await Promise.all([
    findOwnKeys(typed, signal),
    ...(showsServiceAccounts.value ? [findServiceAccounts(typed, signal)] : []),
    ...(isAdministrator.value ? [findAccounts(typed, signal), findKeys(typed, signal)] : []),
  ]);
  return groups.filter(({ entries }) => entries.length > 0);
}

async function findOwnKeys(typed: string, signal: AbortSignal): Promise<Group> {
  // The ellipsis of a shown hint is not part of its last characters.
  const part = typed.replace(/^.*…/, '') || typed;
  const { apiKeys } = await call('GET /auth/api-keys', { query: { search: part, limit }, signal });
  return {
    label: text.general.keys,
    entries: apiKeys.map(({ id, nickname }) => ({ href: `${root}/keys/${id}`, label: nickname })),
  };
}

async function findServiceAccounts(typed: string, signal: AbortSignal): Promise<Group> {
  const query = { limit: serviceAccountsMax };
  const { serviceAccounts } = await call('GET /auth/service-accounts', { query, signal });
  const found = serviceAccounts.filter(
    ({ id, name, externalId }) => contains(name, typed) || id === typed || contains(externalId ?? '', typed),
  );
  return {
    label: text.general.serviceAccounts,
    entries: found.slice(0, entriesMax).map(({ id, name, externalId }) => ({
      href: `${root}/service-accounts/${id}`,
      label: name,
      detail: externalId ?? undefined,
    })),
  };
}

async function findAccounts(typed: string, signal: AbortSignal): Promise<Group> {
  const { accounts, nextCursor } = await call('GET /admin/accounts', { query: { query: typed, limit }, signal });
  const entries = accounts.map((account) => ({ href: accountPath(account.id), label: nameOf(account) }));
  return { label: adminText.general.accounts, entries: [...entries, ...more('accounts', typed, nextCursor)] };
}

async function findKeys(typed: string, signal: AbortSignal): Promise<Group> {
  const query = { ...keyQueryOf({ search: typed }), limit };
  const { apiKeys, nextCursor } = await call('GET /admin/api-keys', { query, signal });
  const others = apiKeys.filter(({ owner }) => owner.id !== session.peek()?.account.id);
  const entries = others.map((key) => ({ href: ownedKeyPath(key), label: key.nickname, detail: nameOf(key.owner) }));
  return { label: adminText.keys.title, entries: [...entries, ...more('keys', typed, nextCursor)] };
}

/** The list that continues the search. */
const more = (page: 'accounts' | 'keys', typed: string, nextCursor: string | null): readonly Entry[] =>
  nextCursor === null
    ? []
    : [{ href: `${root}/admin/${page}?${new URLSearchParams({ search: typed })}`, label: text.palette.more }];
