/** The types of the texts of a language: the members of the English texts. */
import type { enAdmin } from './en-admin.ts';
import type { enApproval } from './en-approval.ts';
import type { enTrust } from './en-trust.ts';
import type { en } from './en.ts';
import type { rotation } from './en/rotation.ts';

/** Languages replace strings and functions with those of the same parameters. */
export type Translated<T> = T extends string
  ? string
  : T extends (...values: infer V) => string
    ? (...values: V) => string
    : { readonly [K in keyof T]: Translated<T[K]> };
export type Texts = Translated<typeof en>;
export type AdminTexts = Translated<typeof enAdmin>;
export type ApprovalTexts = Translated<typeof enApproval>;
export type RotationTexts = Translated<typeof rotation>;
export type TrustTexts = Translated<typeof enTrust>;
