/** Whether a refusal is one that the contract announces. */
import assert from 'node:assert/strict';
import { allRoutes, errorsOf, forward, type ErrorCode, type Problem } from '@keyreeve/contract';

/** What the listener answers by itself where no route fits. */
const withoutRoute: readonly ErrorCode[] = ['not_found', 'method_not_allowed', 'url_too_long', 'headers_too_large'];

/** @param answered the body of an answer with a status from 400 on */
export function assertDeclared(method: string, target: string, answered: unknown): void {
  const { code } = answered as Problem;
  const path = new URL(target, 'http://localhost').pathname;
  assert.ok(declaredFor(method, path).includes(code), `${method} ${path} answers ${code}, which it doesn’t name`);
}

function declaredFor(method: string, path: string): readonly ErrorCode[] {
  if (path === forward.path || path.startsWith(`${forward.path}/`)) return errorsOf(forward);
  const route = allRoutes.find((candidate) => candidate.method === method && toPattern(candidate.path).test(path));
  return route ? errorsOf(route) : withoutRoute;
}

const toPattern = (path: string): RegExp => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
