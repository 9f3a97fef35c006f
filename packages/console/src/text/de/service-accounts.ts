/** German texts of the pages about service accounts. */
export const serviceAccounts = {
  title: 'Service accounts',
};
