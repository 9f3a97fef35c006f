/** What the key page shows of its portal session. */
import type { PortalSession } from '@keyreeve/contract';
import { toInstant, type Clock } from '../../foundation/clock.ts';
import type { ScopeCatalogue } from '../scope-catalogue/scope-catalogue.ts';
import type { PortalRow } from './store.ts';

export interface PortalStatesOptions {
  readonly clock: Clock;
  readonly scopeCatalogue: Pick<ScopeCatalogue, 'listFor'>;
  /** Whether the scope catalogue is enforced. */
  readonly hasCatalogue: boolean;
  /** What depends only on the settings. */
  readonly fixed: Pick<
    PortalSession,
    'product' | 'mark' | 'verificationUrl' | 'exampleRequest' | 'environments' | 'usageDays' | 'keyDaysMax'
  >;
}

export class PortalStates {
  readonly #options: PortalStatesOptions;

  constructor(options: PortalStatesOptions) {
    this.#options = options;
  }

  async of({ id, data, serviceAccountId, serviceAccountName, expiresAt }: PortalRow): Promise<PortalSession> {
    const { clock, hasCatalogue, fixed } = this.#options;
    const { capabilities, scopes, person = null, origin = null, returnUrl = null } = data;
    return {
      id,
      display: origin === null ? 'page' : 'frame',
      origin,
      returnUrl,
      capabilities: [...capabilities],
      scopes: await this.#scopesOf(serviceAccountId, scopes),
      anyScope: !hasCatalogue && scopes === undefined,
      person,
      serviceAccount: { name: serviceAccountName },
      ...fixed,
      expiresAt: toInstant(expiresAt),
      now: toInstant(clock.now()),
    };
  }

  /** Without a catalogue, a scope need not be declared. */
  async #scopesOf(accountId: string, scopes: readonly string[] | undefined): Promise<PortalSession['scopes']> {
    const { hasCatalogue, scopeCatalogue } = this.#options;
    const declared = (await scopeCatalogue.listFor(accountId)).filter(({ mayGrant }) => mayGrant);
    const shown = declared.filter(({ name }) => scopes?.includes(name) !== false);
    const known = new Set(shown.map(({ name }) => name));
    const others = hasCatalogue ? [] : (scopes ?? []).filter((name) => !known.has(name));
    return [
      ...shown.map(({ name, description }) => ({ name, description })),
      ...others.map((name) => ({ name, description: '' })),
    ];
  }
}
