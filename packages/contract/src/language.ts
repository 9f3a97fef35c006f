/** Languages of mail and of the pages that links in mail open. Responses of the API are in English. */

/** BCP 47 tags. The first is the default. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];
