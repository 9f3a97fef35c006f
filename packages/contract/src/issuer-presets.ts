/** What is known of frequent issuers: which of their claims are ids that are never registered again, and how tokens are used. */

/** JWS algorithms that an issuer can declare (RFC 7518 section 3.1, RFC 8037, RFC 9864): asymmetric ones only. */
export const issuerAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;
export type IssuerAlgorithm = (typeof issuerAlgorithms)[number];

/** `once`: a token is accepted once, by its claim `jti`. `until-exp`: until it expires. */
export const issuerReplays = ['once', 'until-exp'] as const;
export type IssuerReplay = (typeof issuerReplays)[number];

export interface IssuerPreset {
  /** Absent if each installation of the product is an issuer of its own. */
  readonly url?: string;
  readonly algorithms: readonly IssuerAlgorithm[];
  readonly replay: IssuerReplay;
  /** JSON pointers (RFC 6901). */
  readonly idClaims: readonly string[];
  readonly listClaims: readonly string[];
}

export const issuerPresets = {
  github: {
    url: 'https://token.actions.githubusercontent.com',
    algorithms: ['RS256'],
    replay: 'once',
    idClaims: ['/repository_id', '/repository_owner_id'],
    listClaims: [],
  },
  // GitLab.com, or an installation with another URL.
  gitlab: {
    url: 'https://gitlab.com',
    algorithms: ['RS256'],
    replay: 'until-exp',
    idClaims: ['/project_id', '/namespace_id'],
    listClaims: [],
  },
  // Each cluster is an issuer.
  kubernetes: {
    algorithms: ['RS256'],
    replay: 'until-exp',
    idClaims: ['/kubernetes.io/serviceaccount/uid'],
    listClaims: [],
  },
  google: {
    url: 'https://accounts.google.com',
    algorithms: ['RS256'],
    replay: 'until-exp',
    idClaims: ['/sub'],
    listClaims: [],
  },
  // Its tokens have these claims on demand: `buildkite-agent oidc request-token --claim pipeline_id`.
  buildkite: {
    url: 'https://agent.buildkite.com',
    algorithms: ['RS256'],
    replay: 'until-exp',
    idClaims: ['/pipeline_id', '/organization_id'],
    listClaims: [],
  },
} as const satisfies Record<string, IssuerPreset>;

export type IssuerPresetName = keyof typeof issuerPresets;
export const issuerPresetNames = Object.keys(issuerPresets) as IssuerPresetName[];

/** @returns the URL of the product's own service; empty without one */
export const presetUrl = (name: string): string =>
  (issuerPresets as Readonly<Record<string, IssuerPreset>>)[name]?.url ?? '';

/** For an issuer without a preset. */
export const issuerDefaults: IssuerPreset = {
  algorithms: ['RS256'],
  replay: 'until-exp',
  idClaims: ['/sub'],
  listClaims: [],
};

/** The preset of an issuer whose request names none: the one with its URL. */
export const presetOfUrl = (url: string): IssuerPresetName | undefined =>
  issuerPresetNames.find((name) => (issuerPresets[name] as IssuerPreset).url === url);
