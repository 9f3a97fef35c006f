/** Creates what observes the service: webhooks, the overview and what it counts, and the retention of the audit log. */
import type { Directory } from '../../modules/administration/directory.ts';
import { AuditRetention } from '../../modules/audit-retention/audit-retention.ts';
import type { CutResult } from '../../modules/audit-retention/audit-cutter.ts';
import { blockDetails } from '../../modules/audit-retention/block-details.ts';
import type { CanaryInstance } from '../../modules/canary-keys/routes.ts';
import { Attention } from '../../modules/overview/attention.ts';
import { Estimates } from '../../modules/overview/estimates.ts';
import { Minutes } from '../../modules/overview/minutes.ts';
import { Overview } from '../../modules/overview/overview.ts';
import type { Verifier } from '../../modules/verification/verify.ts';
import { Webhooks } from '../../modules/webhooks/webhooks.ts';
import { settingsRecord } from '../configuration/settings-record.ts';
import { findingsOf } from '../installation/checks.ts';
import { version } from '../version.ts';
import type { WiringCore } from './core.ts';
import type { SignInServices } from './sign-in.ts';

/** The parts that it observes. */
interface Observed extends SignInServices {
  readonly verifier: Verifier;
  readonly directory: Directory;
}

export function wireObservation(wiring: WiringCore, observed: Observed) {
  const { config, core, journal, keys, log, outbox } = wiring;
  const { db, clock } = core;
  const webhooks = new Webhooks({
    ...core,
    outbox,
    seal: keys.webhookSeal,
    targets: config.webhookTargets,
    onFailure: (error) => log?.warn({ event: 'webhooks_not_followed', err: error }),
    onLogFailure: (error) => log?.warn({ event: 'webhook_deliveries_not_logged', err: error }),
  });
  const minutes = newMinutes(wiring, observed);
  const { signingKeys, hasher, directory } = observed;
  const findings = () => findingsOf({ config, db });
  const canaryInstance: CanaryInstance = { id: minutes.id, version, database: db.dialect, now: () => clock.now() };
  return {
    webhooks,
    /** Only a service starts it. */
    minutes,
    canaryInstance,
    estimates: new Estimates(db),
    overview: new Overview({
      ...core,
      hasher,
      outbox,
      attention: new Attention({ ...core, outbox, endpoints: webhooks.endpoints, signingKeys, findings }),
      newestEvents: async (max) => (await directory.auditLog.page({ limit: String(max) })).events,
    }),
    auditRetention: new AuditRetention({
      ...core,
      journal,
      keys,
      keptDays: config.auditDays,
      onRun: ({ removed, blocked }: CutResult) => {
        if (blocked) log?.warn({ event: 'audit_cut_blocked', reason: blocked, removed, detail: blockDetails[blocked] });
        else log?.info({ event: 'audit_cut', removed });
      },
    }),
  };
}

function newMinutes(
  { core, environment, masterKeyId, keys }: WiringCore,
  { verifier, hasher, signIns }: Observed,
): Minutes {
  return new Minutes({
    ...core,
    version,
    // Only a service records its process.
    masterKeyId: masterKeyId ?? '',
    settings: JSON.stringify(settingsRecord(environment, keys.settingsRecord)),
    rootKeyVersion: masterKeyId === undefined ? undefined : keys.version,
    sources: {
      results: verifier.counts,
      verificationMs: verifier.durations,
      signIns: signIns.counts,
      hashes: () => ({ hashed: hasher.stats.hashed, refused: hasher.stats.refused }),
    },
  });
}
