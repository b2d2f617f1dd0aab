import type { JsonObject } from '../../events/common.js'

/** Under this key a version's options say which version it goes on from. */
export const baseVersionKey = 'base_version'

/** The options that somebody gave, without what we note among them. */
export const optionsOf = ({ [baseVersionKey]: _, ...options }: JsonObject): JsonObject => options
