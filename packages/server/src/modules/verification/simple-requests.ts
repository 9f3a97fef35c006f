/**
 * Bodies of simple requests of services, for the short path of HTTP. Undefined means that the body needs the parsers of
 * `http/body.ts`, which give the same result and are the only ones that produce errors.
 */
import { limits, VerifyBody } from '@keyreeve/contract';
import { parseSimpleJson } from '../../foundation/json.ts';
import { checkOf } from '../../http/validation.ts';
import type { Environments } from '../api-keys/environments.ts';
import { unconditional } from './conditions.ts';
import { conditionsOf, type ServiceQuestion } from './for-services.ts';

/** A token without escapes. The hint is ignored (RFC 7662 section 2.1). */
const introspection = /^token=([\w.~-]+)(?:&token_type_hint=[\w.~-]*)?$/;

/** @param body one character for each byte, as in all functions of this file */
export function simpleVerification(body: string, environments: Environments): ServiceQuestion | undefined {
  const value = parseSimpleJson(body);
  if (!value || !checkVerification(value)) return undefined;
  const stated = value as VerifyBody;
  try {
    return { endpoint: 'verify', text: stated.credential, conditions: conditionsOf(stated, '', environments) };
  } catch {
    return undefined;
  }
}

export function simpleIntrospection(body: string): ServiceQuestion | undefined {
  const text = introspection.exec(body)?.[1];
  if (text === undefined || text.length > limits.authorizationCharsMax) return undefined;
  return { endpoint: 'introspect', text, conditions: unconditional };
}

const checkVerification = checkOf(VerifyBody);
