/** The listener for clients: listens, wires the modules, and then serves. */
import { describeConfig, processEnvironment, type Config } from '../configuration/config.ts';
import { lookOf } from '../configuration/look-config.ts';
import { announcePhase } from '../../foundation/tracing.ts';
import { applyAtStart } from '../installation/apply-at-start.ts';
import { announce } from '../processes/announce.ts';
import { pingDatabase } from '../../foundation/database/installation.ts';
import { loadLazyModules } from '../../foundation/lazy-modules.ts';
import { App } from '../app.ts';
import { BasePath } from '../../http/base-path.ts';
import type { Health } from '../processes/health.ts';
import type { LinkPageOptions } from '../../modules/link-pages/link-pages.ts';
import { styleOf } from '../../modules/look/accent.ts';
import type { Look } from '../../modules/look/look.ts';
import { RequestCounts } from '../../http/request-counts.ts';
import type { RequestLog } from '../../http/request-log.ts';
import { listen } from '../../http/server.ts';
import { isRootKeyChanged, RootKeyChangedError } from '../../foundation/database/root-key-changed.ts';
import type { OpenedInstallation } from '../installation/installation.ts';
import { consoleFiles } from '../../modules/console/assets.ts';
import { guideFiles } from '../../modules/documentation/guides.ts';
import { ConsoleHost } from '../../modules/console/paths.ts';
import { portalFiles } from '../../modules/portal/files.ts';
import { LinkedIdentities } from '../../modules/single-sign-on/linked-identities.ts';
import { SettingsView } from '../configuration/settings-view.ts';
import type { ServiceOptions } from '../processes/service-options.ts';
import { routesOf } from '../routes.ts';
import { createAppServer } from './app-server.ts';
import { wire, type Services } from '../wiring/wire.ts';

const aheadHint =
  'the database is older than its deletion journal, so deleted credentials may work again; run `keyreeve journal replay`';

/** The issuer contains the port, which the system may select, so the server listens before the modules are wired. */
export async function startPublic(installation: OpenedInstallation, options: ServiceOptions, requestLog: RequestLog) {
  const { config, clock, log } = options;
  const { db, rootKeys } = installation;
  await announcePhase('start');
  const { server, http, serve } = createAppServer(config, log, requestLog);
  const { port, url } = await listen(server, config.host, config.port);
  try {
    const publicUrl = config.publicUrl ?? `http://localhost:${port}`;
    const { masterKeyId } = rootKeys;
    const services = wire({ ...options, installation, issuer: publicUrl, masterKeyId, requestLog });
    await prepare(services, installation, options);
    const health: Health = {
      isStopping: false,
      isClosed: false,
      check: () => pingDatabase(db),
      canWrite: () => db.writes.isHealthy,
    };
    const requestCounts = new RequestCounts();
    const appParts = appPartsOf(services, options, installation, publicUrl);
    if (options.loadsAll === true) await loadAll(appParts);
    const isVerifying = config.isPublicPortVerifying;
    const app = { ...services, ...appParts, log, health, requestLog, isVerifying };
    serve(new App({ ...app, ...http, requestCounts, routes: routesOf(app) }));
    services.outbox.start();
    services.webhooks.publisher.start();
    const keyChange = Promise.withResolvers<RootKeyChangedError>();
    services.minutes.start((error) => {
      log.warn({ event: 'overview_not_written', err: error });
      if (isRootKeyChanged(error)) keyChange.resolve(new RootKeyChangedError());
    });
    const sources = { ...services, config, db, clock, health, requestCounts };
    return { server, health, sources, services, publicUrl, url, rootKeyChanged: keyChange.promise };
  } catch (error) {
    // An open server would keep the process running.
    server.close();
    server.closeAllConnections();
    throw error;
  }
}

/** What the modules need before the first request. */
async function prepare(
  services: Services,
  installation: OpenedInstallation,
  { config, log }: Pick<ServiceOptions, 'config' | 'log'>,
): Promise<void> {
  // Before the first write: a rotation of the root key requires that no process runs.
  await announce(services, installation, log);
  await services.signingKeys.ensure();
  // Before the verifier reads whether there are keys with given hashes: another instance may apply the file, and this one waits.
  await applyAtStart(services.apply, config, log);
  await services.verifier.prepare();
  await services.journal?.start({
    onFailure: (error) => log.error({ event: 'deletion_journal_failed', err: error }),
    onDamage: ({ message }) => log.error({ event: 'deletion_journal_damaged', detail: message }),
    onLost: (lost) => log.warn({ event: 'deletion_journal_ahead', ...lost, detail: aheadHint }),
  });
}

/** An upgrade can remove or replace the files of the running program. */
async function loadAll({ consoleFiles: files, portalFiles: portal, guideFiles: guides }: AppParts): Promise<void> {
  await Promise.all([loadLazyModules(), files.get(), portal.get(), guides?.get()]);
}

type AppParts = ReturnType<typeof appPartsOf>;

/** What the app needs beside the modules: the settings of HTTP, and the pages. */
function appPartsOf(services: Services, options: ServiceOptions, { db }: OpenedInstallation, publicUrl: string) {
  const { config, clock, log, requestBounds, environment = processEnvironment() } = options;
  const { consoleUrl, isBasicForwarded, trustedProxies, traceRatio } = config;
  const basePath = new BasePath(publicUrl);
  const folder = options.consoleFolder;
  const look = lookOf(config, publicUrl);
  const style = look.accent && styleOf(look.accent);
  return {
    publicUrl,
    basePath,
    trustedProxies,
    isBasicForwarded,
    traceRatio,
    requestBounds,
    linkedIdentities: new LinkedIdentities(db),
    look,
    linkPages: linkPagesOf(config, look, publicUrl, basePath),
    consoleFiles: consoleFiles({ log, folder, style, ...(consoleUrl === undefined ? { basePath } : {}) }),
    portalFiles: portalFiles({ log, basePath, style, consoleFolder: folder }),
    guideFiles: config.hasDocs ? guideFiles({ log, style, publicUrl }) : undefined,
    consoleHost: new ConsoleHost({ isOn: config.hasConsole, consoleUrl, publicUrl }),
    settingsView: new SettingsView({ ...services, config, db, clock }, describeConfig(environment)),
  };
}

const linkPagesOf = (config: Config, look: Look, publicUrl: string, basePath: BasePath): LinkPageOptions => ({
  look,
  signInUrl: config.signInUrl ?? (config.hasConsole ? signInOf(config, basePath) : undefined),
  defaultLanguage: config.language,
  passwordLengthMin: config.passwordLengthMin,
  basePath,
  changePasswordUrl: config.hasConsole
    ? `${config.consoleUrl ?? ''}/console/account`
    : `${config.linksUrl ?? '/account'}/reset-password`,
});

/** Of the console. */
const signInOf = ({ consoleUrl }: Config, basePath: BasePath): string =>
  consoleUrl === undefined ? basePath.with('/console/sign-in') : `${consoleUrl}/console/sign-in`;
