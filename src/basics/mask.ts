/** The text that replaces a secret. A client that sends it back in the same place leaves the secret unchanged. */
export const mask = '******'
