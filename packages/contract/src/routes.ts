/** Every route of the public listener, in the order in which people read them. */
import { createKey, deleteKey, listKeys } from './api-keys.ts';
import { getDocs, getOpenApi, getProblem, live, ready } from './health.ts';
import type { RouteContract } from './route.ts';
import { getJwks, getMetadata, issueTokens, refreshTokens, revokeTokens } from './tokens.ts';
import { forward, introspect, verify, verifyBatch } from './verification.ts';

export const allRoutes: readonly RouteContract[] = [
  issueTokens,
  refreshTokens,
  revokeTokens,
  createKey,
  listKeys,
  deleteKey,
  forward,
  verify,
  verifyBatch,
  introspect,
  getJwks,
  getMetadata,
  live,
  ready,
  getOpenApi,
  getDocs,
  getProblem,
];
