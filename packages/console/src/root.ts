/**
 * The path of the console in this browser, such as `/console`, or of the key page in the frame, `/portal`. A proxy may make the service
 * available below a path, and the files of a page are in a folder below the page's own path.
 */
export const root = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');

/** What precedes the paths of the service: empty, or such as `/id`. */
export const basePath = root.slice(0, root.lastIndexOf('/'));

/** The documentation, which the service has. */
export const docsUrl = `${basePath}/docs`;
