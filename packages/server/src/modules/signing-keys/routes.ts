/** HTTP routes of the signing keys for administrators. */
import * as contract from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { route, type Route } from '../../http/route.ts';
import type { SigningKey, SigningKeys } from './signing-keys.ts';

export const signingKeyRoutes = (signingKeys: SigningKeys): readonly Route[] => [
  route(contract.adminListSigningKeys, async () => ({
    status: 200,
    body: { signingKeys: (await signingKeys.list()).flatMap(toPublished) },
  })),
  route(contract.adminRotateSigningKeys, async ({ principal, body: { immediately = false } }) => {
    const { kid, alg, createdAt, activatesAt } = await signingKeys.rotate(principal, { immediately });
    const state = immediately ? 'active' : 'next';
    return {
      status: 201,
      body: { kid, alg, state, createdAt: toInstant(createdAt), activatesAt: toInstant(activatesAt) },
    };
  }),
];

const toPublished = ({ kid, alg, state, createdAt, activatesAt }: SigningKey): contract.SigningKey[] =>
  state === 'gone' ? [] : [{ kid, alg, state, createdAt: toInstant(createdAt), activatesAt: toInstant(activatesAt) }];
