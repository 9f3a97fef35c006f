/** What this browser remembers for the console. Never a secret: scripts of the origin can read it. */

export type StoredName = 'theme' | 'language' | 'session' | 'protect';

const keyOf = (name: StoredName): string => `keyreeve-${name}`;

/** For a browser that does not permit the storage: until the page is left. */
const ofPage = new Map<StoredName, string>();

/** @returns null if nothing is stored */
export function stored(name: StoredName): string | null {
  try {
    return localStorage.getItem(keyOf(name));
  } catch {
    return ofPage.get(name) ?? null;
  }
}

/** @param value undefined removes it */
export function store(name: StoredName, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(keyOf(name));
    else localStorage.setItem(keyOf(name), value);
  } catch {
    if (value === undefined) ofPage.delete(name);
    else ofPage.set(name, value);
  }
}

/** A sign-out clears the storage of the origin. The choices are those of the browser, so they stay. */
const ofBrowser = ['theme', 'language', 'protect'] as const satisfies readonly StoredName[];

/** Restores the choices after an action that clears the storage. @throws what the action throws */
export async function keepingChoices(act: () => Promise<unknown>): Promise<void> {
  const choices = ofBrowser.map((name) => [name, stored(name) ?? undefined] as const);
  try {
    await act();
  } finally {
    for (const [name, value] of choices) store(name, value);
  }
}
