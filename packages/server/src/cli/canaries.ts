/** The canaries of the revocation check on this installation's database. */
import { countKeyDeletions } from '../modules/audit/audit.ts';
import { systemClock } from '../foundation/clock.ts';
import type { Issuers } from '../modules/issuers/issuers.ts';
import { keyImporter } from '../modules/import/api-keys.ts';
import { DomainError } from '../foundation/errors.ts';
import {
  Canaries,
  type CatalogueChanges,
  type IssuerChanges,
  type ProgramChanges,
  type ServiceAccountChanges,
} from '../../revocation-check/canaries.ts';
import type { Programs } from '../modules/programs/programs.ts';
import { operator, type CommandContext } from './session.ts';

export type CanariesContext = Pick<
  CommandContext,
  | 'accounts'
  | 'apiKeys'
  | 'config'
  | 'entitlements'
  | 'installation'
  | 'issuers'
  | 'programs'
  | 'scopeCatalogue'
  | 'serviceAccounts'
>;

const description = 'Of keyreeve prove-revocation';

/**
 * @param importsKeys whether to import keys too; false for an installation that has never imported keys
 * @param changes how to change the scope catalogue, issuers and programs. Default: by an operator
 */
export function canariesOf(
  context: CanariesContext,
  importsKeys: boolean,
  { catalogue, issuers, programs }: CanaryChanges = changesByOperator(context),
): Canaries {
  const {
    accounts,
    apiKeys,
    config,
    installation: { db, keys },
  } = context;
  const importKey = async (account: string, nickname: string, hash: string): Promise<boolean> => {
    const { keysPerAccountMax } = config;
    const options = { db, clock: systemClock, keyHash: keys.apiKeyHash, keysPerAccountMax, isDryRun: false };
    const importer = keyImporter(operator, options);
    const ignore = (): void => undefined;
    const item = importer.read(1, { account, nickname, hash }, ignore);
    const [outcome] = await importer.write([{ line: 1, item }], ignore);
    return outcome === 'imported';
  };
  return new Canaries({
    accounts,
    apiKeys,
    deletionsRecorded: (accountId) => countKeyDeletions(db, accountId),
    importKey: importsKeys ? importKey : undefined,
    catalogue: config.scopes === 'catalogue' ? catalogue : undefined,
    issuers,
    programs,
    serviceAccounts: serviceAccountsByOperator(context),
  });
}

export interface CanaryChanges {
  readonly catalogue: CatalogueChanges;
  readonly issuers: IssuerChanges;
  readonly programs: ProgramChanges;
}

const changesByOperator = ({ entitlements, issuers, programs, scopeCatalogue }: CanariesContext): CanaryChanges => ({
  catalogue: {
    setEntitlements: (accountId, names) => entitlements.set(operator, accountId, names),
    setScope: async (name, entitled) => void (await scopeCatalogue.set(operator, name, { description, entitled })),
    deleteScope: (name) => scopeCatalogue.delete(operator, name),
  },
  issuers: issuersByOperator(issuers),
  programs: programsByOperator(programs),
});

export const issuersByOperator = (issuers: Issuers): IssuerChanges => ({
  add: async (issuer) => (await issuers.add(operator, null, issuer)).id,
  change: async (id, change) => void (await issuers.change(operator, { id }, change)),
  remove: async (id) => void (await issuers.remove(operator, { id })),
});

export const programsByOperator = (programs: Programs): ProgramChanges => ({
  add: async (id) => void (await programs.add(operator, { id, name: id })),
  remove: async (id) => {
    try {
      await programs.remove(operator, id, true);
      return true;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'program_not_found') return false;
      throw error;
    }
  },
});

export const serviceAccountsByOperator = ({
  accounts,
  serviceAccounts,
}: Pick<CanariesContext, 'accounts' | 'serviceAccounts'>): ServiceAccountChanges => ({
  create: async (creatorId, externalId) =>
    (await serviceAccounts.create(operator, creatorId, { name: externalId, externalId })).id,
  remove: async (creatorId, externalId) => {
    const creator = { kind: 'account', accountId: creatorId, sessionId: '' } as const;
    const { serviceAccounts: found } = await serviceAccounts.page(creator, { externalId });
    for (const { id } of found) await accounts.delete(operator, id);
  },
});
