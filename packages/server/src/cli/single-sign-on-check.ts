/** What `keyreeve doctor` checks of single sign-on. */
import type { Db } from '../foundation/database/db.ts';
import { countLinkedAdministrators } from '../modules/single-sign-on/store.ts';
import type { Provider } from '../modules/single-sign-on/provider.ts';

interface Finding {
  readonly name: 'single sign-on';
  readonly state: 'ok' | 'warning';
  readonly detail: string;
}

/** @param provider undefined without single sign-on @param mayUsePasswords whether administrators may use passwords */
export async function checkSingleSignOn(
  db: Db,
  provider: Provider | undefined,
  mayUsePasswords: boolean,
): Promise<Finding[]> {
  if (!provider) return [];
  const name = 'single sign-on';
  const linked = await countLinkedAdministrators(db, provider.issuer);
  const warning = warningOf(linked, mayUsePasswords);
  const findings: Finding[] = warning === undefined ? [] : [{ name, state: 'warning', detail: warning }];
  try {
    await provider.keysUrl();
    return [
      { name, state: 'ok', detail: `${provider.issuer} responds; linked administrators: ${linked}` },
      ...findings,
    ];
  } catch (error) {
    const detail = `${provider.issuer} cannot be used: ${causeOf(error)}`;
    return [{ name, state: 'warning', detail }, ...findings];
  }
}

/** The setting has two risks: a locked-out person keeps another way to sign in, or no administrator has one. */
function warningOf(linked: number, mayUsePasswords: boolean): string | undefined {
  if (mayUsePasswords && linked > 0)
    return 'KEYREEVE_ADMIN_PASSWORDS is on, so an administrator whom the provider has locked out can sign in with a password or a passkey; set it to off';
  if (!mayUsePasswords && linked === 0)
    return 'KEYREEVE_ADMIN_PASSWORDS is off, and no enabled administrator is linked to an identity of the provider; run `keyreeve account link-sso`';
  return undefined;
}

/** The innermost cause says what failed; the outer ones are the library's. */
function causeOf(error: unknown): string {
  let message = '';
  for (let cause = error; cause instanceof Error; cause = cause.cause) message = cause.message || message;
  return message;
}
