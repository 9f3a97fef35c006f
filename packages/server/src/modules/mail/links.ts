/** Links in mail, to pages of the service or of the operator. The base URL is configured, never taken from a request (ASVS 5.0 1.2.2). */
import type { Secret } from '../../foundation/crypto/secret.ts';

/** The last segment of the path. */
export type LinkKind =
  | 'verify-email'
  | 'reset-password'
  | 'change-email'
  | 'undo-email-change'
  | 'accept-email'
  | 'remove-key'
  | 'accept-invitation';

/** Validity of the links, in seconds, from the time when their mail is handed over. */
export interface LinkLifetimes {
  readonly reset: number;
  readonly verification: number;
  readonly invitation: number;
  readonly adminInvitation: number;
}

export const invitationLifetime = ({ lifetimes }: Links, role: string): number =>
  role === 'admin' ? lifetimes.adminInvitation : lifetimes.invitation;

export class Links {
  readonly lifetimes: LinkLifetimes;
  readonly #base: string;

  /** @param base without a slash at its end, for example `https://auth.example.com/account` */
  constructor(base: string, lifetimes: LinkLifetimes) {
    this.#base = base;
    this.lifetimes = lifetimes;
  }

  /** The code is in the fragment, which browsers do not send, so no log has it (ASVS 5.0 14.2.1). */
  to(kind: LinkKind, code: Secret): string {
    return `${this.page(kind)}#${code.reveal()}`;
  }

  /** The same page without a code. */
  page(kind: LinkKind): string {
    return `${this.#base}/${kind}`;
  }
}
