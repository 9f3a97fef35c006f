/**
 * Files that hold a secret: those of settings whose names end in `_FILE`, and the master key beside an embedded database.
 * The server reads such a file only if no other user of the machine can read or change it.
 *
 * Kubernetes mounts a secret as a file of root with the group of the pod (`fsGroup`) and mode 0440. Docker Swarm mounts
 * it readable for all users of the container (0444), which an operator must accept explicitly.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

export interface SecretFileOptions {
  /** Whether other users may read the file. They may never write to it. */
  readonly mayBeWorldReadable: boolean;
  /** Whether a file of another user than this one and root is rejected, even if other users may read it. */
  readonly mustBeOwn?: boolean;
}

/** A part of `fs.Stats`. */
export interface FileAccess {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** The user and the groups of a process. */
export interface ProcessIdentity {
  readonly uid: number;
  readonly gid: number;
  /** Supplementary groups. */
  readonly groups: readonly number[];
}

const readableByGroup = 0o040;
const readableByOthers = 0o044;
const accessOfOthers = 0o077;

/**
 * @param subject the beginning of error messages
 * @returns the text without surrounding white space
 * @throws Error when the file cannot be read, or when others can read or change it
 */
export function readSecretFile(path: string, subject: string, options: SecretFileOptions): string {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch {
    throw new Error(`${subject} can't be read`);
  }
  try {
    // Checks the opened file: another file may get the same name meanwhile.
    const file = fstatSync(descriptor);
    // Docker creates a folder where the source of a mount is missing. A change of its mode would not help.
    if (file.isDirectory()) throw new Error(`${subject} is a folder`);
    const reason = rejectionReasonOf(path, file, processIdentity(), options);
    if (reason !== undefined) throw new Error(`${subject} ${reason}`);
    return readFileSync(descriptor, 'utf8').trim();
  } finally {
    closeSync(descriptor);
  }
}

/** @returns why a file with this owner and mode is rejected; undefined if it is accepted */
export function rejectionReasonOf(
  path: string,
  file: FileAccess,
  self: ProcessIdentity | undefined,
  { mayBeWorldReadable, mustBeOwn = !mayBeWorldReadable }: SecretFileOptions,
): string | undefined {
  // Windows has no such owners and modes.
  if (self === undefined) return undefined;
  // Root can read every file. If root runs the command, the owner is the service's user.
  const isOwn = file.uid === self.uid || self.uid === 0;
  if (!isOwn && file.uid !== 0 && mustBeOwn)
    return `belongs to another user (${file.uid}); it must belong to the user of the service (chown ${self.uid} ${path}) or to root`;
  const isSharedByRoot = file.uid === 0 && (isOtherGroupOf(self, file.gid) || isSystemdCredential(self, file));
  const allowed = mayBeWorldReadable ? readableByOthers : isSharedByRoot ? readableByGroup : 0;
  if ((file.mode & accessOfOthers & ~allowed) === 0) return undefined;
  if (mayBeWorldReadable) return `can be changed by others; it must have mode 0644 at most (chmod 644 ${path})`;
  if (isOwn && !isSharedByRoot) return `can be read by others; it must have mode 0600 (chmod 600 ${path})`;
  return `can be read by others; as a file of root it must have mode 0440 and a group of this process (Kubernetes: fsGroup and defaultMode: 0440), or set KEYREEVE_WORLD_READABLE_SECRETS=accept`;
}

/** Whether the process was given the group. Root's own group does not count: all files that root creates have it. */
const isOtherGroupOf = ({ uid, gid, groups }: ProcessIdentity, group: number): boolean =>
  (groups.includes(group) || group === gid) && !(uid === 0 && group === gid);

/**
 * systemd (`LoadCredential=`) gives the service access by an access control list, whose mask appears as the mode of the group:
 * the file has mode 0440 and root's group, whose members have root's files anyway.
 */
const isSystemdCredential = (self: ProcessIdentity, { gid }: FileAccess): boolean => self.uid !== 0 && gid === 0;

function processIdentity(): ProcessIdentity | undefined {
  const uid = process.geteuid?.();
  const gid = process.getegid?.();
  if (uid === undefined || gid === undefined) return undefined;
  return { uid, gid, groups: process.getgroups?.() ?? [] };
}
