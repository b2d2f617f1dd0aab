import type { JsonObject } from '../../events/common.js'

/** The key under which a version's options name the version it is based on. */
export const baseVersionKey = 'base_version'

/** The options that the user gave, without what the service adds to them. */
export const optionsOf = ({ [baseVersionKey]: _, ...options }: JsonObject): JsonObject => options
