/**
 * What clients read as the name of who asks.
 *
 * @example accountOf('ada') // 'ada@localhost'
 */
export const accountOf = (user = 'mindledger'): string => `${user}@localhost`
