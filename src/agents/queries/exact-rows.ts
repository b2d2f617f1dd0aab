import type { Json } from '../../../events/common.js'
import { exactJson } from '../../basics/exact-json.js'

/** The rows of a chunk, which is JSON arrays separated by commas. No number loses a digit: one that would is a text, as in SQL. */
export const exactRows = (chunk: string): Json[][] => exactJson(`[${chunk}]`) as Json[][]
