/** The scopes that forms of the console offer: those of the catalogue. If it is empty and any name is allowed, names that the person types. */
import { call } from '../../api.ts';
import { config, isAdministrator } from '../../session-state.ts';
import { text } from '../../text/text.ts';
import { verifyScope } from './key-kinds.ts';
import type { LoadScopes } from './key-owner.ts';

/** @param isOwn whether the account of the session owns the keys: it knows which scopes it can grant */
export const offeredScopes =
  (isOwn: boolean): LoadScopes =>
  async (signal) => {
    const { scopes } = await call('GET /auth/scopes', { signal });
    const isFree = scopes.length === 0 && config.value?.features.scopesCatalogue !== true;
    if (!isOwn) return { choices: scopes.map((scope) => ({ ...scope, mayGrant: true })), isFree };
    // Reserved scopes are not in the catalogue. Administrators grant this one to their own keys.
    const reserved = { name: verifyScope, description: text.keys.verifyScopeHint, mayGrant: true };
    return { choices: isAdministrator.value ? [...scopes, reserved] : scopes, isFree };
  };
