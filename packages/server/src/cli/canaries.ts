/** The canaries of the revocation check on this installation's database. */
import { countKeyDeletions } from '../modules/audit/audit.ts';
import { systemClock } from '../foundation/clock.ts';
import type { Issuers } from '../modules/issuers/issuers.ts';
import { keyImporter } from '../modules/import/api-keys.ts';
import { Canaries, type CatalogueChanges, type IssuerChanges } from '../../revocation-check/canaries.ts';
import { operator, type CommandContext } from './session.ts';

export type CanariesContext = Pick<
  CommandContext,
  'accounts' | 'apiKeys' | 'config' | 'entitlements' | 'installation' | 'issuers' | 'scopeCatalogue'
>;

const description = 'Of keyreeve prove-revocation';

/**
 * @param importsKeys whether to import keys too; false for an installation that has never imported keys
 * @param changes how to change the scope catalogue and issuers. Default: by an operator
 */
export function canariesOf(
  context: CanariesContext,
  importsKeys: boolean,
  { catalogue, issuers }: CanaryChanges = changesByOperator(context),
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
  });
}

export interface CanaryChanges {
  readonly catalogue: CatalogueChanges;
  readonly issuers: IssuerChanges;
}

const changesByOperator = ({ entitlements, issuers, scopeCatalogue }: CanariesContext): CanaryChanges => ({
  catalogue: {
    setEntitlements: (accountId, names) => entitlements.set(operator, accountId, names),
    setScope: async (name, entitled) => void (await scopeCatalogue.set(operator, name, { description, entitled })),
    deleteScope: (name) => scopeCatalogue.delete(operator, name),
  },
  issuers: issuersByOperator(issuers),
});

export const issuersByOperator = (issuers: Issuers): IssuerChanges => ({
  add: async (issuer) => (await issuers.add(operator, null, issuer)).id,
  change: async (id, change) => void (await issuers.change(operator, { id }, change)),
  remove: async (id) => void (await issuers.remove(operator, { id })),
});
