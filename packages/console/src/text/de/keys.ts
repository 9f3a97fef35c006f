/** German texts of the pages about keys. */
export const keys = {
  title: 'API keys',
};
