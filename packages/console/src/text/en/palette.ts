/** English texts of the command palette. */
export const palette = {
  label: 'Page or API key',
  labelOfAdministrators: 'Page, API key or account, by name, ID or email address',
  pages: 'Pages',
  results: 'Results',
  more: 'Show all',
  slash: 'The key / opens this search',
  count: (entries: number) => (entries === 1 ? '1 entry' : `${entries} entries`),
};
