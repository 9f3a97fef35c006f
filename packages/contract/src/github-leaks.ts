/**
 * Reports of GitHub secret scanning: leaked secrets that GitHub found in public repositories
 * (https://docs.github.com/en/code-security/secret-scanning/secret-scanning-partner-program).
 */
import Type, { type Static } from 'typebox';
import { keyExample, Text } from './schemas.ts';
import { route } from './route.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';

/** Other members are ignored: GitHub adds members and values of `source`. */
export const GithubMatch = Type.Object(
  {
    token: Type.String({ description: 'The text that GitHub found', examples: [keyExample] }),
    type: Text('keyreeve_api_key', 'The name of the pattern'),
    // Of any type: a report with an unusual place still ends its secrets.
    url: Type.Optional(
      Type.Unknown({
        description: 'Where GitHub found it: a URL, or empty',
        examples: ['https://github.com/octocat/hello/blob/main/.env'],
      }),
    ),
    source: Type.Optional(Type.Unknown({ description: 'Ignored', examples: ['content'] })),
  },
  { $id: 'GithubSecretMatch', additionalProperties: true },
);
export type GithubMatch = Static<typeof GithubMatch>;

export const GithubMatches = Type.Array(GithubMatch, { $id: 'GithubSecretMatches' });

export const GithubLabel = Named('GithubSecretLabel', {
  token_hash: Text(
    '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b',
    'SHA-256 of `token` in UTF-8, in hexadecimal',
  ),
  token_type: Text('keyreeve_api_key', 'The `type` of the match'),
  label: Type.Enum(['true_positive', 'false_positive'], {
    description: '`true_positive` if the prefix, length and checksum are those of a key of this installation',
  }),
});
export type GithubLabel = Static<typeof GithubLabel>;

export const GithubLabels = Type.Array(GithubLabel, { $id: 'GithubSecretLabels' });

export const reportGithubLeaks = route('reportGithubLeaks', 'POST /auth/leaks/github', {
  tag: 'Leaks',
  summary: 'Report secrets that GitHub found',
  description: `For GitHub secret scanning, with \`KEYREEVE_GITHUB_SCANNING=on\`. Ends each secret like \`POST /auth/leaks\`. The signature covers the bytes of the body. At most ${limits.githubMatchesMax} matches; the labels have the same order.`,
  auth: 'none',
  headers: Type.Object({
    'Github-Public-Key-Identifier': Text(
      'f9525bf080f75b3506ca1ead061add62b8633a346606dc5fe544e29231c6ee0d',
      'Which key of GitHub made the signature',
    ),
    'Github-Public-Key-Signature': Text(
      'MEUCIFLZzeK++IhS+y276SRk2Pe5LfDrfvTXu6iwKKcFGCrvAiEAhHN2kDOhy2I6eGkOFmxNkOJ+L2y8oQ9A2T9GGJo6WJY=',
      'ECDSA P-256 with SHA-256 over the body, DER in base64',
    ),
  }),
  body: { type: 'raw', schema: GithubMatches, bytesMax: limits.githubReportBytesMax },
  success: { status: 200, description: 'The secrets are ended', schema: GithubLabels },
  errors: ['invalid_signature', 'invalid_request', 'malformed_json', 'not_found', 'unavailable'],
});
