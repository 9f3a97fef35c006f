/** The keys that sign access tokens. */
import { adminListSigningKeys, adminRotateSigningKeys, type SigningKey } from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import type { RemoteService } from '../remote/remote-service.ts';
import { operator, type CommandContext } from '../session.ts';

/** A service lists only keys that are not revoked. */
export type ShownSigningKey = Omit<SigningKey, 'state'> & { readonly state: string; readonly revokedAt: string | null };

export interface SigningKeyOperations {
  list(): Promise<readonly ShownSigningKey[]>;
  rotate(immediately: boolean): Promise<Pick<SigningKey, 'kid'>>;
}

export const localSigningKeys = ({ signingKeys }: CommandContext): SigningKeyOperations => ({
  list: async () =>
    (await signingKeys.list()).map(({ createdAt, activatesAt, revokedAt, ...key }) => ({
      ...key,
      createdAt: toInstant(createdAt),
      activatesAt: toInstant(activatesAt),
      revokedAt: revokedAt === null ? null : toInstant(revokedAt),
    })),
  rotate: (immediately) => signingKeys.rotate(operator, { immediately }),
});

export const remoteSigningKeys = (service: RemoteService): SigningKeyOperations => ({
  list: async () =>
    (await service.request(adminListSigningKeys)).signingKeys.map((key) => ({ ...key, revokedAt: null })),
  rotate: (immediately) => service.request(adminRotateSigningKeys, { body: { immediately } }),
});
