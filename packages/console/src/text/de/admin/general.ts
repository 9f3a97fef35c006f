/** German texts that several pages of administrators use. */
export const general = {
  accounts: 'Konten',
};
