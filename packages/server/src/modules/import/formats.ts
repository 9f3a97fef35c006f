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

// A record must not have such a member itself.
const ownRecords = source(ownFields, ['users', 'accounts', 'keys', 'apiKeys', 'data']);
const users = ['users'];

export const accountFormats = {
  json: () => ownRecords,
  csv: () => ownRecords,
  auth0: () => source(auth0, users),
  'better-auth': ({ now }) => source(betterAuthUsers(now), users),
  clerk: () => source(clerk, ['data', 'users']),
  django: () => source(django),
  firebase: ({ hashConfig }) => source(firebase(hashConfig), users),
  htpasswd: ({ emailDomain }) => htpasswd(emailDomain),
  keycloak: () => source(keycloak, users),
  supabase: ({ now }) => source(supabase(now), users),
  wordpress: () => source(wordpress, users),
} as const satisfies Readonly<Record<string, (options: FormatOptions) => Records>>;

export const keyFormats = {
  json: ownRecords,
  csv: ownRecords,
  'better-auth': source(betterAuthKeys, ['apiKeys', 'data']),
  kong: source(kong, ['data', 'consumers']),
  unkey: source(unkey, ['data', 'keys']),
} as const satisfies Readonly<Record<string, Records>>;

export type AccountFormat = keyof typeof accountFormats;

/** @throws Error for a file that does not have them */
export const readHashConfig = (path: string): HashConfig => hashConfigOf(readFileSync(path, 'utf8'));
