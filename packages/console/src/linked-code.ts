/**
 * The code in the fragment of a link to the page on which a person approves a program. A sign-in can leave that page, for example for
 * single sign-on, and return without the fragment: so this tab keeps the code while it can be valid. The person confirms it in any case.
 */
import { store, stored } from './stored.ts';

/** Of a code, by the server's clock. */
const validMs = 600_000;

/** As programs show it. */
export function linkedCode(): string | undefined {
  const [, first, last] = /^#([a-z]{4})-?([a-z]{4})$/i.exec(location.hash) ?? [];
  return first && `${first}-${last}`.toUpperCase();
}

export function keptCode(): string | undefined {
  const [at, code] = stored('approval-code')?.split(' ') ?? [];
  return Math.abs(Date.now() - Number(at)) < validMs ? code : undefined;
}

export const keepCode = (code: string | undefined): void => store('approval-code', code && `${Date.now()} ${code}`);

const keepLinked = (): void => keepCode(linkedCode() ?? keptCode());
keepLinked();
addEventListener('hashchange', keepLinked);
