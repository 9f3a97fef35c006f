/**
 * Environment variables that begin with `KEYREEVE_` and are no settings. The service and the command line ignore them, so that
 * they start in the environment of a client. `docs/configuration.md` has this table.
 */

/** Names that the documentation, the console and the libraries give to clients. */
export const clientNames: Readonly<Record<string, string>> = {
  KEYREEVE_URL: 'URL of the service, for a backend with a client library.',
  KEYREEVE_SERVICE_KEY: 'API key with the scope `keyreeve:verify`, for a backend with a client library.',
  KEYREEVE_MANAGEMENT_KEY: 'API key with the scope `keyreeve:keys`, for a backend with a client library.',
  KEYREEVE_KEY: 'API key, in the line that the console shows with a new key.',
  KEYREEVE_WEBHOOK_SECRET: 'Secret of a [webhook endpoint](webhooks.md), for its receiver.',
  KEYREEVE_CANARY_CREDENTIAL: 'Credential of `keyreeve prove-revocation --url`, for a [check from outside](proof.md).',
  KEYREEVE_ORIGIN: 'Origin of the service, in the [file for HAProxy](forward-auth.md).',
};

/** Kubernetes and Docker set these for a service with the name "keyreeve". */
const serviceLink = /^KEYREEVE_(?:SERVICE_|PORT_\d+_|ENV_|NAME$)/;

export const isIgnored = (name: string): boolean => Object.hasOwn(clientNames, name) || serviceLink.test(name);
