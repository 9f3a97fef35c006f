/** Parts that tests of issuers share: the row of an issuer of the test, and what fetches its JWK set. */
import { readFileSync } from 'node:fs';
import { tlsPath } from '../../../../test-kit/tls.ts';
import type { IdentityIssuer } from '../../../../test-kit/identity-issuer.ts';
import { AddressGuard, type AllowedTarget } from '../../../foundation/outgoing/address-guard.ts';
import { KeySets, type KeySetsOptions } from '../key-sets.ts';
import type { IssuerRow } from '../store.ts';

export const rowOf = ({ url }: Pick<IdentityIssuer, 'url'>, other: Partial<IssuerRow> = {}): IssuerRow => ({
  id: 1,
  accountId: null,
  url,
  preset: null,
  algorithms: 'RS256',
  lifetimeSeconds: 3_600,
  replay: 'until-exp',
  idClaims: '["/sub"]',
  listClaims: '[]',
  jwks: null,
  version: 1,
  refreshes: 0,
  createdAt: 0,
  updatedAt: 0,
  ...other,
});

export const targetOf = ({ url }: Pick<IdentityIssuer, 'url'>): AllowedTarget => ({
  kind: 'host',
  host: 'localhost',
  port: Number(new URL(url).port),
});

/** That of the certificate of the issuers of tests. */
export const authorities = [readFileSync(tlsPath('server.crt'), 'utf8')];

/** It may reach the issuer of the test. */
export const keySetsFor = (issuer: Pick<IdentityIssuer, 'url'>, options: Partial<KeySetsOptions> = {}): KeySets =>
  new KeySets({
    guard: new AddressGuard([targetOf(issuer)]),
    authorities,
    ...options,
  });
