/** The route for GitHub secret scanning. Without KEYREEVE_GITHUB_SCANNING=on it does not exist (404). */
import { reportGithubLeaks } from '@keyreeve/contract';
import { route, type Call, type Route } from '../../http/route.ts';
import type { GithubReports } from './github-reports.ts';
import { parseSignature, type GithubSignature } from './github-signature.ts';

export const githubLeakRoutes = (reports: GithubReports | undefined): readonly Route[] =>
  reports === undefined
    ? []
    : [
        route(
          reportGithubLeaks,
          async ({ body, header }) => ({ status: 200, body: await reports.report(body, signatureOf(header)) }),
          (header) => void parseSignature(signatureOf(header)),
        ),
      ];

const signatureOf = (header: Call<typeof reportGithubLeaks>['header']): GithubSignature => ({
  keyId: header('Github-Public-Key-Identifier'),
  signature: header('Github-Public-Key-Signature'),
});
