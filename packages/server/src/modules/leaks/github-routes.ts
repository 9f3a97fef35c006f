/** The route for GitHub secret scanning. Without KEYREEVE_GITHUB_SCANNING=on it does not exist (404). */
import { reportGithubLeaks } from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import type { GithubReports } from './github-reports.ts';

export const githubLeakRoutes = (reports: GithubReports | undefined): readonly Route[] =>
  reports === undefined
    ? []
    : [
        route(reportGithubLeaks, async ({ body, header }) => {
          const keyId = header('Github-Public-Key-Identifier');
          const signature = header('Github-Public-Key-Signature');
          return { status: 200, body: await reports.report(body, { keyId, signature }) };
        }),
      ];
