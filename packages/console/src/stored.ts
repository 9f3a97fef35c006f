/** What this browser, or this tab, remembers for the console. Never a secret: scripts of the origin can read it. */

/** Those of an approval: only in this tab. */
export type StoredName = 'theme' | 'language' | 'session' | 'protect' | 'approval-code' | 'approval-choices';

const keyOf = (name: StoredName): string => `keyreeve-${name}`;

const areaOf = (name: StoredName): Storage => (name.startsWith('approval') ? sessionStorage : localStorage);

/** For a browser that does not permit the storage: until the page is left. */
const ofPage = new Map<StoredName, string>();

/** @returns null if nothing is stored */
export function stored(name: StoredName): string | null {
  try {
    return areaOf(name).getItem(keyOf(name));
  } catch {
    return ofPage.get(name) ?? null;
  }
}

/** @param value undefined removes it */
export function store(name: StoredName, value: string | undefined): void {
  try {
    if (value === undefined) areaOf(name).removeItem(keyOf(name));
    else areaOf(name).setItem(keyOf(name), value);
  } catch {
    if (value === undefined) ofPage.delete(name);
    else ofPage.set(name, value);
  }
}

/** A sign-out clears the storage of the origin. These stay: they are choices of the browser, and what the next person may approve. */
const ofBrowser = ['theme', 'language', 'protect', 'approval-code'] as const satisfies readonly StoredName[];

/** Restores the choices after an action that clears the storage. @throws what the action throws */
export async function keepingChoices(act: () => Promise<unknown>): Promise<void> {
  const choices = ofBrowser.map((name) => [name, stored(name) ?? undefined] as const);
  try {
    await act();
  } finally {
    for (const [name, value] of choices) store(name, value);
  }
}
