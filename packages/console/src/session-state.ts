/**
 * The state of the session and of the installation, without the requests that load it (session.ts), for the parts that the console and
 * the key page in the frame share. On the key page, no person is signed in, and only some settings are known.
 */
import { computed, signal } from '@preact/signals';
import type { ResponseOf } from './api.ts';

type Settings = ResponseOf<'GET /console/config'>;
type Features = Settings['features'];

/** The settings that each page with keys has. */
export type KeySettings = Pick<Settings, 'product' | 'mark' | 'exampleRequest' | 'verificationUrl'> & {
  readonly features: Pick<Features, 'usageDays' | 'keyDaysMax' | 'environments'>;
};

/** In the console, all of them. */
export type Config = KeySettings & Partial<Omit<Settings, 'features'>> & { readonly features: Partial<Features> };
export type SessionView = NonNullable<ResponseOf<'GET /console/session'>>;

/** Settings of the installation. Undefined until the page has loaded. */
export const config = signal<Config>();
/** Undefined until it is known, null for none. */
export const session = signal<SessionView | null>();

export const isAdministrator = computed(() => session.value?.account.role === 'admin');
