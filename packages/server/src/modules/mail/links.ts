/**
 * Links in mail: to the service's own pages, or to those of the operator. Where they lead is configured; nothing that a
 * request says has a part in it (ASVS 5.0 1.2.2).
 */
import type { Secret } from '../../foundation/crypto/secret.ts';

/** What a link is for, as its path says it. */
export type LinkKind =
  'verify-email' | 'reset-password' | 'change-email' | 'undo-email-change' | 'accept-email' | 'accept-invitation';

export class Links {
  readonly #base: string;

  /** @param base without a slash at its end, for example `https://auth.example.com/account` */
  constructor(base: string) {
    this.#base = base;
  }

  /** The code stands in the fragment, which a browser sends to nobody: no log has it (ASVS 5.0 14.2.1). */
  to(kind: LinkKind, code: Secret): string {
    return `${this.page(kind)}#${code.reveal()}`;
  }

  /** The same page without a code. */
  page(kind: LinkKind): string {
    return `${this.#base}/${kind}`;
  }
}
