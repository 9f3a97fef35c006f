/** Creates the reports of GitHub secret scanning from the configuration. Their keys are fetched like webhooks are sent. */
import { limits } from '@keyreeve/contract';
import type { Log } from '../../foundation/log.ts';
import { FetchedKeys, fixedKeys, githubKeysUrl } from '../../modules/leaks/github-keys.ts';
import { GithubReports } from '../../modules/leaks/github-reports.ts';
import type { Leaks } from '../../modules/leaks/leaks.ts';
import { AddressGuard } from '../../foundation/outgoing/address-guard.ts';
import { get } from '../../foundation/outgoing/guarded-request.ts';
import type { Config } from '../configuration/config.ts';

/**
 * @param keysUrl for tests. The address guard applies to every URL
 * @returns undefined if GitHub secret scanning is off
 */
export function newGithubReports(
  config: Config,
  leaks: Leaks,
  log: Log | undefined,
  keysUrl = githubKeysUrl,
): GithubReports | undefined {
  if (!config.hasGithubScanning) return undefined;
  if (config.githubKeys) return new GithubReports({ leaks, keys: fixedKeys(config.githubKeys) });
  const guard = new AddressGuard(config.webhookTargets);
  const bounds = { msMax: limits.githubKeysMsMax, bytesMax: limits.githubKeysBytesMax };
  const keys = new FetchedKeys({
    fetch: () => get(guard, new URL(keysUrl), bounds),
    onFailure: (error) => log?.warn({ event: 'github_keys_not_fetched', err: error }),
  });
  return new GithubReports({ leaks, keys });
}
