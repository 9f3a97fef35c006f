/** The annotations and labels of the image and the chart: https://specs.opencontainers.org/image-spec/annotations/. */
import { repositoryUrl } from './package-repository.ts';
import { readPackageManifest } from './package.ts';
import type { Commit } from './release-time.ts';

/** @param more further ones, and others instead of those of every artefact */
export function annotationsOf(
  root: string,
  commit: Commit,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const { description, license, version } = readPackageManifest(root);
  const url = repositoryUrl();
  const all = {
    title: 'keyreeve',
    description: String(description),
    version,
    revision: commit.revision,
    created: timeOf(commit),
    licenses: String(license),
    ...(url !== undefined && { source: url }),
    ...more,
  };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [`org.opencontainers.image.${name}`, value]));
}

/** As in RFC 3339. */
export const timeOf = ({ seconds }: Commit): string => new Date(seconds * 1000).toISOString().replace('.000', '');
