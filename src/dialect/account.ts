/**
 * The name of the caller as clients read it.
 *
 * @example accountOf('ada') // 'ada@localhost'
 */
export const accountOf = (user = 'mindledger'): string => `${user}@localhost`
