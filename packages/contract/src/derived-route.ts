/** Routes that derive from those of an account’s own API keys, for other callers and other accounts. */
import Type from 'typebox';
import { accessTokenErrors } from './errors/groups.ts';
import type { ErrorCode } from './errors.ts';
import { credentialErrors, type RouteAuth, type RouteContract } from './route.ts';

/** A route of an account’s own keys. */
export type Own = RouteContract & { readonly params?: Type.TObject };

type ParamsMember<C extends Own, Added extends Type.TProperties> = C extends {
  readonly params: Type.TObject<infer Inherited>;
}
  ? { readonly params: Type.TObject<Added & Inherited> }
  : keyof Added extends never
    ? unknown
    : { readonly params: Type.TObject<Added> };

export type Derived<C extends Own, Tag extends string, Auth extends RouteAuth, Added extends Type.TProperties> = Omit<
  C,
  'id' | 'path' | 'tag' | 'description' | 'auth' | 'params' | 'errors'
> & {
  readonly id: string;
  readonly path: string;
  readonly tag: Tag;
  readonly description: string;
  readonly auth: Auth;
  readonly errors: readonly ErrorCode[];
} & ParamsMember<C, Added>;

/** What all routes of one kind have in common. */
export interface Derivation<Tag extends string, Auth extends RouteAuth, Added extends Type.TProperties> {
  readonly tag: Tag;
  readonly auth: Auth;
  /** Replaces `/auth/` in the path. */
  readonly path: string;
  /** Parameters of that path. */
  readonly params: Added;
  /** Whose keys, as the summary says: `a service account’s`. */
  readonly owner: string;
  /** Follows `Like <method> <path>` in the description. */
  readonly description: string;
  /** Codes of all of these routes, in addition to those of the credential. */
  readonly errors: readonly ErrorCode[];
  /** Codes of own keys that none of these routes returns, in addition to those of access tokens. */
  readonly without?: readonly ErrorCode[];
}

/** @returns the route with the caller, path, parameters and errors of the derivation, and all else of the own route */
export const derivedRoute =
  <Tag extends string, Auth extends RouteAuth, Added extends Type.TProperties>({
    path,
    owner,
    description,
    without = [],
    ...of
  }: Derivation<Tag, Auth, Added>) =>
  <const C extends Own>(id: string, own: C, errors: readonly ErrorCode[] = []): Derived<C, Tag, Auth, Added> => {
    const dropped: readonly ErrorCode[] = [...accessTokenErrors, ...without];
    const inherited = own.errors.filter((code) => !dropped.includes(code));
    const params = { ...of.params, ...own.params?.properties };
    return {
      ...own,
      id,
      path: own.path.replace('/auth/', path),
      tag: of.tag,
      summary: own.summary.replace(/an API key|the account’s API keys/, (text) =>
        text.replace(/an|the account’s/, owner),
      ),
      description: `Like \`${own.method} ${own.path.replace(':id', '{id}')}\`, ${description}`,
      auth: of.auth,
      // An empty object would declare errors of parameters.
      ...(Object.keys(params).length > 0 ? { params: Type.Object(params) } : {}),
      errors: [...(credentialErrors[of.auth] ?? []), ...inherited, ...of.errors, ...errors],
    } as unknown as Derived<C, Tag, Auth, Added>;
  };
