/** What administrators read of the configuration: the settings in force, and checks of the installation. */
import { adminReadSettings, type SettingsInForce } from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import {
  configurationChecks,
  installationChecks,
  runtimeCheck,
  type CheckedInstallation,
} from '../installation/checks.ts';
import { redacted, type DescribedSetting } from './config.ts';
import { version } from '../version.ts';

export class SettingsView {
  readonly #installation: CheckedInstallation;
  readonly #settings: SettingsInForce['settings'];

  /** @param settings as of the start: the environment and files may have changed since, but those values are in force */
  constructor(installation: CheckedInstallation, settings: readonly DescribedSetting[]) {
    this.#installation = installation;
    this.#settings = settings.map(({ name, value, source }) => ({
      name,
      value: value === redacted ? null : value,
      source,
    }));
  }

  /** @throws DomainError `unavailable` */
  async read(): Promise<SettingsInForce> {
    const checks = [
      runtimeCheck(),
      ...(await installationChecks(this.#installation)),
      ...(await configurationChecks(this.#installation.config)),
    ];
    return { version, settings: this.#settings, checks };
  }
}

export const settingsRoutes = (view: SettingsView): readonly Route[] => [
  route(adminReadSettings, async () => ({ status: 200, body: await view.read() })),
];
