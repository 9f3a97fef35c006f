/**
 * Builds the Helm chart twice: as the archive that `helm install` accepts, and as an OCI layout for a registry
 * (https://helm.sh/docs/topics/registries/). `helm package` writes the times of the files, so that its archives differ.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { annotationsOf } from './oci-annotations.ts';
import { compress, mediaTypes, OciLayout } from './oci-layout.ts';
import { runArchiveCommand } from './package-archive.ts';
import { commitOf } from './release-time.ts';
import { entriesOf, tarOf, type TarEntry } from './tar.ts';

const chart = 'ops/helm/keyreeve';
const config = 'application/vnd.cncf.helm.config.v1+json';
const content = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';

/** @param folder a new folder @returns the paths of the archive and of the layout @throws Error if the folder exists */
export function buildChart(root: string, folder: string): readonly string[] {
  mkdirSync(folder);
  const metadata = parse(readFileSync(join(root, chart, 'Chart.yaml'), 'utf8')) as Readonly<Record<string, string>>;
  const { version = '', description = '' } = metadata;
  const commit = commitOf(root);
  const licence = { path: 'keyreeve/LICENSE', kind: 'file', content: readFileSync(join(root, 'LICENSE')) } as const;
  const files = entriesOf(join(root, chart), 'keyreeve').map((entry) => withoutLink(root, entry));
  const archive = compress(tarOf([...files, licence], commit.seconds));
  const layout = new OciLayout();
  const manifest = layout.addJson(mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: layout.addJson(config, metadata),
    layers: [layout.add(content, archive)],
    annotations: annotationsOf(root, commit, { description, licenses: 'Apache-2.0' }),
  });
  // Not the name that `helm package` writes, which is also that of the npm package.
  const path = join(folder, `keyreeve-chart-${version}`);
  writeFileSync(`${path}.tgz`, archive);
  const name = `localhost/charts/keyreeve:${version}`;
  writeFileSync(`${path}.oci.tar`, layout.archive(manifest, { name, seconds: commit.seconds }));
  return [`${path}.tgz`, `${path}.oci.tar`];
}

/** Helm reads no links in an archive. Those of the chart are to files beside it. */
const withoutLink = (root: string, { path, kind, ...entry }: TarEntry): TarEntry =>
  kind === 'link'
    ? { path, kind: 'file', content: readFileSync(join(root, chart, path.slice('keyreeve/'.length))) }
    : { path, kind, ...entry };

if (import.meta.main) runArchiveCommand((root, folder) => buildChart(root, folder).join('\n'));
