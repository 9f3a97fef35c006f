/** Renders the Helm chart with values. `helm-accepted.ts` checks what is rendered. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/app/configuration/config.ts';
import { root } from './shell-blocks.ts';

export const chart = join(root, 'ops/helm/keyreeve');
const missing = ['helm', 'kubernetes-validate'].filter((name) => spawnSync(name, ['--help']).error !== undefined);
/** Under CI the tests run, and fail without the programs. */
export const skip =
  process.env['CI'] !== 'true' && missing.length > 0 && `not tried: ${missing.join(' and ')} not installed`;

export type Values = Readonly<Record<string, unknown>>;
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: Record<string, unknown>;
}
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly hostPort?: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly readinessProbe?: { readonly timeoutSeconds: number };
}
export interface Volume {
  readonly name: string;
  readonly projected?: { readonly defaultMode: number; readonly sources: readonly object[] };
  readonly [source: string]: unknown;
}
export interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly affinity?: { readonly podAffinity?: object };
  readonly topologySpreadConstraints?: readonly { readonly topologyKey: string; readonly whenUnsatisfiable: string }[];
  readonly [name: string]: unknown;
}
/** The template of a pod in a workload or job. */
export interface Template {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: Pod;
}

/** Backups in S3-compatible storage. */
export const uploaded = {
  to: 's3://backups/keyreeve',
  recipients: ['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'],
  storageSecret: { name: 'storage' },
} as const;

export const required: Values = {
  publicUrl: 'https://auth.example.com',
  image: { repository: 'images.example.com/keyreeve' },
  masterKeySecret: { name: 'keyreeve' },
  trustedProxies: '10.0.0.0/8',
};
export const postgres: Values = {
  ...required,
  database: { kind: 'postgres', urlSecret: { name: 'keyreeve', key: 'url' } },
  replicas: 3,
};
export const everything: Values = {
  ...postgres,
  database: { kind: 'postgres', urlSecret: { name: 'keyreeve', key: 'url' }, ca: { secret: 'database-ca' } },
  commonLabels: { tier: 'auth' },
  image: { repository: 'images.example.com/keyreeve', digest: `sha256:${'a'.repeat(64)}` },
  imagePullSecrets: [{ name: 'registry' }],
  deletionJournal: { existingClaim: 'deletions' },
  backup: { existingClaim: 'backups', schedule: '30 2 * * *', keep: 7, podLabels: { team: 'identity' } },
  verifiers: 2,
  smtpUrlSecret: { name: 'mail' },
  bootstrap: { content: { generation: 1, serviceAccounts: [{ name: 'gateway' }] } },
  settings: { KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>', KEYREEVE_USAGE_DAYS: 90, KEYREEVE_SIGNUP: 'open' },
  ingress: { enabled: true, className: 'nginx', tlsSecretName: 'tls', annotations: { 'example.com/a': 'b' } },
  networkPolicy: {
    clients: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
    verificationClients: [{ namespaceSelector: { matchLabels: { name: 'gateway' } } }],
    monitoring: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
  },
  podLabels: { team: 'identity' },
  podAnnotations: { 'example.com/c': 'd' },
  nodeSelector: { 'kubernetes.io/arch': 'amd64' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  priorityClassName: 'high',
  serviceAccount: { annotations: { 'example.com/e': 'f' } },
  grafanaDashboard: { enabled: true },
  extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/extra/ca.pem' }],
  extraVolumes: [{ name: 'extra', configMap: { name: 'extra' } }],
  extraVolumeMounts: [{ name: 'extra', mountPath: '/extra' }],
};
export function render(
  values: Values,
  ...options: readonly string[]
): { status: number | null; stdout: string; stderr: string } {
  const args = ['template', 'release', chart, '--namespace', 'auth', '--values', '-', ...options];
  const { status, stdout, stderr } = spawnSync('helm', args, { encoding: 'utf8', input: JSON.stringify(values) });
  return { status, stdout, stderr };
}

/** As Kubernetes reads them: numbers with a leading zero are octal. */
export const parse = (yaml: string): Manifest[] =>
  parseAllDocuments(yaml, { version: '1.1' }).flatMap((document) => {
    assert.deepEqual(document.errors, [], yaml);
    const manifest = document.toJS() as Manifest | null;
    return manifest ? [manifest] : [];
  });

export function manifestsOf(values: Values, ...options: readonly string[]): Manifest[] {
  const { status, stdout, stderr } = render(values, ...options);
  assert.equal(status, 0, stderr);
  return parse(stdout);
}

export function notesOf(values: Values): string {
  const args = ['install', 'release', chart, '--dry-run=client', '--values', '-'];
  const { status, stdout, stderr } = spawnSync('helm', args, { encoding: 'utf8', input: JSON.stringify(values) });
  assert.equal(status, 0, stderr);
  return stdout.slice(stdout.indexOf('\nNOTES:'));
}

export const kinds = (manifests: readonly Manifest[]): string[] => manifests.map(({ kind }) => kind).toSorted();

/** All pods: of workloads, jobs and the test. */
export const podsOf = (manifests: readonly Manifest[]): Pod[] =>
  manifests.flatMap(({ kind, spec }): readonly Pod[] => {
    if (kind === 'Pod') return [spec as unknown as Pod];
    if (kind === 'CronJob')
      return [(spec as { jobTemplate: { spec: { template: Template } } }).jobTemplate.spec.template.spec];
    return kind === 'StatefulSet' || kind === 'Deployment' ? [(spec as { template: Template }).template.spec] : [];
  });

export const podOf = (manifests: readonly Manifest[]): Pod => {
  const workload = manifests.find(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment');
  return (workload!.spec as { template: Template }).template.spec;
};

/** Asserts that the service accepts the settings of the pods, which contain no secret. */
export function assertConfigured(values: Values): void {
  const { env = [] } = podOf(manifestsOf(values)).containers[0]!;
  const settings = Object.fromEntries(env.map(({ name: setting, value }) => [setting, value]));
  // The files exist in the pod only.
  const secrets = Object.keys(settings).filter((setting) => setting.endsWith('_FILE'));
  const inPod: Record<string, string> = {
    KEYREEVE_MASTER_KEY: 'A'.repeat(43),
    KEYREEVE_DATABASE_URL: 'postgres://keyreeve:password@db:5432/keyreeve',
    KEYREEVE_SMTP_URL: 'smtps://user:password@mail:465',
  };
  for (const setting of secrets) {
    const direct = setting.slice(0, -'_FILE'.length);
    delete settings[setting];
    settings[direct] = inPod[direct]!;
  }
  const config = readConfig(settings);
  assert.deepEqual([config.host, config.port, config.adminHost, config.adminPort], ['0.0.0.0', 8787, '0.0.0.0', 8788]);
  assert.ok(podOf(manifestsOf(values)).terminationGracePeriodSeconds > config.drainSeconds);
}
