/** A route of the service: a contract, and what fulfils it. Handlers know no HTTP types. */
import type { Static, TSchema } from 'typebox';
import type { Language, RouteContract } from '@keyreeve/contract';
import type { AccountPrincipal } from '../foundation/principal.ts';
import type { Answer } from './answer.ts';
import type { PresentedCredential } from './presented-credential.ts';

type Value<S> = S extends TSchema ? Static<S> : undefined;
type BodyOf<C extends RouteContract> = C extends { body: { schema: infer S } } ? Value<S> : undefined;
type QueryOf<C extends RouteContract> = C extends { query: infer S } ? Value<S> : undefined;
/** As they stand in the path: a handler parses them, and what is malformed names nothing (404). */
type ParamsOf<C extends RouteContract> = C extends { params: infer S }
  ? Readonly<Record<keyof Value<S>, string>>
  : undefined;
type PrincipalOf<C extends RouteContract> = C extends { auth: 'access_token' | 'administrator' }
  ? AccountPrincipal
  : undefined;

/** All that a handler is given: validated, and nothing else of the request. */
export interface Call<C extends RouteContract = RouteContract> {
  readonly principal: PrincipalOf<C>;
  readonly params: ParamsOf<C>;
  readonly query: QueryOf<C>;
  readonly body: BodyOf<C>;
  /** The credential headers, for the routes whose question they are. */
  readonly presented: PresentedCredential;
  /** Of the client: the nearest hop that no trusted proxy speaks for. */
  readonly address: string;
  /** Its User-Agent, cut; empty when it doesn’t say. */
  readonly program: string;
  /** The one of ours that its Accept-Language prefers, if any. */
  readonly language: Language | undefined;
  /** Whether the client names text/html before JSON in Accept, as a browser does. */
  readonly prefersPage: boolean;
  /** The header X-Keyreeve-OTP. */
  readonly oneTimePassword: string | undefined;
}

export interface Route {
  readonly contract: RouteContract;
  readonly handle: (call: Call) => Promise<Answer>;
}

/** Ties a handler to its contract's types. The pipeline has validated what the handler is given. */
export function route<C extends RouteContract>(contract: C, handle: (call: Call<C>) => Promise<Answer>): Route {
  return { contract, handle };
}
