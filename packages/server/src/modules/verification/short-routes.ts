/** The routes for services of which the short path of HTTP answers simple requests. */
import { introspect, limits, verify, VerifyBody, type RouteContract } from '@keyreeve/contract';
import { parseSimpleJson } from '../../foundation/json.ts';
import { checkOf } from '../../http/validation.ts';
import type { Environments } from '../api-keys/environments.ts';
import { unconditional, type VerificationResult } from './conditions.ts';
import { conditionsOf, type ServiceQuestion } from './for-services.ts';
import { toIntrospection, toResult } from './responses.ts';

export interface ShortRoute {
  readonly contract: RouteContract;
  /** Of the body. */
  readonly type: 'json' | 'form';
  /**
   * @param body one character for each byte
   * @returns undefined for a body that needs the parsers of `http/body.ts`, which give the same result and are the only ones
   *   that produce errors
   */
  readonly read: (body: string) => ServiceQuestion | undefined;
  /** The body of the response. */
  readonly write: (result: VerificationResult) => object;
}

export const shortRoutesOf = (environments: Environments): readonly ShortRoute[] => [
  { contract: verify, type: 'json', read: (body) => readVerification(body, environments), write: toResult },
  { contract: introspect, type: 'form', read: readIntrospection, write: toIntrospection },
];

function readVerification(body: string, environments: Environments): ServiceQuestion | undefined {
  const value = parseSimpleJson(body);
  if (!value || !checkVerification(value)) return undefined;
  const stated = value as VerifyBody;
  try {
    return { endpoint: 'verify', text: stated.credential, conditions: conditionsOf(stated, '', environments) };
  } catch {
    return undefined;
  }
}

const checkVerification = checkOf(VerifyBody);

function readIntrospection(body: string): ServiceQuestion | undefined {
  const text = introspection.exec(body)?.[1];
  if (text === undefined || text.length > limits.authorizationCharsMax) return undefined;
  return { endpoint: 'introspect', text, conditions: unconditional };
}

/** A token without escapes. The hint is ignored (RFC 7662 section 2.1). */
const introspection = /^token=([\w.~-]+)(?:&token_type_hint=[\w.~-]*)?$/;
