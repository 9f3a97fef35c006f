/**
 * The code in the fragment of a link to the page on which a person approves a program. A sign-in can leave that page, for example for
 * single sign-on, and return without the fragment: this tab keeps the code until then. The person confirms it in any case.
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

/** Before the page is left. */
export function keepCode(): void {
  const code = linkedCode();
  if (code) store('approval-code', `${Date.now()} ${code}`);
}
