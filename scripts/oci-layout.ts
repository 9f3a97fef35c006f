/**
 * The layout of images and other artefacts of the Open Container Initiative: https://github.com/opencontainers/image-spec. A layout is an
 * archive that tools copy to a registry as it is (`skopeo copy`), so that the digests in a release are those in the registry.
 */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { tarOf, type TarEntry } from './tar.ts';

export interface Descriptor {
  readonly mediaType: string;
  /** `sha256:` and hexadecimal. */
  readonly digest: string;
  readonly size: number;
  readonly platform?: Platform;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** In the words of the specification: `amd64`, not `x64`. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
}

export const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;

export class OciLayout {
  readonly #blobs = new Map<string, Buffer>();

  add(mediaType: string, content: Buffer): Descriptor {
    const digest = `sha256:${sha256(content)}`;
    this.#blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  }

  addJson(mediaType: string, content: object): Descriptor {
    return this.add(mediaType, Buffer.from(JSON.stringify(content)));
  }

  /**
   * @param root the manifest or index that the layout is for
   * @param name its name and tag, such as `localhost/keyreeve:1.0.0`
   * @param others further files @param seconds since 1970, the time of each file
   */
  archive(
    root: Descriptor,
    { name, others = [], seconds }: { name: string; others?: readonly TarEntry[]; seconds: number },
  ): Buffer {
    // skopeo and buildah read the first annotation, containerd and Docker the second.
    const annotations = {
      'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
      'io.containerd.image.name': name,
    };
    const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [{ ...root, annotations }] };
    const file = (path: string, content: Buffer | string): TarEntry => ({
      path,
      kind: 'file',
      content: Buffer.from(content),
    });
    return tarOf(
      [
        file('oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' })),
        file('index.json', JSON.stringify(index)),
        ...['blobs', 'blobs/sha256'].map((path): TarEntry => ({ path, kind: 'folder' })),
        ...[...this.#blobs].map(([digest, content]) => file(blobPath(digest), content)),
        ...others,
      ],
      seconds,
    );
  }
}

export const blobPath = (digest: string): string => `blobs/${digest.replace(':', '/')}`;

export const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** @returns a gzip file without a time and a name */
export const compress = (content: Buffer): Buffer => gzipSync(content, { level: 9 });
