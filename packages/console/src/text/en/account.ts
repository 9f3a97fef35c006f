/** English texts of the pages about account. */
export const account = {
  title: 'Account',
};
