/** German texts of the pages about security. */
export const security = {
  title: 'Security',
  mustEnrol: 'Your account requires a second factor. Set one up to continue.',
};
