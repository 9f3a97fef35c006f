/** The values of `--from`: what `keyreeve import` can read. docs/import.md lists them. */
import { readFileSync } from 'node:fs';
import type { Records } from './records.ts';
import { auth0 } from './sources/auth0.ts';
import { betterAuthKeys, betterAuthUsers } from './sources/better-auth.ts';
import { clerk } from './sources/clerk.ts';
import { django } from './sources/django.ts';
import { firebase, hashConfigOf, type HashConfig } from './sources/firebase.ts';
import { htpasswd } from './sources/htpasswd.ts';
import { keycloak } from './sources/keycloak.ts';
import { kong } from './sources/kong.ts';
import { ownFields } from './sources/own-fields.ts';
import { source } from './sources/source.ts';
import { supabase } from './sources/supabase.ts';
import { unkey } from './sources/unkey.ts';
import { wordpress } from './sources/wordpress.ts';

export interface FormatOptions {
  /** Parameters of Firebase's password hashes. */
  readonly hashConfig?: HashConfig | undefined;
  /** Domain of the user names of an htpasswd file. */
  readonly emailDomain?: string | undefined;
  /** In milliseconds. */
  readonly now: number;
}

const wrappers = ['users', 'accounts', 'keys', 'apiKeys', 'data', 'results'];
const ownRecords = source(ownFields, wrappers);

export const accountFormats = {
  json: () => ownRecords,
  csv: () => ownRecords,
  auth0: () => source(auth0, wrappers),
  'better-auth': ({ now }) => source(betterAuthUsers(now), wrappers),
  clerk: () => source(clerk, wrappers),
  django: () => source(django),
  firebase: ({ hashConfig }) => source(firebase(hashConfig), wrappers),
  htpasswd: ({ emailDomain }) => htpasswd(emailDomain),
  keycloak: () => source(keycloak, ['users']),
  supabase: ({ now }) => source(supabase(now), wrappers),
  wordpress: () => source(wordpress, wrappers),
} as const satisfies Readonly<Record<string, (options: FormatOptions) => Records>>;

export const keyFormats = {
  json: ownRecords,
  csv: ownRecords,
  'better-auth': source(betterAuthKeys, wrappers),
  kong: source(kong, ['data', 'consumers']),
  unkey: source(unkey, wrappers),
} as const satisfies Readonly<Record<string, Records>>;

export type AccountFormat = keyof typeof accountFormats;
export type KeyFormat = keyof typeof keyFormats;

/** @throws Error for a file that does not have them */
export const readHashConfig = (path: string): HashConfig => hashConfigOf(readFileSync(path, 'utf8'));
