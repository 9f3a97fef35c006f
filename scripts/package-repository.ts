/**
 * The URL of the repository and the address for reports of vulnerabilities: parameters of the build, because the project has none of its
 * own. A release needs both.
 */

/** @returns undefined without the parameter @throws Error for a malformed URL */
export function repositoryUrl(url = process.env['KEYREEVE_REPOSITORY_URL']): string | undefined {
  if (url === undefined || /^https:\/\/[\w.-]+(?:\/[\w.-]+)+$/.test(url)) return url;
  throw new Error('KEYREEVE_REPOSITORY_URL: expected a URL such as https://forge.example.com/keyreeve/keyreeve');
}

/** @returns an email address or a URL; undefined without the parameter @throws Error for a malformed one */
export function securityContact(contact = process.env['KEYREEVE_SECURITY_CONTACT']): string | undefined {
  if (contact === undefined || /^(?:[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https:\/\/[\w.-]+\/[\w./-]+)$/.test(contact))
    return contact;
  throw new Error('KEYREEVE_SECURITY_CONTACT: expected security@example.com, or the URL of a form');
}

/** What SECURITY.md says without the parameter. */
export const reportsWithout = 'through the private reporting form of the site that hosts this repository';

/** @returns the text of SECURITY.md with the address */
export function withSecurityContact(page: string, contact = securityContact()): string {
  if (contact === undefined) return page;
  return page.replace(reportsWithout, contact.includes('@') ? `to <${contact}>` : `with [the form](${contact})`);
}
