/** The URL of the repository in the manifests of packages: a parameter of the build, because the project has none of its own. */

/** @returns undefined without the parameter @throws Error for a malformed URL */
export function repositoryUrl(url = process.env['KEYREEVE_REPOSITORY_URL']): string | undefined {
  if (url === undefined || /^https:\/\/[\w.-]+(?:\/[\w.-]+)+$/.test(url)) return url;
  throw new Error('KEYREEVE_REPOSITORY_URL: expected a URL such as https://forge.example.com/keyreeve/keyreeve');
}
